//! Results on disk that another run may need: each under a name made of everything that it depends on. Nothing depends on
//! them; what cannot be read or written is computed again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Files begun by this program: several runs of a study may write the same one at a time, each its own part.
static PARTS: AtomicUsize = AtomicUsize::new(0);

/// A place for a result.
pub(crate) struct Place {
    /// Everything that the result depends on, as text.
    key: String,
    /// None if there is no folder for such things.
    file: Option<PathBuf>,
}

impl Place {
    /// The place of a kind of result.
    pub(crate) fn new(kind: &str, key: String) -> Place {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
        Place::inside(caches.map(|caches| caches.join("bilo")).as_deref(), kind, key)
    }

    fn inside(folder: Option<&Path>, kind: &str, key: String) -> Place {
        let key = format!("bilo {}\n{key}", env!("CARGO_PKG_VERSION"));
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let file = folder.map(|folder| folder.join(format!("{kind}-{:016x}", hasher.finish())));
        Place { key, file }
    }

    /// What is there, if it is of the same key.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        let bytes = std::fs::read(self.file.as_ref()?).ok()?;
        let (length, rest) = bytes.split_at_checked(8)?;
        let length = u64::from_le_bytes(length.try_into().ok()?);
        let (key, content) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        (key == self.key.as_bytes()).then(|| content.to_vec())
    }

    /// Puts something there, whole or not at all.
    pub(crate) fn write(&self, content: &[u8]) {
        let Some(file) = &self.file else { return };
        let length = (self.key.len() as u64).to_le_bytes();
        let bytes = [&length, self.key.as_bytes(), content].concat();
        let part = file.with_extension(format!(
            "{}-{}.part",
            std::process::id(),
            PARTS.fetch_add(1, Ordering::Relaxed)
        ));
        let written = std::fs::create_dir_all(file.parent().unwrap_or(file))
            .and_then(|()| std::fs::write(&part, bytes))
            .and_then(|()| std::fs::rename(&part, file));
        if written.is_err() {
            // The run goes on without it.
            let _ = std::fs::remove_file(&part);
        }
    }
}

/// Takes a number of bytes off the beginning, if there are so many.
pub(crate) fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (own, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(own)
}

/// Takes a number of eight bytes off the beginning.
pub(crate) fn take_word(bytes: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(bytes, 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_under_its_own_key_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = folder.path().join("deep");
        let place = |key: &str| Place::inside(Some(&deep), "kind", key.to_owned());
        assert_eq!(place("a").read(), None);
        place("a").write(&[1, 2, 3]);
        assert_eq!((place("a").read(), place("b").read()), (Some(vec![1, 2, 3]), None));
        // As if two keys had the same name.
        let other = Place { key: "other".to_owned(), ..place("a") };
        assert_eq!(other.read(), None);
        let file = place("a").file.expect("there is a folder");
        let bytes = std::fs::read(&file).expect("it is there");
        for cut in 0..bytes.len() - 3 {
            std::fs::write(&file, &bytes[..cut]).expect("it can be written");
            assert_eq!(place("a").read(), None, "cut at {cut}");
        }
        assert_eq!(Place::inside(None, "kind", String::new()).read(), None);
    }
}
