//! `bilo watch`: a run or a study in the terminal as it goes, from its files.

mod screen;

use crate::failure::Failure;
use crate::output;
use crate::underway::{self, Found, State};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// Between two looks.
const BETWEEN: Duration = Duration::from_secs(1);

/// Goes to the upper left corner and clears what is there.
const CLEAR: &str = "\x1b[H\x1b[J";

/// Shows a folder until all in it has ended; only once where nobody watches.
pub(crate) fn watch(folder: &Path) -> Result<(), Failure> {
    let watched = io::stdout().is_terminal();
    let title = folder.display().to_string();
    loop {
        let (text, ended) = match underway::look(folder)? {
            Found::Run(run) => (screen::run(&title, &run.history, &run.state), run.state != State::UnderWay),
            Found::Study(runs) => {
                (screen::study(&title, &runs), runs.iter().all(|run| run.state != State::UnderWay))
            }
        };
        output::say(&if watched { format!("{CLEAR}{text}") } else { text })?;
        if ended || !watched {
            return Ok(());
        }
        sleep(BETWEEN);
    }
}
