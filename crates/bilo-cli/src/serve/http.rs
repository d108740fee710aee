//! As much of HTTP/1.1 as one page on one machine needs: GET, one request for each connection.

use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Most bytes of a request.
const MOST_BYTES: u64 = 8192;
/// Most requests at a time: a browser has six.
const MOST_AT_A_TIME: usize = 32;
/// Longest wait for the other side.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is asked for.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    /// Without what follows a question mark, its percent signs decoded.
    pub(super) path: String,
    /// The value of `run` there.
    pub(super) run: Option<String>,
}

/// What comes back.
pub(super) struct Answer {
    status: &'static str,
    kind: &'static str,
    body: String,
}

impl Answer {
    pub(super) fn html(body: String) -> Self {
        Answer { status: "200 OK", kind: "text/html; charset=utf-8", body }
    }

    pub(super) fn json(body: &Value) -> Self {
        Answer { status: "200 OK", kind: "application/json", body: body.to_string() }
    }

    pub(super) fn missing() -> Self {
        Self::refusal("404 Not Found")
    }

    fn refusal(status: &'static str) -> Self {
        Answer { status, kind: "text/plain; charset=utf-8", body: format!("{status}\n") }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write!(
            out,
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n\r\n{}",
            self.status,
            self.kind,
            self.body.len(),
            self.body
        )?;
        out.flush()
    }
}

/// Answers whoever connects, for ever.
pub(super) fn serve(listener: &TcpListener, port: u16, answer: &(dyn Fn(&Request) -> Answer + Sync)) {
    let busy = AtomicUsize::new(0);
    thread::scope(|scope| {
        for stream in listener.incoming().flatten() {
            if busy.load(Ordering::SeqCst) >= MOST_AT_A_TIME {
                continue;
            }
            busy.fetch_add(1, Ordering::SeqCst);
            let busy = &busy;
            scope.spawn(move || {
                // Who goes away before the answer has no need of it.
                let _ = converse(&stream, port, answer);
                busy.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
}

fn converse(stream: &TcpStream, port: u16, answer: &dyn Fn(&Request) -> Answer) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut input = BufReader::new(stream.take(MOST_BYTES));
    let mut lines = vec![];
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 || line.trim_end().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let found = match read(&lines, port) {
        Ok(request) => answer(&request),
        Err(status) => Answer::refusal(status),
    };
    found.write(&mut &*stream)
}

/// A request, or with what it is refused. Pages of other sites can have a browser ask at this address, under their own name:
/// only who asks for this machine is answered.
fn read(lines: &[String], port: u16) -> Result<Request, &'static str> {
    let (first, headers) = lines.split_first().ok_or("400 Bad Request")?;
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().ok_or("400 Bad Request")?);
    if method != "GET" {
        return Err("405 Method Not Allowed");
    }
    let host = headers.iter().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let ours = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
    if !host.is_some_and(|host| ours.iter().any(|name| name == host)) {
        return Err("403 Forbidden");
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let run = query.split('&').find_map(|pair| pair.strip_prefix("run=")).map(decoded);
    Ok(Request { path: decoded(path), run })
}

/// `%3D` and the like as what they stand for.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (vec![], 0);
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                found.push(byte);
                at += 3;
            }
            _ => {
                found.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&found).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Result<Request, &'static str> {
        read(&text.lines().map(str::to_owned).collect::<Vec<_>>(), 80)
    }

    #[test]
    fn paths_and_runs_are_decoded() {
        let found =
            request("GET /a-seed%3D0/report.html?x=1&run=b%20c HTTP/1.1\nhost: localhost:80").unwrap();
        assert_eq!(found, Request { path: "/a-seed=0/report.html".into(), run: Some("b c".into()) });
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }

    #[test]
    fn who_asks_under_another_name_or_for_more_is_refused() {
        assert_eq!(request("GET / HTTP/1.1\nHost: evil.example:80"), Err("403 Forbidden"));
        assert_eq!(request("GET / HTTP/1.1"), Err("403 Forbidden"));
        assert_eq!(request("POST / HTTP/1.1\nHost: localhost:80"), Err("405 Method Not Allowed"));
        assert_eq!(request(""), Err("400 Bad Request"));
        assert_eq!(request("GET"), Err("400 Bad Request"));
    }
}
