//! `--device`: what is said where there is no such device.

use assert_cmd::Command;

fn bilo(arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = Command::cargo_bin("bilo")
        .expect("the program")
        .current_dir(folder.path())
        .args(arguments)
        .output()
        .expect("it runs");
    assert!(!folder.path().join("runs").exists(), "nothing was begun");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// No machine has a hundred GPUs; without a driver even the first is missing.
#[test]
fn a_gpu_that_is_not_there_is_one_clear_error() {
    let (code, said) = bilo(&["run", "fisher-kpp", "--device", "cuda:99"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.starts_with("error: no CUDA driver") || said.starts_with("error: there is no GPU 99"),
        "{said}"
    );
    assert!(said.contains("`--device cpu` does without a GPU") && said.lines().count() <= 3, "{said}");
}

#[test]
fn a_device_has_one_of_the_names() {
    let (code, said) = bilo(&["run", "fisher-kpp", "--device", "gpu"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("there is no device `gpu`; write cpu, cuda, cuda:1"), "{said}");
}
