//! The problems that come with `bilo`, as texts.
//!
//! ```
//! let fisher = bilo_problems::SHIPPED.iter().find(|shipped| shipped.name == "fisher-kpp").expect("the first one");
//! assert!(fisher.text.contains("residual"));
//! ```

/// A problem file with the data files that it names.
#[derive(Debug)]
pub struct Shipped {
    /// Its name.
    pub name: &'static str,
    /// The text of the problem file.
    pub text: &'static str,
    /// The data files that it names, with their contents.
    pub files: &'static [(&'static str, &'static [u8])],
}

macro_rules! shipped {
    ($($name:literal $(with $($file:literal)+)?),* $(,)?) => {
        &[$(Shipped {
            name: $name,
            text: include_str!(concat!("../problems/", $name, ".toml")),
            files: &[$($(($file, include_bytes!(concat!("../problems/", $file)))),+)?],
        }),*]
    };
}

/// All of them, from the paper's first experiment on.
pub const SHIPPED: &[Shipped] = shipped![
    "fisher-kpp",
    "bpn-toy",
    "bpn-toy-soft",
    "poisson-scalar",
    "advection-diffusion",
    "two-species",
    "poisson-variable",
    "heat-initial",
    "burgers-initial",
    "burgers-initial-2",
    "reaction-coefficient",
    "reaction-coefficient-8",
    "darcy",
    "darcy-2",
    "conductivity",
    "point-process",
    "point-process-10",
    "point-process-position",
    "dose-escalation",
    "cooling-rods",
    "current-patterns",
    "glioblastoma" with "mni152/wm.nii.gz" "mni152/gm.nii.gz" "mni152/NOTICE.md",
];
