//! A browser without a window, where there is one.

use std::process::Command;

/// What the browser shows after the scripts ran, and what they complained of; none without a browser.
pub(crate) fn browser(address: &str) -> Option<(String, String)> {
    let profile = tempfile::tempdir().unwrap();
    let browser = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(|name| {
        let mut command = Command::new(name);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--dump-dom",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.args(["--virtual-time-budget=2000", address]).output().ok()
    })?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Some((text(browser.stdout), text(browser.stderr)))
}
