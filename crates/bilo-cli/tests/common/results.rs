//! The files of two runs, compared but for what the clock and the machine say.

use serde_json::Value;
use std::fs;
use std::path::Path;

/// Everything in a run's folder that does not depend on the clock.
pub(crate) fn results(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let lasting = |name: String| {
        let path = folder.join(&name);
        let content = match name.as_str() {
            "outcome.json" => {
                let mut outcome: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
                for key in ["seconds", "peak_memory_bytes"] {
                    outcome[key].take();
                }
                outcome.to_string().into_bytes()
            }
            "history.csv" => {
                let text = fs::read_to_string(path).unwrap();
                let row = |line: &str| {
                    let mut cells: Vec<&str> = line.split(',').collect();
                    // A row that was cut off has no time in it.
                    if cells.len() > 2 {
                        cells.remove(2);
                    }
                    cells.join(",") + "\n"
                };
                text.lines().map(row).collect::<String>().into_bytes()
            }
            // The one has the time and the memory in it too, the other the command.
            "report.html" | "run.json" => vec![],
            _ if path.is_dir() => vec![],
            _ => fs::read(path).unwrap(),
        };
        (name, content)
    };
    names.into_iter().map(lasting).collect()
}

/// Shows the first line that differs, not two folders.
pub(crate) fn require_same(found: &[(String, Vec<u8>)], expected: &[(String, Vec<u8>)]) {
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(found), names(expected));
    for ((name, found), (_, expected)) in found.iter().zip(expected) {
        let [found, expected] = [found, expected].map(|bytes| String::from_utf8_lossy(bytes));
        for (number, (found, expected)) in found.split('\n').zip(expected.split('\n')).enumerate() {
            assert_eq!(found, expected, "{name}, line {}", number + 1);
        }
        assert_eq!(found.len(), expected.len(), "{name}");
    }
}
