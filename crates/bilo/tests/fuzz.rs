//! Files come from anywhere: whatever bytes are in them, readers return, soon, and with little memory.
//!
//! Mutations of good inputs, the same in every run: a few thousand of each kind, or as many as `BILO_FUZZ_CASES` says.

use crate::arrays;

use arrays::{Order, npy, npz};
use bilo::nifti::Image;
use bilo::npy::{Archive, Array};
use bilo::problem::{Folder, Overrides, Problem};
use bilo_expr::{Graph, Scope, lower, parse};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Nothing takes nearly as long to read, not even on a machine that does much else.
const LONGEST: Duration = Duration::from_secs(30);

/// Bytes that often lead astray.
const TOKENS: [&[u8]; 28] = [
    b"",
    b"\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\x80\0\0\0",
    b"99999999999999999999",
    b"-1",
    b"1e999",
    b"nan",
    b"inf",
    b"0",
    b"{",
    b"}",
    b"[",
    b"]",
    b"((((((((",
    b"\"",
    b"\"\"\"",
    b"\n",
    b"=",
    b"grad(",
    b"u_xxxxxx",
    b"^-1^-1",
    b"/0",
    b",",
    b"\xc3\xa9",
    b"# ",
    b"net",
];

/// A source of inputs, each some edits away from one of the good ones.
struct Mutations<'a> {
    good: &'a [Vec<u8>],
    random: Pcg64,
}

impl Mutations<'_> {
    fn next(&mut self) -> Vec<u8> {
        let mut bytes = self.pick().clone();
        for _ in 0..self.random.random_range(1..6) {
            self.edit(&mut bytes);
        }
        bytes
    }

    fn pick(&mut self) -> &Vec<u8> {
        &self.good[self.random.random_range(0..self.good.len())]
    }

    fn edit(&mut self, bytes: &mut Vec<u8>) {
        let start = self.random.random_range(0..=bytes.len());
        let end = (start + self.random.random_range(0..16)).min(bytes.len());
        match self.random.random_range(0..7) {
            0 => bytes.truncate(start),
            1 => drop(bytes.drain(start..end)),
            2 => bytes[start..end].iter_mut().for_each(|byte| *byte ^= 1 << (*byte % 8)),
            3 => bytes[start..end].iter_mut().for_each(|byte| *byte = self.random.random()),
            4 => {
                let again = bytes[start..end].to_vec();
                bytes.splice(start..start, again.repeat(self.random.random_range(1..40)));
            }
            5 => {
                let other = self.pick().clone();
                let from = self.random.random_range(0..=other.len());
                bytes.splice(start..end, other[from..].iter().copied().take(64));
            }
            _ => drop(
                bytes.splice(start..end, TOKENS[self.random.random_range(0..TOKENS.len())].iter().copied()),
            ),
        }
    }
}

fn cases(usual: usize) -> usize {
    std::env::var("BILO_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Feeds a reader with mutations; shows the input that it does not survive.
fn survives(usual: usize, good: &[Vec<u8>], read: impl Fn(&[u8])) {
    let mut mutations = Mutations { good, random: Pcg64::seed_from_u64(1) };
    for number in 0..cases(usual) {
        let input = mutations.next();
        let began = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&input)));
        let shown = || String::from_utf8_lossy(&input).into_owned();
        assert!(outcome.is_ok(), "case {number} panics:\n{}", shown());
        assert!(began.elapsed() < LONGEST, "case {number} takes {:?}:\n{}", began.elapsed(), shown());
    }
    require_little_memory();
}

/// Less than two GiB at any time, where the system tells.
fn require_little_memory() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    assert!(peak.is_none_or(|kilobytes| kilobytes < 2 << 20), "{peak:?} kB");
}

fn problems() -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../problems");
    let files = std::fs::read_dir(folder).expect("the problems");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    let problems = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    problems.map(|path| std::fs::read(path).expect("a problem")).collect()
}

fn read_problem(text: &[u8], files: &[(&str, &[u8])]) {
    let text = String::from_utf8_lossy(text);
    if let Err(error) = Problem::from_toml("any.toml", &text, Folder::Program(files), &Overrides::default()) {
        assert!(error.to_string().starts_with("error: "), "{error}");
    }
}

#[test]
fn expressions() {
    let written = problems().into_iter().flat_map(|text| {
        let text = String::from_utf8_lossy(&text).into_owned();
        text.split('"').skip(1).step_by(2).map(|formula| formula.as_bytes().to_vec()).collect::<Vec<_>>()
    });
    let good: Vec<Vec<u8>> =
        written.chain([b"(".repeat(5000), b"-".repeat(5000), b"2^".repeat(2000)]).collect();
    survives(20_000, &good, |bytes| {
        let Ok(ast) = parse(&String::from_utf8_lossy(bytes)) else { return };
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        for name in ["x", "t", "D", "rho", "net", "pi"] {
            let symbol = graph.symbol(name);
            let leaf = graph.leaf(symbol);
            scope.bind(name, leaf);
        }
        let _ = lower(&ast, &mut graph, &scope);
    });
}

#[test]
fn problem_files() {
    let mut good = problems();
    good.push([&b"name = "[..], &b"[".repeat(3000)].concat());
    survives(1500, &good, |bytes| read_problem(bytes, &[]));
}

/// A problem whose data are what is mutated.
fn with_data(name: &str) -> String {
    format!(
        "name = \"any\"\n[coordinates]\nx = [0.0, 1.0]\nt = {{ range = [0.0, 1.0], time = true }}\n[unknown.D]\nguess = 1.0\n\
         [state.u]\nform = \"net*x*(1-x)*t\"\n[equation.e]\nresidual = \"u_t - D*u_xx\"\npoints = {{ grid = {{ x = 5, t = 5 }} }}\n\
         [observation.o]\ndata = {{ file = \"{name}\" }}\n"
    )
}

#[test]
fn tables() {
    let good = [
        b"x,t,value\n0.5,0.5,1.0\n0.25,1,2e-3\n".to_vec(),
        b"# by hand\nt, x, value, sigma\n1.0, 0.0, -3, 0.1\n0.1, 0.9, 4, 0.2\n".to_vec(),
        b"\xef\xbb\xbfx;t;value\r\n0.5;0.5;1.0\r\n".to_vec(),
    ];
    let problem = with_data("any.csv");
    survives(5000, &good, |bytes| read_problem(problem.as_bytes(), &[("any.csv", bytes)]));
}

#[test]
fn arrays_of_numpy() {
    let value: Vec<f64> = (0..6).map(f64::from).collect();
    let axes: [(&str, &[usize], &[f64]); 2] = [("x", &[2], &[0.0, 1.0]), ("t", &[3], &[0.0, 0.5, 1.0])];
    let good = [
        npy("<f8", Order::C, &[2, 3], &value),
        npy("<f8", Order::Fortran, &[3, 2], &value),
        npz(&[axes[0], axes[1], ("value", &[2, 3], &value)]),
    ];
    let (array, archive) = (with_data("any.npy"), with_data("any.npz"));
    survives(8000, &good, |bytes| {
        let _ = Array::from_npy(bytes);
        if let Ok(mut archive) = Archive::new(bytes.to_vec()) {
            for name in archive.names() {
                let _ = archive.array(&name);
            }
        }
        read_problem(array.as_bytes(), &[("any.npy", bytes)]);
        read_problem(archive.as_bytes(), &[("any.npz", bytes)]);
    });
}

#[test]
fn images() {
    let shipped = include_bytes!("../../../problems/mni152/wm.nii.gz");
    let mut plain = vec![];
    let mut decoder = flate2::read::GzDecoder::new(&shipped[..]);
    std::io::Read::read_to_end(&mut decoder, &mut plain).expect("an image");
    plain.truncate(4000);
    // Headers, of images with few voxels: most edits are to fall on what matters.
    let small = |shape: [i16; 3]| {
        let mut bytes = plain[..352].to_vec();
        for (axis, count) in shape.iter().enumerate() {
            bytes[42 + 2 * axis..44 + 2 * axis].copy_from_slice(&count.to_le_bytes());
        }
        bytes.extend(vec![7; shape.iter().map(|&count| count as usize).product()]);
        bytes
    };
    let good = [shipped[..2000].to_vec(), plain.clone(), small([3, 4, 5]), small([8, 8, 1])];
    survives(8000, &good, |bytes| {
        let _ = Image::from_bytes(bytes);
    });
}
