//! Where the files that a problem names are found.

use std::io;
use std::path::{Path, PathBuf};

/// A folder on the disk, or in the program: names of files with their contents.
#[derive(Clone, Copy, Debug)]
pub enum Folder<'a> {
    /// Names are relative to this folder.
    Disk(&'a Path),
    /// Names are relative to this folder, and nothing outside it is read: for problems that come from anywhere.
    Within(&'a Path),
    /// Files that are part of the program.
    Program(&'a [(&'a str, &'a [u8])]),
    /// Files that were made in memory, by another front end say.
    Memory(&'a [(String, Vec<u8>)]),
}

impl<'a> From<&'a Path> for Folder<'a> {
    fn from(path: &'a Path) -> Self {
        Folder::Disk(path)
    }
}

impl Folder<'_> {
    /// The content of a file.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        match self {
            Folder::Disk(path) => std::fs::read(path.join(name)),
            Folder::Within(path) => std::fs::read(inside(path, name)?),
            Folder::Program(files) => {
                let file = files.iter().find(|(known, _)| *known == name);
                file.map(|(_, content)| content.to_vec()).ok_or_else(|| io::ErrorKind::NotFound.into())
            }
            Folder::Memory(files) => {
                let file = files.iter().find(|(known, _)| known == name);
                file.map(|(_, content)| content.clone()).ok_or_else(|| io::ErrorKind::NotFound.into())
            }
        }
    }

    /// The content of a file, unless it has more bytes than these.
    pub(crate) fn read_up_to(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        if let Folder::Disk(path) | Folder::Within(path) = self {
            let bytes = std::fs::metadata(path.join(name))?.len();
            if bytes > most {
                let message = format!("it has {bytes} bytes, more than the {most} allowed");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
            }
        }
        self.read(name)
    }

    /// The path of a file, as errors name it.
    pub fn path(&self, name: &str) -> PathBuf {
        match self {
            Folder::Disk(path) | Folder::Within(path) => path.join(name),
            Folder::Program(_) | Folder::Memory(_) => PathBuf::from(name),
        }
    }
}

/// Where a file lies, links followed, if that is inside a folder.
fn inside(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let file = here.join(name).canonicalize()?;
    match file.starts_with(here.canonicalize()?) {
        true => Ok(file),
        false => {
            let message = "it lies outside the folder of the problem, and nothing there is read unless that is allowed \
                           (--allow-outside)";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_a_folder_is_read_unless_it_may_be() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("inner");
        std::fs::create_dir_all(inner.join("deep")).unwrap();
        std::fs::write(inner.join("deep/mine.csv"), "mine").unwrap();
        std::fs::write(place.path().join("theirs.csv"), "theirs").unwrap();
        let absolute = place.path().join("theirs.csv");
        let (within, disk) = (Folder::Within(&inner), Folder::Disk(&inner));
        assert_eq!(within.read("deep/mine.csv").unwrap(), b"mine");
        assert_eq!(within.read("deep/../deep/mine.csv").unwrap(), b"mine");
        for outside in ["../theirs.csv", "deep/../../theirs.csv", absolute.to_str().unwrap()] {
            let error = within.read(outside).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{outside}");
            assert_eq!(disk.read(outside).unwrap(), b"theirs");
        }
        assert_eq!(within.read("none.csv").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn files_in_memory_are_found_by_name() {
        let files = [("mine.csv".to_owned(), b"mine".to_vec())];
        let memory = Folder::Memory(&files);
        assert_eq!(memory.read("mine.csv").unwrap(), b"mine");
        assert_eq!(memory.read("theirs.csv").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere_else() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(place.path().join("theirs.csv"), "theirs").unwrap();
        std::os::unix::fs::symlink("../theirs.csv", inner.join("link.csv")).unwrap();
        assert!(Folder::Within(&inner).read("link.csv").is_err());
    }
}
