//! What a disk holds when the power goes: a model, without SQLite.
//!
//! Each file has the content that is safe, and the changes since its last sync in order. At the
//! cut each of those changes has happened wholly, in part, or not at all, whatever became of its
//! neighbours: a kernel writes pages back in the order it likes. What the process itself reads is
//! not here: reads go to the real file, which plays the page cache.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A torn write ends at a multiple of this, the smallest unit that disks write as one.
const SECTOR: usize = 512;

/// One change that no sync has made safe yet.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Bytes written at an offset.
    Write { at: usize, bytes: Vec<u8> },
    /// A new length.
    Truncate { length: usize },
}

/// One file of the disk.
#[derive(Clone, Debug, Default)]
struct File {
    safe: Vec<u8>,
    unsafe_changes: Vec<Change>,
    /// Whether the directory entry is safe.
    entry_safe: bool,
    /// A new journal: its first sync comes with one of the directory, as in SQLite's Unix VFS.
    syncs_directory: bool,
    /// Deleted, and the directory was not synced since.
    deleted: bool,
}

#[derive(Debug)]
struct State {
    files: BTreeMap<PathBuf, File>,
    chance: StdRng,
    /// Changes and syncs until the cut; `None`: no cut is planned.
    steps_left: Option<u64>,
    /// The files as the cut left them.
    ruins: Option<BTreeMap<PathBuf, Vec<u8>>>,
    steps: u64,
}

/// The disk behind one registered VFS.
#[derive(Debug)]
pub(crate) struct Disk {
    state: Mutex<State>,
}

/// The power is gone: the operation has not happened.
#[derive(Debug)]
pub(crate) struct Dark;

impl Disk {
    /// An empty disk; everything random about its end comes from `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        let chance = StdRng::seed_from_u64(seed);
        let files = BTreeMap::new();
        Self { state: Mutex::new(State { files, chance, steps_left: None, ruins: None, steps: 0 }) }
    }

    /// Plans the cut: `steps` more changes and syncs happen, the next one does not.
    pub(crate) fn cut_after(&self, steps: u64) {
        self.lock().steps_left = Some(steps);
    }

    /// Cuts the power now, if it is not gone yet.
    pub(crate) fn cut(&self) {
        let mut state = self.lock();
        if state.ruins.is_none() {
            state.cut();
        }
    }

    /// Whether the power is gone.
    pub(crate) fn dark(&self) -> bool {
        self.lock().ruins.is_some()
    }

    /// How many changes and syncs there were.
    pub(crate) fn steps(&self) -> u64 {
        self.lock().steps
    }

    /// Writes what the cut left into `directory`, under the files' own names.
    pub(crate) fn recover_into(&self, directory: &Path) {
        let state = self.lock();
        let ruins = state.ruins.as_ref().expect("the power was cut");
        for (path, bytes) in ruins {
            let name = path.file_name().expect("a file has a name");
            std::fs::write(directory.join(name), bytes).expect("the new directory can be written");
        }
    }

    /// A file is opened that holds `content` already, all of it safe, or that is new.
    pub(crate) fn opened(
        &self,
        path: &Path,
        content: Option<Vec<u8>>,
        journal: bool,
    ) -> Result<(), Dark> {
        let mut state = self.lock();
        if state.ruins.is_some() {
            return Err(Dark);
        }
        if state.files.get(path).is_none_or(|file| file.deleted) {
            let entry_safe = content.is_some();
            let syncs_directory = journal && !entry_safe;
            let safe = content.unwrap_or_default();
            let file = File { safe, entry_safe, syncs_directory, ..File::default() };
            state.files.insert(path.to_owned(), file);
        }
        Ok(())
    }

    /// Bytes are written, or the length is changed.
    pub(crate) fn changed(&self, path: &Path, change: Change) -> Result<(), Dark> {
        let mut state = self.lock();
        state.step()?;
        state.file(path).unsafe_changes.push(change);
        Ok(())
    }

    /// A file is synced: what it holds is safe from now on.
    pub(crate) fn synced(&self, path: &Path) -> Result<(), Dark> {
        let mut state = self.lock();
        state.step()?;
        let file = state.file(path);
        for change in std::mem::take(&mut file.unsafe_changes) {
            apply(&mut file.safe, &change);
        }
        if std::mem::take(&mut file.syncs_directory) {
            state.files.retain(|_, file| !file.deleted);
            state.files.values_mut().for_each(|file| file.entry_safe = true);
        }
        Ok(())
    }

    /// A file is deleted; `now` says that the directory is synced with it.
    pub(crate) fn deleted(&self, path: &Path, now: bool) -> Result<(), Dark> {
        let mut state = self.lock();
        state.step()?;
        if now {
            state.files.remove(path);
        } else if let Some(file) = state.files.get_mut(path) {
            file.deleted = true;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock panics")
    }
}

impl State {
    fn step(&mut self) -> Result<(), Dark> {
        if self.ruins.is_some() {
            return Err(Dark);
        }
        if let Some(left) = &mut self.steps_left {
            if *left == 0 {
                self.cut();
                return Err(Dark);
            }
            *left -= 1;
        }
        self.steps += 1;
        Ok(())
    }

    fn file(&mut self, path: &Path) -> &mut File {
        self.files.entry(path.to_owned()).or_default()
    }

    fn cut(&mut self) {
        let mut ruins = BTreeMap::new();
        // Sometimes everything arrives, sometimes nothing, mostly something between.
        let arrives = [0.0, 0.2, 0.5, 0.8, 1.0][self.chance.random_range(0..5)];
        for (path, file) in &self.files {
            let gone = (file.deleted || !file.entry_safe) && self.chance.random_bool(0.5);
            if !gone {
                let mut content = file.safe.clone();
                for change in &file.unsafe_changes {
                    if self.chance.random_bool(arrives) {
                        apply(&mut content, &torn(change, &mut self.chance));
                    }
                }
                ruins.insert(path.clone(), content);
            }
        }
        self.ruins = Some(ruins);
    }
}

/// The change, or now and then only a run of its sectors.
fn torn(change: &Change, chance: &mut StdRng) -> Change {
    let Change::Write { at, bytes } = change else { return change.clone() };
    if bytes.len() <= SECTOR || chance.random_bool(0.7) {
        return change.clone();
    }
    let sectors = bytes.len() / SECTOR;
    let edge = chance.random_range(1..=sectors) * SECTOR;
    if chance.random_bool(0.5) {
        Change::Write { at: *at, bytes: bytes[..edge.min(bytes.len())].to_vec() }
    } else {
        Change::Write { at: at + edge, bytes: bytes[edge..].to_vec() }
    }
}

fn apply(content: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { at, bytes } => {
            let end = at + bytes.len();
            if bytes.is_empty() {
                return;
            }
            if content.len() < end {
                content.resize(end, 0);
            }
            content[*at..end].copy_from_slice(bytes);
        }
        Change::Truncate { length } => content.resize(*length, 0),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Change, Disk};

    const FILE: &str = "/data/file";

    fn write(at: usize, bytes: &[u8]) -> Change {
        Change::Write { at, bytes: bytes.to_vec() }
    }

    fn after_cut(disk: &Disk) -> Option<Vec<u8>> {
        disk.cut();
        let directory = tempfile::tempdir().unwrap();
        disk.recover_into(directory.path());
        std::fs::read(directory.path().join("file")).ok()
    }

    #[test]
    fn what_was_synced_is_there_after_every_cut() {
        for seed in 0..200 {
            let disk = Disk::new(seed);
            disk.opened(Path::new(FILE), None, true).unwrap();
            disk.changed(Path::new(FILE), write(0, b"safe")).unwrap();
            disk.synced(Path::new(FILE)).unwrap();
            disk.changed(Path::new(FILE), write(4, b"perhaps")).unwrap();
            let content = after_cut(&disk).expect("a synced file is there");
            assert!(content.starts_with(b"safe"), "seed {seed}: {content:?}");
        }
    }

    #[test]
    fn what_was_not_synced_comes_in_every_legal_form() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..400 {
            let disk = Disk::new(seed);
            disk.opened(Path::new(FILE), Some(b"....".to_vec()), false).unwrap();
            disk.changed(Path::new(FILE), write(0, b"a")).unwrap();
            disk.changed(Path::new(FILE), write(1, b"b")).unwrap();
            disk.changed(Path::new(FILE), Change::Truncate { length: 2 }).unwrap();
            seen.insert(after_cut(&disk).expect("an old file is there"));
        }
        let all: &[&[u8]] = &[b"....", b"a...", b".b..", b"ab..", b"..", b"a.", b".b", b"ab"];
        assert_eq!(seen, all.iter().map(|bytes| bytes.to_vec()).collect());
    }

    #[test]
    fn a_planned_cut_comes_after_its_steps_and_lets_nothing_pass() {
        let disk = Disk::new(1);
        disk.opened(Path::new(FILE), None, true).unwrap();
        disk.cut_after(2);
        disk.changed(Path::new(FILE), write(0, b"a")).unwrap();
        disk.synced(Path::new(FILE)).unwrap();
        assert!(!disk.dark());
        assert!(disk.changed(Path::new(FILE), write(1, b"b")).is_err());
        assert!(disk.dark());
        assert!(disk.synced(Path::new(FILE)).is_err());
        assert_eq!(disk.steps(), 2);
        assert_eq!(after_cut(&disk).as_deref(), Some(&b"a"[..]));
    }

    #[test]
    fn a_large_write_may_be_torn_at_a_sector() {
        let mut torn = 0;
        for seed in 0..400 {
            let disk = Disk::new(seed);
            disk.opened(Path::new(FILE), Some(vec![0; 4096]), false).unwrap();
            disk.changed(Path::new(FILE), write(0, &[1; 4096])).unwrap();
            let content = after_cut(&disk).expect("an old file is there");
            let ones = content.iter().filter(|byte| **byte == 1).count();
            assert_eq!(ones % 512, 0);
            torn += usize::from(ones != 0 && ones != 4096);
        }
        assert!(torn > 20, "{torn} torn writes in 400 cuts");
    }
}
