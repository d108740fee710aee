//! Images as given fields: what files say, and what is wrong with them.

use crate::arrays;

use arrays::{Order, npy, npz};
use bilo::nifti::Image;
use bilo::problem::{Overrides, Problem};
use bilo::spline::Interpolation;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::io::Write;

/// What a NIfTI file of the tests says.
#[derive(Clone)]
struct Nifti {
    big: bool,
    shape: Vec<i16>,
    kind: i16,
    slope: (f32, f32),
    sform: Option<[[f32; 4]; 3]>,
    qform: Option<([f32; 6], f32)>,
    spacing: [f32; 3],
    voxels: Vec<u8>,
}

impl Nifti {
    /// Voxels of type u8, 1 mm apart.
    fn new(shape: &[i16], voxels: Vec<u8>) -> Self {
        let sform = Some([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
        let (slope, spacing) = ((0.0, 0.0), [1.0; 3]);
        Self { big: false, shape: shape.to_vec(), kind: 2, slope, sform, qform: None, spacing, voxels }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut header = vec![0; 352];
        let mut put = |at: usize, little: &[u8]| {
            let mut bytes = little.to_vec();
            if self.big {
                bytes.reverse();
            }
            header[at..at + bytes.len()].copy_from_slice(&bytes);
        };
        put(0, &348_i32.to_le_bytes());
        put(40, &(self.shape.len() as i16).to_le_bytes());
        self.shape.iter().enumerate().for_each(|(i, n)| put(42 + 2 * i, &n.to_le_bytes()));
        put(70, &self.kind.to_le_bytes());
        put(76, &self.qform.map_or(1.0, |(_, handed)| handed).to_le_bytes());
        self.spacing.iter().enumerate().for_each(|(i, h)| put(80 + 4 * i, &h.to_le_bytes()));
        put(108, &352_f32.to_le_bytes());
        put(112, &self.slope.0.to_le_bytes());
        put(116, &self.slope.1.to_le_bytes());
        put(252, &i16::from(self.qform.is_some()).to_le_bytes());
        put(254, &i16::from(self.sform.is_some()).to_le_bytes());
        for (i, number) in self.qform.map_or([0.0; 6], |(numbers, _)| numbers).iter().enumerate() {
            put(256 + 4 * i, &number.to_le_bytes());
        }
        for (i, number) in self.sform.unwrap_or_default().iter().flatten().enumerate() {
            put(280 + 4 * i, &number.to_le_bytes());
        }
        header[344..348].copy_from_slice(b"n+1\0");
        [header, self.voxels.clone()].concat()
    }

    fn image(&self) -> Image {
        Image::from_bytes(&self.bytes()).unwrap()
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The first axis of a file runs fastest; compressed or not, it is the same image.
#[test]
fn voxels_lie_where_the_header_says() {
    let mut nifti = Nifti::new(&[2, 3], vec![1, 2, 3, 4, 5, 6]);
    nifti.sform = Some([[2.0, 0.0, 0.0, -3.0], [0.0, 0.5, 0.0, 7.0], [0.0, 0.0, 1.0, 24.0]]);
    let image = nifti.image();
    assert_eq!(image.shape, [2, 3, 1]);
    assert_eq!((image.origin, image.spacing), ([-3.0, 7.0, 24.0], [2.0, 0.5, 1.0]));
    assert_eq!(image.data, [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    assert_eq!(Image::from_bytes(&gzip(&nifti.bytes())).unwrap(), image);
}

/// An axis that runs backwards, and axes in another order, are turned to x, y, z.
#[test]
fn flipped_and_swapped_axes_are_turned_round() {
    let mut nifti = Nifti::new(&[2, 3], vec![1, 2, 3, 4, 5, 6]);
    nifti.sform = Some([[-1.0, 0.0, 0.0, 10.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
    let flipped = nifti.image();
    assert_eq!((flipped.origin[0], &flipped.data[..]), (9.0, &[2.0, 4.0, 6.0, 1.0, 3.0, 5.0][..]));
    nifti.sform = Some([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
    let swapped = nifti.image();
    assert_eq!((swapped.shape, &swapped.data[..]), ([3, 2, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..]));
}

/// By the quaternion (half a turn around z: x and y backwards), and by the distances alone.
#[test]
fn images_without_an_sform_are_placed_too() {
    let mut nifti = Nifti::new(&[2, 3], vec![1, 2, 3, 4, 5, 6]);
    (nifti.sform, nifti.spacing) = (None, [0.5, 2.0, 1.0]);
    nifti.qform = Some(([0.0, 0.0, 1.0, 1.0, 2.0, 3.0], 1.0));
    let turned = nifti.image();
    assert_eq!((turned.origin, turned.spacing), ([0.5, -2.0, 3.0], [0.5, 2.0, 1.0]));
    assert_eq!(turned.data, [6.0, 4.0, 2.0, 5.0, 3.0, 1.0]);
    nifti.qform = None;
    assert_eq!((nifti.image().origin, nifti.image().spacing), ([0.0; 3], [0.5, 2.0, 1.0]));
}

/// Every type in both orders of bytes, and the header's scale.
#[test]
fn numbers_of_all_types_are_read() {
    let of = |kind: i16, little: [Vec<u8>; 2], big: bool| {
        let turn = |bytes: Vec<u8>| if big { bytes.into_iter().rev().collect() } else { bytes };
        let voxels = little.map(turn).concat();
        Nifti { kind, big, ..Nifti::new(&[2], voxels) }.image().data
    };
    for big in [false, true] {
        assert_eq!(of(2, [7_u8, 200].map(|v| v.to_le_bytes().to_vec()), big), [7.0, 200.0]);
        assert_eq!(of(4, [7_i16, -300].map(|v| v.to_le_bytes().to_vec()), big), [7.0, -300.0]);
        assert_eq!(of(512, [7_u16, 60_000].map(|v| v.to_le_bytes().to_vec()), big), [7.0, 60_000.0]);
        assert_eq!(of(8, [7_i32, -70_000].map(|v| v.to_le_bytes().to_vec()), big), [7.0, -70_000.0]);
        assert_eq!(of(16, [0.5_f32, -1e9].map(|v| v.to_le_bytes().to_vec()), big), [0.5, -1e9]);
        assert_eq!(of(64, [0.1_f64, 1e200].map(|v| v.to_le_bytes().to_vec()), big), [0.1, 1e200]);
    }
    let scaled = Nifti { slope: (0.5, -1.0), ..Nifti::new(&[2], vec![0, 4]) };
    assert_eq!(scaled.image().data, [-1.0, 1.0]);
}

const PLANE: &str = r#"
name = "plane"
[coordinates]
x = [0.0, 4.0]
y = [0.0, 3.0]
[given]
P = { file = "FILE" }
[unknown.D]
guess = 1.0
truth = 2.0
[state.u]
form = "net*x*(4-x)*y*(3-y)"
[equation.balance]
residual = "P*D*lap(u) + 1"
points = { grid = { x = 5, y = 5 }, where = "P > -1e6" }
[observation.all]
data = { synthetic = { grid = { x = 5, y = 5 } } }
[classical]
cells = 8
"#;

fn read(file: &str, bytes: &[u8], stated: &str) -> Result<Problem, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), bytes).unwrap();
    let given = format!("{{ file = \"{file}\"{stated} }}");
    let text = PLANE.replace("{ file = \"FILE\" }", &given);
    Problem::from_toml("plane.toml", &text, folder.path(), &Overrides::default()).map_err(|e| e.to_string())
}

/// 10 x + y at the nodes 0..=5 x 0..=4, which are more than the domain.
fn values() -> Vec<f64> {
    (0..6).flat_map(|x| (0..5).map(move |y| f64::from(10 * x + y))).collect()
}

/// The field at (2.5, 1.25), which is 26.25 for a field that is linear.
fn at(problem: &Problem) -> f64 {
    problem.given[0].at(&[vec![2.5], vec![1.25]], &[0, 0])[0]
}

/// The same field by every format and every way to say where its nodes are.
#[test]
fn every_format_gives_the_same_field() {
    let (x, y) = ((0..6).map(f64::from).collect::<Vec<_>>(), (0..5).map(f64::from).collect::<Vec<_>>());
    let down: Vec<f64> = y.iter().rev().copied().collect();
    let flipped: Vec<f64> = values().chunks(5).flat_map(|line| line.iter().rev().copied()).collect();
    let turned: Vec<f64> = (0..5).flat_map(|y| (0..6).map(move |x| f64::from(10 * x + y))).collect();
    let voxels = turned.iter().map(|&v| v as u8).collect();
    let nifti = Nifti::new(&[6, 5, 1], voxels).bytes();
    let keys = ", origin = [0, 0], spacing = [1, 1]";
    let cases = [
        ("p.npy", npy("<f8", Order::C, &[6, 5], &values()), keys),
        (
            "p.npy",
            npy("<f8", Order::C, &[5, 6], &turned),
            ", of = [\"y\", \"x\"], origin = [0, 0], spacing = [1, 1]",
        ),
        ("p.npy", npy("<f8", Order::C, &[6, 1, 5], &values()), keys),
        ("p.npz", npz(&[("P", &[6, 5], &values()), ("x", &[6], &x), ("y", &[5], &y)]), ""),
        ("p.npz", npz(&[("Q", &[6, 5], &flipped), ("x", &[6], &x), ("y", &[5], &down)]), ", array = \"Q\""),
        ("p.nii", nifti.clone(), ""),
        ("p.nii", nifti.clone(), keys),
        ("p.nii.gz", gzip(&nifti), ", range = [0, 60], interpolation = \"linear\""),
    ];
    for (file, bytes, stated) in cases {
        let problem = read(file, &bytes, stated).unwrap_or_else(|error| panic!("{file}{stated}: {error}"));
        assert!((at(&problem) - 26.25).abs() < 1e-12, "{file}{stated}: {}", at(&problem));
        assert_eq!(problem.given[0].range, (0.0, 54.0));
    }
    let spread = read("p.npy", &npy("<f8", Order::C, &[6, 5], &values()), "").unwrap();
    let expected = 10.0 * 2.5 / 0.8 + 1.25 / 0.75;
    assert!((at(&spread) - expected).abs() < 1e-12, "from end to end of the domain");
    let scaled = read("p.nii", &nifti, ", scale = \"1/255\", interpolation = \"smooth\"").unwrap();
    assert!((at(&scaled) - 26.25 / 255.0).abs() < 1e-14);
    assert_eq!(scaled.given[0].spline.interpolation(), Interpolation::Smooth);
}

/// Each fault of an image is one error that names the file and shows the line.
#[test]
fn every_bad_image_is_one_error_at_its_spot() {
    let nifti = Nifti::new(&[6, 5], vec![1; 30]);
    let array = |shape: &[usize], values: &[f64]| npy("<f8", Order::C, shape, values);
    let mut with_nan = values();
    with_nan[7] = f64::NAN;
    let mut rotated = nifti.clone();
    rotated.sform = Some([[0.8, -0.6, 0.0, 0.0], [0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
    let huge = Nifti { shape: vec![1000, 1000, 1000], ..nifti.clone() };
    let series = Nifti { shape: vec![6, 5, 1, 4], voxels: vec![1; 120], ..nifti.clone() };
    let compressed = gzip(&nifti.bytes());
    let noise = (0..3000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let long = gzip(&Nifti::new(&[60, 50], noise).bytes());
    let mut corrupt = compressed.clone();
    let last = corrupt.len() - 6;
    corrupt[last] ^= 0xff;
    let keys = ", origin = [0, 0], spacing = [1, 1]";
    let cases: Vec<(&str, Vec<u8>, &str, &str)> = vec![
        (
            "p.npy",
            array(&[6, 5, 2], &[values(), values()].concat()),
            keys,
            "p.npy has shape [6, 5, 2], and `P` depends on `x`, `y`",
        ),
        ("p.npy", array(&[30], &values()), keys, "p.npy has shape [30]"),
        ("p.npy", array(&[6, 5], &with_nan), keys, "it has the value NaN at x = 1, y = 2"),
        ("p.npy", array(&[0, 5], &[]), keys, "there are 0 nodes and 0 values"),
        (
            "p.npy",
            array(&[6, 5], &values()),
            ", origin = [0, 0], spacing = [0.5, 1]",
            "its `x` from 0 to 2.5 does not cover [0, 4]",
        ),
        ("p.npy", array(&[6, 5], &values()), ", spacing = [1, 1]", "`spacing` needs `origin` beside it"),
        (
            "p.npy",
            array(&[6, 5], &values()),
            ", origin = [0, 0], spacing = [1, -1]",
            "`spacing` must have 2 positive numbers",
        ),
        ("p.npy", array(&[6, 5], &values()), ", array = \"P\"", "`array` belongs to a file `.npz`"),
        ("p.npy", array(&[6, 5], &values()), ", of = [\"x\", \"z\"]", "there is no coordinate `z`"),
        ("p.npy", array(&[3, 5], &values()[..15]), "", "3 nodes along `x` are too few, 4 are needed"),
        ("p.npz", npz(&[("Q", &[6, 5], &values())]), "", "there is no array `P` in p.npz"),
        (
            "p.npz",
            npz(&[("P", &[6, 5], &values()), ("x", &[6], &values()[..6])]),
            "",
            "p.npz has nodes along `x`, and none along `y`",
        ),
        ("p.npz", b"PK".to_vec(), "", "p.npz: not a NumPy archive, or damaged"),
        (
            "p.nii",
            nifti.bytes(),
            ", origin = [0, 0], spacing = [1, 2]",
            "p.nii has the spacing 1 along `y`, not 2",
        ),
        (
            "p.nii",
            nifti.bytes(),
            ", origin = [-3, 0], spacing = [1, 1]",
            "p.nii has the origin 0 along `x`, not -3",
        ),
        (
            "p.nii",
            nifti.bytes(),
            ", scale = -1, range = [0, 1]",
            "p.nii has the value -1 at x = 0, y = 0, outside [0, 1]",
        ),
        ("p.nii", nifti.bytes()[..360].to_vec(), "", "p.nii: cut off: it has 8 of 30 voxels"),
        ("p.nii", nifti.bytes()[..100].to_vec(), "", "p.nii: no NIfTI image: it is too short"),
        ("p.nii", vec![7; 400], "", "p.nii: no NIfTI image"),
        ("p.nii", rotated.bytes(), "", "p.nii: rotated against the axes of space"),
        (
            "p.nii",
            huge.bytes(),
            "",
            "p.nii: an image of shape [1000, 1000, 1000], more than the 134217728 voxels",
        ),
        (
            "p.nii",
            series.bytes(),
            "",
            "p.nii: an image of shape [6, 5, 1, 4], save one image in space by itself",
        ),
        (
            "p.nii",
            Nifti { kind: 128, ..nifti.clone() }.bytes(),
            "",
            "p.nii: voxels of type 128 are not supported",
        ),
        ("p.nii.gz", long[..long.len() / 2].to_vec(), "", "p.nii.gz: cut off"),
        ("p.nii.gz", compressed[..20].to_vec(), "", "p.nii.gz: no NIfTI image: it is too short"),
        ("p.nii.gz", corrupt, "", "p.nii.gz: damaged: corrupt gzip stream"),
        ("p.tif", vec![], "", "p.tif has no known format"),
        ("p.nii", nifti.bytes(), ", interpolation = \"spline\"", "`interpolation` cannot be `spline`"),
        ("p.nii", nifti.bytes(), ", blur = 1", "unknown key `blur` in [given.P]"),
    ];
    for (file, bytes, stated, expected) in cases {
        let error = read(file, &bytes, stated).expect_err(expected);
        assert!(error.contains(expected), "{expected}: {error}");
        assert_eq!(error.matches("error: ").count(), 1, "{error}");
        assert!(error.contains("plane.toml:7"), "{error}");
    }
    let text = PLANE.replace("FILE", "absent.nii");
    let error =
        Problem::from_toml("plane.toml", &text, std::path::Path::new("/nowhere"), &Overrides::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("cannot read /nowhere/absent.nii") && error.contains("plane.toml:7"), "{error}");
}

/// Diffuse domains in files: the condition is that of the values at the nodes.
#[test]
fn diffuse_domains_are_made_from_images_on_one_grid() {
    let folder = tempfile::tempdir().unwrap();
    let half: Vec<f64> = (0..21).flat_map(|x| vec![f64::from(u8::from(x > 10)); 16]).collect();
    std::fs::write(folder.path().join("p.npy"), npy("<f8", Order::C, &[21, 16], &half)).unwrap();
    std::fs::write(folder.path().join("q.npy"), npy("<f8", Order::C, &[6, 5], &values())).unwrap();
    let read = |phi: &str| {
        let fields = format!("{{ file = \"p.npy\" }}\nQ = {{ file = \"q.npy\" }}\nphi = {phi}\n");
        let text = PLANE.replace("{ file = \"FILE\" }", &fields);
        Problem::from_toml("plane.toml", &text, folder.path(), &Overrides::default())
            .map_err(|e| e.to_string())
    };
    let problem = read("{ diffuse = \"P > 0.5\", width = 0.8, floor = 0.01 }").unwrap();
    let phi = &problem.given[2];
    // The interface lies between the nodes 2.0 and 2.2 of x, where half of the mask has come.
    let found = phi.at(&[vec![0.0, 2.1, 4.0], vec![1.0; 3]], &[0, 0]);
    for (found, expected) in found.iter().zip([0.01, 0.505, 1.0]) {
        assert!((found - expected).abs() < 1e-9, "{found}, {expected}");
    }
    for (phi, expected) in [
        ("{ diffuse = \"P > 0.5\", width = 0.3 }", "`width` must be at least two cells, 0.4, found 0.3"),
        (
            "{ diffuse = \"P + Q > 0.5\", width = 1.0 }",
            "the given fields of this condition are not on one grid",
        ),
        ("{ diffuse = \"P > 2\", width = 1.0 }", "this condition holds nowhere on the grid"),
        (
            "{ diffuse = \"1 > 0\", width = 1.0 }",
            "a diffuse domain is a condition of given fields from files",
        ),
        ("{ diffuse = \"R > 0\", width = 1.0 }", "unknown name `R`"),
        ("{ diffuse = \"P > 0\" }", "missing key `width` in [given.phi]"),
        ("{ diffuse = \"P > 0\", width = 1.0, floor = 1.0 }", "`floor` must be in [0, 1), found 1.0"),
        ("{ diffuse = \"P > 0\", width = 1.0, file = \"p.npy\" }", "unknown key `file` in [given.phi]"),
        ("3", "`given.phi` must be a table, found"),
    ] {
        let error = read(phi).expect_err(expected);
        assert!(error.contains(expected) && error.contains("plane.toml:9"), "{expected}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    /// Whatever is done to a header, there is an image or an error.
    #[test]
    fn no_header_makes_the_reader_panic(
        changes in prop::collection::vec((0..352_usize, any::<u8>()), 0..24),
        length in 0..420_usize,
        compressed in any::<bool>(),
    ) {
        let mut bytes = Nifti::new(&[4, 4, 4], vec![3; 64]).bytes();
        for (place, byte) in changes {
            bytes[place] = byte;
        }
        bytes.truncate(length);
        let bytes = if compressed { gzip(&bytes) } else { bytes };
        if let Ok(image) = Image::from_bytes(&bytes) {
            prop_assert_eq!(image.data.len(), image.shape.iter().product::<usize>());
            prop_assert!(image.spacing.iter().all(|step| *step > 0.0));
        }
    }
}
