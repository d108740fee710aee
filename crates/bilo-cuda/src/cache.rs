//! Compiled kernels on disk: compiling takes seconds, and the next run of the same problem asks for the same text. Nothing
//! depends on it; what cannot be read or written is compiled again.

use cudarc::nvrtc::Ptx;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Files begun by this program: several runs of a study may write the same one at a time, each its own part.
static PARTS: AtomicUsize = AtomicUsize::new(0);

/// Where the compiled form of a text for an architecture is kept, if there is a folder for such things.
pub(crate) fn path(source: &str, architecture: &str) -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))?;
    let mut hasher = DefaultHasher::new();
    (source, architecture, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
    Some(caches.join("bilo").join(format!("kernel-{:016x}.ptx", hasher.finish())))
}

pub(crate) fn read(path: &Path) -> Option<Ptx> {
    std::fs::read_to_string(path).ok().map(Ptx::from_src)
}

/// Writes a file whole or not at all.
pub(crate) fn write(path: &Path, ptx: &str) {
    let Some(folder) = path.parent() else { return };
    let part =
        path.with_extension(format!("{}-{}.part", std::process::id(), PARTS.fetch_add(1, Ordering::Relaxed)));
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&part, ptx))
        .and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        // The run goes on without it.
        let _ = std::fs::remove_file(&part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_texts_and_cards_have_other_files() {
        let paths = [("a", "sm_90"), ("b", "sm_90"), ("a", "sm_80")].map(|(text, card)| path(text, card));
        if let [Some(a), Some(b), Some(c)] = paths {
            assert!(a != b && a != c && b != c);
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("deep/kernel.ptx");
        assert!(read(&path).is_none());
        write(&path, "text");
        assert_eq!(read(&path).expect("it was written").to_src(), "text");
        let left: Vec<_> =
            std::fs::read_dir(path.parent().expect("a folder")).expect("it is there").collect();
        assert_eq!(left.len(), 1, "no part is left");
    }
}
