//! Rows of one long table by what its columns say.

use bilo_problem::{Coordinate, Data, DataSpec, Overrides, Problem, Unknown};
use std::path::Path;

const TABLE: &str = "dish;dose;t;value\nA;5;0.0;1\nA;5;0.5;2\nB;5.0;0.0;3\nB;10;0.5;4\n\"C 1\";10;1.0;5\n";

fn problem(data: &str, more: &str) -> Result<Problem, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("all.csv"), TABLE).unwrap();
    let text = format!(
        r#"
        name = "dishes"
        [coordinates]
        t = {{ range = [0.0, 1.0], time = true }}
        [unknown.k]
        guess = 1.0
        [equation.decay]
        holds = "u_t = -k*u"
        [condition.start]
        at = {{ t = 0.0 }}
        holds = "u = 1"
        [observation.o]
        value = "u"
        data = {data}
        {more}
        "#
    );
    let read = Problem::from_toml("dishes", &text, folder.path() as &Path, &Overrides::default());
    read.map_err(|error| error.to_string())
}

fn values(problem: &Problem) -> Vec<Vec<f64>> {
    let values = problem.observations.iter().map(|observation| match &observation.data {
        Data::Table(table) => table.values.clone(),
        other => panic!("{other:?}"),
    });
    values.collect()
}

#[test]
fn rows_are_told_by_words_and_numbers() {
    for (rows, expected) in [
        ("{ dish = \"A\" }", vec![1.0, 2.0]),
        ("{ dish = [\"A\", \"C 1\"] }", vec![1.0, 2.0, 5.0]),
        ("{ dose = 5 }", vec![1.0, 2.0, 3.0]),
        ("{ dose = 10.0, dish = \"B\" }", vec![4.0]),
        ("{ dose = [\"5\", 10] }", vec![1.0, 2.0, 3.0, 4.0, 5.0]),
    ] {
        let read = problem(&format!("{{ file = \"all.csv\", rows = {rows} }}"), "").unwrap();
        assert_eq!(values(&read), [expected], "{rows}");
    }
}

/// The file is shared, and each experiment says which rows are its own.
#[test]
fn experiments_share_a_table() {
    let own = "[experiment.a]\nobservation = { o = { data = { rows = { dish = \"A\" } } } }\n\
               [experiment.b]\nobservation = { o = { data = { rows = { dish = \"B\" } } } }";
    let read = problem("{ file = \"all.csv\" }", own).unwrap();
    assert_eq!(values(&read), [[1.0, 2.0], [3.0, 4.0]]);
    let whole = own.replace("rows = { dish = \"B\" }", "at = {}");
    let error = problem("{ file = \"all.csv\" }", &whole).unwrap_err();
    assert!(error.contains("data belong to one of them") && error.contains("which `rows`"), "{error}");
}

#[test]
fn rust_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("all.csv"), TABLE).unwrap();
    let data = DataSpec::file("all.csv").rows("dish", "A").rows("dish", "C 1");
    let built = Problem::builder("dishes")
        .coordinate(Coordinate::time("t", 0.0, 1.0))
        .unknown(Unknown::new("k", 1.0))
        .holds("decay", "u_t = -k*u")
        .condition("start", ("t", 0.0), "u = 1")
        .observation("o", "u", data)
        .build_in(folder.path() as &Path);
    assert_eq!(values(&built.unwrap()), [[1.0, 2.0, 5.0]]);
}
