//! What the system says of itself and of a process, from `/proc`. Elsewhere than on Linux it says
//! nothing, and the figures that rest on it are left out.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

/// Length of one tick of `/proc`'s processor times: fixed by Linux at 100 a second.
const TICK: Duration = Duration::from_millis(10);

/// The machine under the figures.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Machine {
    cpu: Option<String>,
    cores: usize,
    memory_mib: Option<u64>,
    kernel: Option<String>,
    /// Of the directory that holds the data.
    pub(super) filesystem: Option<String>,
}

impl Machine {
    pub(super) fn under(directory: &Path) -> Self {
        let text = |path| fs::read_to_string(path).ok();
        let cpus = text("/proc/cpuinfo");
        let memory = text("/proc/meminfo");
        Self {
            cpu: cpus.and_then(|text| field(&text, "model name").map(str::to_owned)),
            cores: cores(),
            memory_mib: memory.and_then(|text| kibibytes(&text, "MemTotal")).map(|kib| kib >> 10),
            kernel: text("/proc/sys/kernel/osrelease").map(|text| text.trim().to_owned()),
            filesystem: filesystem(directory),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = |text: &Option<String>| text.as_deref().unwrap_or("unknown").to_owned();
        write!(
            f,
            "{} cores of {}, {} MiB, Linux {}, {}",
            self.cores,
            known(&self.cpu),
            self.memory_mib.map_or_else(|| "unknown".to_owned(), |mib| mib.to_string()),
            known(&self.kernel),
            known(&self.filesystem),
        )
    }
}

/// How many threads run at one time.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The name of the file system that a directory lies on.
fn filesystem(directory: &Path) -> Option<String> {
    let directory = directory.canonicalize().ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let mount = |line: &str| {
        let mut fields = line.split(' ').skip(1);
        let (point, name) = (fields.next()?.to_owned(), fields.next()?.to_owned());
        directory.starts_with(&point).then_some((point.len(), name))
    };
    // Of mounts at one place the last one is seen.
    mounts.lines().filter_map(mount).max_by_key(|(length, _)| *length).map(|(_, name)| name)
}

/// Processor time of one process so far, all its threads together.
pub(super) fn cpu_of(process: u32) -> Option<Duration> {
    ticks(&stat_of(process)?, 2)
}

/// The process that started another one.
fn parent_of(process: u32) -> Option<u32> {
    stat_of(process)?.split_whitespace().nth(1)?.parse().ok()
}

/// The first process of the PostgreSQL that one of its processes belongs to, if there is one here.
pub(super) fn postgres_of(process: u32) -> Option<u32> {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    if name.trim() == "postgres" { parent_of(process) } else { None }
}

/// Processor time so far of a process and its children, those that have ended among them.
pub(super) fn cpu_of_family(parent: u32) -> Option<Duration> {
    let mut whole = ticks(&stat_of(parent)?, 4)?;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let process = entry.file_name().to_str().and_then(|name| name.parse().ok());
        // One that ends meanwhile is counted by its parent, next time.
        let Some(stat) = process.and_then(stat_of) else { continue };
        if stat.split_whitespace().nth(1) == Some(parent.to_string().as_str()) {
            whole += ticks(&stat, 2)?;
        }
    }
    Some(whole)
}

/// What stands in `/proc/…/stat` behind the name, which is in brackets and may hold anything.
fn stat_of(process: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')').map(|(_, fields)| fields.to_owned())
}

/// The sum of the first `count` of: user, system, and both of children that have ended.
fn ticks(stat: &str, count: usize) -> Option<Duration> {
    let times = stat.split_whitespace().skip(11).take(count);
    let times: Vec<u32> = times.map(|time| time.parse().ok()).collect::<Option<_>>()?;
    Some(TICK * times.iter().sum::<u32>())
}

/// Processor time of everything on the machine so far, and of whom it lent its cores to.
pub(super) fn cpu_of_all() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let fields = stat.lines().next()?.split_whitespace().skip(1);
    let ticks: Vec<u32> = fields.map(|field| field.parse().ok()).collect::<Option<_>>()?;
    // user nice system idle iowait irq softirq steal; guests are counted in user and nice.
    let idle = |at: &usize| *at == 3 || *at == 4;
    let busy = ticks.iter().take(8).enumerate().filter(|(at, _)| !idle(at));
    Some(TICK * busy.map(|(_, ticks)| ticks).sum::<u32>())
}

/// Memory of a process that lies in the machine's memory.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Memory {
    pub(super) now_kib: u64,
    pub(super) peak_kib: u64,
}

impl Memory {
    pub(super) fn of(process: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        Some(Self { now_kib: kibibytes(&status, "VmRSS")?, peak_kib: kibibytes(&status, "VmHWM")? })
    }
}

/// The value behind `name`, spaces and a colon.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then_some(value.trim())
    })
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    field(text, name)?.strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn this_process() {
        let me = std::process::id();
        let before = cpu_of(me).unwrap();
        let all = cpu_of_all().unwrap();
        let mut spent = 0_u64;
        while cpu_of(me).unwrap() < before + TICK * 3 {
            spent = std::hint::black_box(spent + 1);
        }
        assert!(cpu_of_all().unwrap() > all);
        assert!(cpu_of_family(me).unwrap() >= before + TICK * 3);
        assert_eq!(parent_of(me), Some(std::os::unix::process::parent_id()));
        let memory = Memory::of(me).unwrap();
        assert!(0 < memory.now_kib && memory.now_kib <= memory.peak_kib, "{memory:?}");
    }

    #[test]
    fn this_machine() {
        let machine = Machine::under(Path::new("/proc"));
        assert_eq!(machine.filesystem.as_deref(), Some("proc"));
        assert!(machine.cores > 0 && machine.memory_mib > Some(0), "{machine}");
    }

    #[test]
    fn fields() {
        let text = "model name\t: A B\nVmRSS:\t  12 kB\n";
        assert_eq!(field(text, "model name"), Some("A B"));
        assert_eq!(kibibytes(text, "VmRSS"), Some(12));
        assert_eq!(kibibytes(text, "VmHWM"), None);
    }
}
