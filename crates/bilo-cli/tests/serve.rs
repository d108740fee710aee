//! `bilo serve`: what a browser gets of a run under way, and what it does not get.

use crate::browser as browsing;
use crate::common;

use browsing::browser;
use common::Place;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that ends with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn of(place: &Place, folder: &str) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bilo"));
        command.args(["serve", folder, "--port", "0"]).current_dir(place.join(".")).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
        Server { address: address.to_owned(), child }
    }

    /// Head and body of the answer to a request under some name.
    fn ask(&self, path: &str, host: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
        (head.to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> (String, String) {
        self.ask(path, &self.address)
    }

    fn state(&self, query: &str) -> Value {
        let (head, body) = self.get(&format!("/state{query}"));
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        serde_json::from_str(&body).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The page follows the run as it goes, and leads to the report when it has ended.
#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn a_run_under_way_is_shown_as_it_goes() {
    let place = Place::with_decay();
    let long = ["--set", "train.train-steps=1000000", "--set", "operator.kind=network"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_bilo"));
    command.args(["run", "decay.toml", "--quiet", "--out", "out"]).args(long).current_dir(place.join("."));
    let mut run = command.stdout(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while std::fs::metadata(place.join("out/history.csv")).map_or(0, |about| about.len()) < 2000 {
        assert!(began.elapsed() < Duration::from_secs(120), "no step within two minutes");
        std::thread::sleep(Duration::from_millis(20));
    }
    let server = Server::of(&place, "out");
    let text = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
    let first = server.state("");
    assert!(text(&first, "head").contains("under way"), "{}", text(&first, "head"));
    assert!(text(&first, "figures").contains("data-title=\"Losses\""), "{first}");
    let began = Instant::now();
    while server.state("")["head"] == first["head"] {
        assert!(began.elapsed() < Duration::from_secs(120), "it stands still");
        std::thread::sleep(Duration::from_millis(50));
    }
    match browser(&format!("http://{}/", server.address)) {
        Some((page, complaints)) => {
            assert!(!complaints.contains("CONSOLE"), "{complaints}");
            assert!(page.contains("data-state=\"live\"") && page.contains("<svg"), "{page}");
        }
        None => eprintln!("SKIPPED: no chromium here, so nobody looked at the live page"),
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(text(&server.state(""), "head").contains("bilo run --resume goes on with it"));
}

#[test]
fn a_study_has_its_runs_and_nothing_else_is_given_out() {
    let place = Place::with_decay();
    place.write("two.toml", "problem = \"decay.toml\"\nmethod = \"adjoint\"\nseeds = [0, 1]\n");
    let said = place.bilo("study two.toml --quiet --out out").succeeds().stdout;
    assert!(said.contains("Files in out"), "{said}");
    let server = Server::of(&place, "out");
    let head = server.state("")["head"].as_str().unwrap().to_owned();
    assert!(head.contains("2 of the 2 runs") && head.contains("?run=seed=1"), "{head}");
    let run = server.state("?run=seed%3D1");
    assert!(run["head"].as_str().unwrap().contains("seed=1/report.html"), "{run}");
    let (head, page) = server.get("/seed=1/report.html");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert_eq!(page, place.read("out/seed=1/report.html"));
    assert!(server.get("/report.html").0.starts_with("HTTP/1.1 200"));
    for path in
        ["/state?run=..", "/../report.html", "/%2e%2e/report.html", "/two.toml", "/seed=1/outcome.json"]
    {
        let (head, _) = server.get(path);
        assert!(head.starts_with("HTTP/1.1 404"), "{path}: {head}");
    }
    // A page elsewhere that has a browser ask here has its own name.
    assert!(server.ask("/", "evil.example").0.starts_with("HTTP/1.1 403"));
    let taken = server.address.rsplit(':').next().unwrap();
    let refused = place.bilo(&format!("serve out --port {taken}")).fails(1).stderr;
    assert!(refused.contains("--port 0 takes one that is free"), "{refused}");
    let nothing = place.bilo("serve nowhere").fails(1).stderr;
    assert!(nothing.contains("nowhere"), "{nothing}");
}
