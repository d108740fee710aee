//! Where the files that a problem names are found.

use std::io;
use std::path::{Path, PathBuf};

/// A folder on the disk, or in the program: names of files with their contents.
#[derive(Clone, Copy, Debug)]
pub enum Folder<'a> {
    /// Names are relative to this folder.
    Disk(&'a Path),
    /// Files that are part of the program.
    Program(&'a [(&'a str, &'a [u8])]),
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
            Folder::Program(files) => {
                let file = files.iter().find(|(known, _)| *known == name);
                file.map(|(_, content)| content.to_vec()).ok_or_else(|| io::ErrorKind::NotFound.into())
            }
        }
    }

    /// The same, unless it has more bytes than these.
    pub(super) fn read_up_to(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        if let Folder::Disk(path) = self {
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
            Folder::Disk(path) => path.join(name),
            Folder::Program(_) => PathBuf::from(name),
        }
    }
}
