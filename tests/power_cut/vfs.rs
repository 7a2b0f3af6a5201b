//! A SQLite VFS that remembers what was synced.
//!
//! It hands every call to the operating system's own VFS and tells a [`Disk`] of each write,
//! truncation, sync and deletion first. When the disk says that the power is gone, the call fails
//! with an I/O error and nothing reaches the file. Syncs are told, not made: the test needs no
//! real one, and hundreds of cuts take seconds.
//!
//! Shared memory is the wrapped VFS's own, so one writer and many readers in one process work as
//! in production. Memory-mapped reads are not offered (version 2 of the methods).
//!
//! This is the one file of the repository with `unsafe` in it: SQLite takes a VFS as a table of C
//! functions. What each block relies on: SQLite calls these functions as its documentation says,
//! with the pointers it was given, and a [`PowerCut`] outlives the connections opened through it
//! ([`PowerCut::drop`] checks that).

#![expect(unsafe_code, reason = "SQLite takes a VFS only as a table of C functions")]

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::ffi::{
    SQLITE_CANTOPEN, SQLITE_IOERR_DELETE, SQLITE_IOERR_FSYNC, SQLITE_IOERR_TRUNCATE,
    SQLITE_IOERR_WRITE, SQLITE_OK, SQLITE_OPEN_MAIN_JOURNAL, SQLITE_OPEN_MEMORY, SQLITE_OPEN_WAL,
    sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find,
    sqlite3_vfs_register, sqlite3_vfs_unregister,
};

use crate::disk::{Change, Dark, Disk};

/// A registered VFS and the disk behind it.
pub(crate) struct PowerCut {
    disk: Arc<Disk>,
    name: CString,
    /// Owned; SQLite holds the same pointers until they are unregistered.
    vfs: *mut sqlite3_vfs,
    behind: *mut Behind,
}

/// What `pAppData` points at.
struct Behind {
    real: *mut sqlite3_vfs,
    disk: Arc<Disk>,
    open_files: AtomicUsize,
}

/// A file as SQLite sees it; the wrapped VFS's own file lies behind it in the same allocation.
#[repr(C)]
struct Shim {
    base: sqlite3_file,
    behind: *const Behind,
    /// `None` for a temporary file without a name, whose content nobody misses.
    path: Option<PathBuf>,
}

impl PowerCut {
    /// Registers a VFS of its own name over a new disk.
    pub(crate) fn register(seed: u64) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("power-cut-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let name = CString::new(name).expect("no NUL in it");
        let disk = Arc::new(Disk::new(seed));
        // SAFETY: a null name asks for the default VFS, which is always there on Unix; the pointer
        // stays valid for the life of the process.
        let real = unsafe { sqlite3_vfs_find(ptr::null()) };
        assert!(!real.is_null(), "SQLite has a default VFS");
        let open_files = AtomicUsize::new(0);
        let behind = Box::into_raw(Box::new(Behind { real, disk: Arc::clone(&disk), open_files }));
        // SAFETY: `real` was checked; reading a plain C struct by value is a copy. The pointers
        // that the copy holds are either replaced here or are calls that ignore the VFS's own
        // state (the system-call table is cut off by the version).
        let vfs = unsafe {
            Box::into_raw(Box::new(sqlite3_vfs {
                iVersion: 2,
                szOsFile: (*real).szOsFile + size_of::<Shim>() as c_int,
                pNext: ptr::null_mut(),
                zName: name.as_ptr(),
                pAppData: behind.cast(),
                xOpen: Some(open),
                xDelete: Some(delete),
                xSetSystemCall: None,
                xGetSystemCall: None,
                xNextSystemCall: None,
                ..*real
            }))
        };
        // SAFETY: the struct and the name live until `drop`, which unregisters them first.
        let code = unsafe { sqlite3_vfs_register(vfs, 0) };
        assert_eq!(code, SQLITE_OK);
        Self { disk, name, vfs, behind }
    }

    /// The name to open databases with.
    pub(crate) fn name(&self) -> &str {
        self.name.to_str().expect("the name is ASCII")
    }

    /// The disk.
    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// How many files are open through it.
    pub(crate) fn open_files(&self) -> usize {
        // SAFETY: `behind` is ours until `drop`.
        unsafe { (*self.behind).open_files.load(Ordering::SeqCst) }
    }
}

impl Drop for PowerCut {
    fn drop(&mut self) {
        // SAFETY: registered in `register` and not unregistered since.
        unsafe { sqlite3_vfs_unregister(self.vfs) };
        if self.open_files() > 0 {
            // Whoever holds a file still points at these: let them live for ever.
            assert!(std::thread::panicking(), "a file is open after its test");
            return;
        }
        // SAFETY: both came from `Box::into_raw`, and nothing points at them any more.
        unsafe {
            drop(Box::from_raw(self.vfs));
            drop(Box::from_raw(self.behind));
        }
    }
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// The wrapped VFS's file.
///
/// # Safety
///
/// `file` is a file that [`open`] was given: a `Shim` with the real file behind it.
unsafe fn real(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: `szOsFile` made SQLite allocate room for both, one behind the other.
    unsafe { file.cast::<Shim>().add(1).cast() }
}

/// Calls a method of the wrapped VFS's file.
macro_rules! forward {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        // SAFETY: SQLite gave the file, which is open; the wrapped VFS filled its method table.
        unsafe {
            let real = real($file);
            match (*(*real).pMethods).$method {
                Some(method) => method(real $(, $argument)*),
                None => unreachable!("the Unix VFS has every method of version 2"),
            }
        }
    }};
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: `pAppData` was set in `register`; `file` has `szOsFile` bytes; `name` is a C string
    // or null and, being a file name given to `xOpen`, lives as long as the file.
    unsafe {
        (*file).pMethods = ptr::null();
        let behind = (*vfs).pAppData as *const Behind;
        let path = path_of(name).filter(|_| flags & SQLITE_OPEN_MEMORY == 0);
        if let Some(path) = &path {
            let content = std::fs::read(path).ok();
            let journal = flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL) != 0;
            if (*behind).disk.opened(path, content, journal).is_err() {
                return SQLITE_CANTOPEN;
            }
        }
        let inner = real(file);
        (*inner).pMethods = ptr::null();
        let Some(method) = (*(*behind).real).xOpen else { return SQLITE_CANTOPEN };
        let code = method((*behind).real, name, inner, flags, out_flags);
        if code == SQLITE_OK {
            let base = sqlite3_file { pMethods: &raw const METHODS };
            ptr::write(file.cast::<Shim>(), Shim { base, behind, path });
            (*behind).open_files.fetch_add(1, Ordering::SeqCst);
        }
        code
    }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, now: c_int) -> c_int {
    // SAFETY: as in `open`.
    unsafe {
        let behind = (*vfs).pAppData as *const Behind;
        if let Some(path) = path_of(name)
            && (*behind).disk.deleted(&path, now != 0).is_err()
        {
            return SQLITE_IOERR_DELETE;
        }
        match (*(*behind).real).xDelete {
            Some(method) => method((*behind).real, name, now),
            None => SQLITE_IOERR_DELETE,
        }
    }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let code = forward!(file, xClose);
    // SAFETY: `open` wrote the shim; SQLite does not use the file after this call.
    unsafe {
        let behind = (*file.cast::<Shim>()).behind;
        ptr::drop_in_place(file.cast::<Shim>());
        (*file).pMethods = ptr::null();
        (*behind).open_files.fetch_sub(1, Ordering::SeqCst);
    }
    code
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    from: *const c_void,
    length: c_int,
    offset: sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite gives `length` readable bytes.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), length as usize) };
    let change = || Change::Write { at: offset as usize, bytes: bytes.to_vec() };
    // SAFETY: SQLite gives a file that `open` has filled.
    match unsafe { tell(file, |disk, path| disk.changed(path, change())) } {
        Ok(()) => forward!(file, xWrite, from, length, offset),
        Err(Dark) => SQLITE_IOERR_WRITE,
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    let change = Change::Truncate { length: size as usize };
    // SAFETY: SQLite gives a file that `open` has filled.
    match unsafe { tell(file, |disk, path| disk.changed(path, change)) } {
        Ok(()) => forward!(file, xTruncate, size),
        Err(Dark) => SQLITE_IOERR_TRUNCATE,
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: SQLite gives a file that `open` has filled.
    match unsafe { tell(file, Disk::synced) } {
        Ok(()) => SQLITE_OK,
        Err(Dark) => SQLITE_IOERR_FSYNC,
    }
}

/// Tells the disk about a file that has a name.
///
/// # Safety
///
/// `file` was filled by [`open`].
unsafe fn tell(
    file: *mut sqlite3_file,
    what: impl FnOnce(&Disk, &Path) -> Result<(), Dark>,
) -> Result<(), Dark> {
    // SAFETY: the caller's promise.
    let shim = unsafe { &*file.cast::<Shim>() };
    match &shim.path {
        // SAFETY: the VFS outlives its files.
        Some(path) => what(unsafe { &(*shim.behind).disk }, path),
        None => Ok(()),
    }
}

/// # Safety
///
/// `name` is null or a C string.
unsafe fn path_of(name: *const c_char) -> Option<PathBuf> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes();
    Some(PathBuf::from(OsStr::from_bytes(bytes)))
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    into: *mut c_void,
    length: c_int,
    offset: sqlite3_int64,
) -> c_int {
    forward!(file, xRead, into, length, offset)
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    forward!(file, xFileSize, size)
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    forward!(file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    forward!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, out: *mut c_int) -> c_int {
    forward!(file, xCheckReservedLock, out)
}

unsafe extern "C" fn file_control(
    file: *mut sqlite3_file,
    operation: c_int,
    argument: *mut c_void,
) -> c_int {
    forward!(file, xFileControl, operation, argument)
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    forward!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    forward!(file, xDeviceCharacteristics)
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    forward!(file, xShmMap, page, size, extend, out)
}

unsafe extern "C" fn shm_lock(
    file: *mut sqlite3_file,
    offset: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    forward!(file, xShmLock, offset, count, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    forward!(file, xShmBarrier);
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, delete: c_int) -> c_int {
    forward!(file, xShmUnmap, delete)
}
