//! A problem file before it is understood: its text and where it came from.

use crate::failure::Failure;
use crate::problems::{self, Shipped};
use bilo::problem::{Folder, Overrides, Problem};
use std::fs;
use std::path::{Path, PathBuf};

/// Most bytes of a problem file, which people write.
const MOST_BYTES: u64 = 1 << 24;

/// The text of a problem file. It is read once, so that what is kept with the results is what ran.
#[derive(Clone)]
pub struct Statement {
    /// Its name in errors.
    name: String,
    pub(crate) text: String,
    files: Files,
}

/// Where its data files are.
#[derive(Clone)]
enum Files {
    /// Relative to this, and inside it unless they may lie elsewhere.
    Disk { folder: PathBuf, outside: bool },
    /// They come with the program too.
    Shipped(&'static Shipped),
    /// In memory, by the names that the text gives them.
    Memory(Vec<(String, Vec<u8>)>),
}

impl Statement {
    /// Reads a file, or else the shipped problem of that name; whether its data may lie outside its folder.
    pub fn find(file: &Path, outside: bool) -> Result<Self, Failure> {
        let shipped = file.to_str().and_then(problems::find);
        match shipped {
            Some(shipped) if !file.is_file() => Ok(Statement {
                name: format!("{} (comes with bilo)", shipped.name),
                text: shipped.text.to_string(),
                files: Files::Shipped(shipped),
            }),
            _ => Self::read(file, outside),
        }
    }

    /// A text from elsewhere, with a name for errors; its data are found relative to a folder, and inside it unless they may
    /// lie outside.
    pub fn of_text(name: &str, text: &str, folder: &Path, outside: bool) -> Self {
        let files = Files::Disk { folder: folder.to_path_buf(), outside };
        Statement { name: name.to_owned(), text: text.to_owned(), files }
    }

    /// A text from elsewhere, with a name for errors and the files that it names.
    pub fn with_files(name: &str, text: &str, files: Vec<(String, Vec<u8>)>) -> Self {
        Statement { name: name.to_owned(), text: text.to_owned(), files: Files::Memory(files) }
    }

    fn read(file: &Path, outside: bool) -> Result<Self, Failure> {
        if fs::metadata(file).is_ok_and(|about| about.len() > MOST_BYTES) {
            return Err(Failure::new(format!("`{}` is too large for a problem file", file.display())));
        }
        let bytes = fs::read(file).map_err(|error| {
            let failure = Failure::file("read", file)(error);
            match file.to_str() {
                Some(name) if !file.exists() => failure.help(problems::suggestion(name)),
                _ => failure,
            }
        })?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::new(format!("`{}` is not a problem file: it is not UTF-8 text", file.display()))
        })?;
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        let files = Files::Disk { folder, outside };
        Ok(Statement { name: file.display().to_string(), text, files })
    }

    /// Its name in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name of its file without the ending.
    pub(crate) fn stem(&self) -> String {
        match &self.files {
            Files::Disk { .. } | Files::Memory(_) => {
                Path::new(&self.name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
            }
            Files::Shipped(shipped) => shipped.name.to_string(),
        }
    }

    /// Where its data files are.
    pub(crate) fn folder(&self) -> Folder<'_> {
        match &self.files {
            Files::Disk { folder, outside: true } => Folder::Disk(folder),
            Files::Disk { folder, outside: false } => Folder::Within(folder),
            Files::Shipped(shipped) => problems::folder(shipped),
            Files::Memory(files) => Folder::Memory(files),
        }
    }

    /// The problem that the text states.
    pub fn problem(&self, overrides: &Overrides) -> Result<Problem, Failure> {
        Ok(Problem::from_toml(&self.name, &self.text, self.folder(), overrides)?)
    }
}
