//! The commands that do not train: list, new, check, and what is said when something is wrong.

use crate::common;

use common::{DECAY, Place};

#[test]
fn list_names_every_shipped_problem_with_a_line_about_it() {
    let said = Place::new().bilo("list").succeeds();
    let names: Vec<&str> = said.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let mut files: Vec<String> = std::fs::read_dir("../../problems")
        .expect("the folder of problems")
        .filter_map(|file| {
            let name = file.expect("a file").file_name();
            name.to_string_lossy().strip_suffix(".toml").map(str::to_owned)
        })
        .collect();
    files.sort();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!((names[0], sorted), ("fisher-kpp", files.iter().map(String::as_str).collect()));
    assert!(said.stdout.lines().all(|line| line.split_whitespace().count() > 2), "{}", said.stdout);
    assert_eq!(said.stderr, "");
}

#[test]
fn new_writes_a_file_that_check_accepts() {
    let place = Place::new();
    let said = place.bilo("new mine").succeeds();
    assert!(said.stdout.contains("mine.toml"), "{}", said.stdout);
    assert!(place.read("mine.toml").contains("name = \"mine\""));
    let said = place.bilo("check mine.toml").succeeds();
    assert!(said.stdout.contains('k'), "{}", said.stdout);
    assert!(said.stdout.ends_with("no warnings\n"), "{}", said.stdout);
}

#[test]
fn new_takes_the_names_that_a_problem_file_may_have() {
    let place = Place::new();
    place.bilo("new a.b").succeeds();
    assert!(place.read("a.b.toml").contains("name = \"a.b\""));
    place.bilo("check a.b.toml").succeeds();
}

#[test]
fn new_from_a_shipped_problem_copies_it_under_the_new_name() {
    let place = Place::new();
    place.bilo("new front --from fisher-kpp --out copy.toml").succeeds();
    let copy = place.read("copy.toml");
    assert!(copy.contains("name = \"front\"") || copy.contains("name  = \"front\""), "{copy}");
    assert!(!place.join("front.toml").exists());
    place.bilo("check copy.toml").succeeds();
}

/// A problem with images takes them along, and never over others.
#[test]
fn new_from_a_shipped_problem_with_images_copies_these_too() {
    let place = Place::new();
    place.bilo("new mine --from glioblastoma").succeeds();
    assert!(place.read("mni152/NOTICE.md").contains("Copyright (C) 1993-2009 Louis Collins"));
    let said = place.bilo("check mine.toml").succeeds();
    assert!(
        said.stdout.contains("wm: from mni152/wm.nii.gz; 197 nodes of x from -98 to 98"),
        "{}",
        said.stdout
    );
    place.bilo("new again --from glioblastoma").succeeds();
    place.write("mni152/wm.nii.gz", "precious");
    let said = place.bilo("new third --from glioblastoma").fails(1);
    assert!(said.stderr.contains("exists already, with other content"), "{}", said.stderr);
    assert!(!place.join("third.toml").exists());
}

#[test]
fn new_never_overwrites() {
    let place = Place::new();
    place.write("mine.toml", "precious");
    let said = place.bilo("new mine").fails(1);
    assert!(said.stderr.starts_with("error: `mine.toml` exists already\n"), "{}", said.stderr);
    assert_eq!(place.read("mine.toml"), "precious");
}

#[test]
fn new_refuses_names_that_are_paths_and_problems_that_are_not_there() {
    let place = Place::new();
    let said = place.bilo("new ../mine").fails(1);
    assert!(said.stderr.contains("`../mine` cannot name a folder"), "{}", said.stderr);
    let said = place.bilo("new mine --from fisher").fails(1);
    assert!(said.stderr.contains("did you mean `fisher-kpp`?"), "{}", said.stderr);
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_shipped_problem_can_be_checked_by_name_and_a_file_of_that_name_wins() {
    let place = Place::with_decay();
    let shipped = place.bilo("check fisher-kpp").succeeds().stdout;
    assert!(shipped.contains("rho"), "{shipped}");
    place.write("fisher-kpp", DECAY);
    let own = place.bilo("check fisher-kpp").succeeds().stdout;
    assert!(!own.contains("rho"), "{own}");
}

#[test]
fn check_takes_recipe_and_settings() {
    let place = Place::with_decay();
    place.bilo("check decay.toml --recipe paper --set train.rate=0.01 --set unknown.k.guess=1.5").succeeds();
    let said = place.bilo("check decay.toml --recipe slow").fails(1);
    assert!(said.stderr.starts_with("error: "), "{}", said.stderr);
}

#[test]
fn a_wrong_name_in_a_file_is_shown_in_its_line_without_colour() {
    let place = Place::with_decay();
    place.write("bad.toml", &DECAY.replace("u_t + k*u", "u_t + kk*u"));
    let said = place.bilo("check bad.toml").fails(1);
    assert_eq!(said.stdout, "");
    assert!(said.stderr.starts_with("error: "), "{}", said.stderr);
    for part in ["kk", "--> bad.toml:16:19", "residual = \"u_t + kk*u\"", "^^"] {
        assert!(said.stderr.contains(part), "no `{part}` in\n{}", said.stderr);
    }
    assert!(!said.stderr.contains('\x1b'), "{}", said.stderr);
    // The run stops at the same error, before it writes anything.
    assert_eq!(place.bilo("run bad.toml").fails(1).stderr, said.stderr);
    assert!(!place.join("runs").exists());
}

#[test]
fn a_stated_truth_is_checked_and_a_wrong_one_ends_the_check() {
    let place = Place::with_decay();
    let stated = |truth: &str| DECAY.replace("net*t\"\n", &format!("net*t\"\ntruth = \"{truth}\"\n"));
    place.write("good.toml", &stated("exp(-k*t)"));
    let said = place.bilo("check good.toml").succeeds();
    for part in ["Stated truth\n", "  equation decay: satisfied", "  values held by the form of u: satisfied"]
    {
        assert!(said.stdout.contains(part), "no `{part}` in\n{}", said.stdout);
    }
    // The terms u_t and k*u should cancel and add up instead: nothing of their sum should be there.
    place.write("bad.toml", &stated("exp(k*t)"));
    let said = place.bilo("check bad.toml").fails(1);
    assert_eq!(said.stdout, "");
    let message =
        "error: the stated truth violates the equation `decay` by 100.0 % (relative L2); worst at t = 1: ";
    for part in [message, "--> bad.toml:17:13", "residual = \"u_t + k*u\"", "(here k = 2)"] {
        assert!(said.stderr.contains(part), "no `{part}` in\n{}", said.stderr);
    }
}

#[test]
fn a_wrong_setting_is_shown_in_the_argument() {
    let said = Place::with_decay().bilo("run decay.toml --set train.rat=0.01").fails(1);
    for part in ["--set", "train.rat=0.01", "rate"] {
        assert!(said.stderr.contains(part), "no `{part}` in\n{}", said.stderr);
    }
}

#[test]
fn a_file_that_is_not_there_is_named_with_what_may_have_been_meant() {
    let place = Place::new();
    let said = place.bilo("run fisher-kp").fails(1);
    assert!(said.stderr.starts_with("error: cannot read `fisher-kp`"), "{}", said.stderr);
    assert!(said.stderr.contains("did you mean `fisher-kpp`?"), "{}", said.stderr);
}

#[test]
fn a_file_that_is_not_text_is_an_error() {
    let place = Place::new();
    std::fs::write(place.join("data.npz"), [0xff, 0xfe, 0x00]).unwrap();
    let said = place.bilo("check data.npz").fails(1);
    assert_eq!(said.stderr, "error: `data.npz` is not a problem file: it is not UTF-8 text\n");
}

#[test]
fn wrong_usage_ends_with_code_2() {
    let place = Place::new();
    place.bilo("").fails(2);
    place.bilo("infer").fails(2);
    place.bilo("solve").fails(2);
    place.bilo("run").fails(2);
    place.bilo("run fisher-kpp --threads 0").fails(2);
    let said = place.bilo("run fisher-kpp --method magic").fails(2);
    assert!(said.stderr.contains("bilo"), "{}", said.stderr);
}

/// Both know every command and option, being made from them.
#[test]
fn completions_and_manual_pages_are_made() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let said = place.bilo(&format!("completions {shell}")).succeeds();
        assert!(said.stdout.contains("checkpoint-every") && said.stdout.contains("compare"), "{shell}");
    }
    place.bilo("completions tcsh").fails(2);
    place.bilo("man pages").succeeds();
    let page = place.read("pages/bilo-run.1");
    assert!(page.starts_with(".ie") && page.contains("resume"), "{page}");
    assert!(place.read("pages/bilo.1").contains("bilo\\-study"));
}

/// A problem that comes from anywhere reads nothing but what came with it.
#[test]
fn files_outside_the_folder_are_read_only_if_that_is_allowed() {
    let place = Place::with_decay();
    std::fs::create_dir(place.join("inner")).unwrap();
    place.write("inner/decay.toml", &place.read("decay.toml").replace("amount.csv", "../amount.csv"));
    let said = place.bilo("check inner/decay.toml").fails(1).stderr;
    assert!(
        said.contains("it lies outside the folder of the problem") && said.contains("--allow-outside"),
        "{said}"
    );
    place.bilo("check inner/decay.toml --allow-outside").succeeds();
}
