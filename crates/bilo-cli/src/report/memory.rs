//! Peak memory of this process, where the system tells.

/// The most memory that was resident at once, in bytes; none where there is no `/proc`.
pub(crate) fn peak_bytes() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// The line is `VmHWM:     1234 kB`, in units of 1024 bytes.
fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kilobytes_are_of_1024_bytes() {
        assert_eq!(parse("Name:\tbilo\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), Some(2 * 1024 * 1024));
        assert_eq!(parse("Name:\tbilo\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_peak_grows_by_what_is_used() {
        let before = peak_bytes().unwrap();
        let used = vec![1u8; 1 << 28];
        let after = peak_bytes().unwrap();
        assert!(after >= before.max(used.iter().map(|byte| u64::from(*byte)).sum()));
    }
}
