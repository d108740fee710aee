//! `bilo serve`: a run or a study in the browser as it goes, from its files, for this machine alone.

mod http;

use crate::failure::Failure;
use crate::files::REPORT;
use crate::output;
use crate::underway::{self, Found, Run, State};
use bilo_report::html::live::{self, LiveRun};
use http::{Answer, Request};
use std::fs;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

/// Serves a folder until the program is ended.
pub(crate) fn serve(folder: &Path, port: u16) -> Result<(), Failure> {
    underway::look(folder)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        let failure = Failure::new(format!("cannot serve at port {port}: {error}"));
        match error.kind() {
            ErrorKind::AddrInUse => failure.help("--port 0 takes one that is free"),
            _ => failure,
        }
    })?;
    let address = listener.local_addr().map_err(|error| Failure::new(error.to_string()))?;
    output::say(&format!("{} is at http://{address}/ (Ctrl-C ends)\n", folder.display()))?;
    http::serve(&listener, address.port(), &|request| answer(folder, request));
    Ok(())
}

/// What a request is answered with. Whatever is named in it is looked for among what is there: no path of it leads elsewhere.
fn answer(folder: &Path, request: &Request) -> Answer {
    let title = folder.display().to_string();
    match request.path.as_str() {
        "/" => Answer::html(live::page(&title)),
        "/state" => state(folder, &title, request.run.as_deref()).unwrap_or(Answer::missing()),
        path => match path.strip_suffix("/report.html").map(|run| run.trim_start_matches('/')) {
            Some("") => report(folder),
            Some(run) if is_run(folder, run) => report(&folder.join(run)),
            _ => Answer::missing(),
        },
    }
}

/// What the page asks for again and again.
fn state(folder: &Path, title: &str, wanted: Option<&str>) -> Option<Answer> {
    let reported = |path: &Path| path.join(REPORT).is_file();
    let run = |path: &Path, name: &str, run: &Run, back: bool| {
        let link = if back { format!("{}/{REPORT}", run.name) } else { REPORT.to_owned() };
        let report = reported(path).then_some(link.as_str());
        live::run(path, name, run.state.words(), back, report).ok().map(|state| Answer::json(&state))
    };
    match (underway::look(folder).ok()?, wanted) {
        (Found::Run(found), _) => run(folder, title, &found, false),
        (Found::Study(runs), Some(wanted)) => {
            let found = runs.iter().find(|run| run.name == wanted)?;
            run(&folder.join(&found.name), &found.name, found, true)
        }
        (Found::Study(runs), None) => {
            let ended = runs.iter().filter(|run| matches!(run.state, State::Ended(_))).count();
            let live = |run: Run| LiveRun {
                reported: reported(&folder.join(&run.name)),
                state: run.state.words().to_owned(),
                name: run.name,
                history: run.history,
            };
            let runs: Vec<LiveRun> = runs.into_iter().map(live).collect();
            let report = reported(folder).then_some(REPORT);
            Some(Answer::json(&live::study(title, &runs, ended, report)))
        }
    }
}

fn is_run(folder: &Path, name: &str) -> bool {
    match underway::look(folder) {
        Ok(Found::Study(runs)) => runs.iter().any(|run| run.name == name),
        _ => false,
    }
}

fn report(folder: &Path) -> Answer {
    fs::read_to_string(folder.join(REPORT)).map_or(Answer::missing(), Answer::html)
}
