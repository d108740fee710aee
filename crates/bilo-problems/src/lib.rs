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

macro_rules! gallery {
    ($($name:literal $(with $($file:literal)+)?),* $(,)?) => {
        &[$(gallery!(one $name $(with $($file)+)?)),*]
    };
    (one $name:literal) => { gallery!(one $name with "data.csv") };
    (one $name:literal with $($file:literal)+) => {
        Shipped {
            name: concat!("gallery/", $name),
            text: include_str!(concat!("../gallery/", $name, "/problem.toml")),
            files: &[$(($file, include_bytes!(concat!("../gallery/", $name, "/", $file)))),+],
        }
    };
}

/// Problems as people bring them: own units, noisy data in files, nothing but the textbook's statement.
pub const GALLERY: &[Shipped] = gallery![
    "allee-front",
    "allen-cahn",
    "arrhenius" with "data-cool.csv" "data-hot.csv" "data-warm.csv",
    "beam",
    "beam-ratio",
    "block",
    "brinkman-slip",
    "brusselator-1d",
    "burgers-shock",
    "cahn-hilliard",
    "channel-slip",
    "cube-3d",
    "daphnia" with "data-extreme.csv" "data-high.csv" "data-low.csv" "data-middle.csv",
    "dipole",
    "drug-release",
    "drying",
    "excitable-medium",
    "fitzhugh-nagumo",
    "flip-flop",
    "gel-profile",
    "gene-switch",
    "glucose",
    "gray-scott",
    "growth-lag",
    "heat-wave-rod",
    "helmholtz-room",
    "hidden-heater",
    "hindmarsh-rose",
    "kdv",
    "kiln-unaware",
    "kovasznay",
    "kuramoto-sivashinsky",
    "lorenz",
    "lotka-volterra",
    "membrane",
    "michaelis-menten",
    "outbreak-gap",
    "pendulum",
    "permeation",
    "plate-cooling",
    "plate-reader",
    "plate-source",
    "plucked-string",
    "predator-prey-space",
    "quench-flux",
    "radiating-rod",
    "radiation",
    "river-tracer",
    "robertson",
    "roessler",
    "saturated",
    "schnakenberg",
    "second-sound",
    "seir-counts",
    "soil-moisture",
    "sounding",
    "spring-dropouts",
    "swift-hohenberg",
    "thermo-elastic" with "data.csv" "gauge.csv",
    "tracer-counts" with "data.csv" "strips.csv",
    "traffic" with "data.csv" "flow.csv",
    "tube-bubbles",
    "tube-optimist",
    "tube-twice",
    "tube-unaware",
    "tumour-few",
    "two-compartment",
    "two-layers",
    "van-der-pol",
    "wall-convection",
    "wound-closure",
];

#[cfg(test)]
mod tests {
    use super::GALLERY;

    #[test]
    fn every_problem_of_the_gallery_is_there() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/gallery");
        let folders = std::fs::read_dir(folder).expect("the gallery").flatten();
        let names = folders.filter(|entry| entry.path().join("problem.toml").exists());
        let mut names: Vec<String> =
            names.map(|entry| format!("gallery/{}", entry.file_name().to_string_lossy())).collect();
        names.sort();
        assert_eq!(GALLERY.iter().map(|shipped| shipped.name).collect::<Vec<_>>(), names);
    }
}
