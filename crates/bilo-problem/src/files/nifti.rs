//! Images in the format NIfTI-1, one file each: `.nii`, and `.nii.gz` compressed.
//!
//! Read by hand: files come from anywhere, and a damaged or hostile header must give an error, not a panic or
//! an allocation of any size.

use flate2::read::MultiGzDecoder;
use std::io::{self, ErrorKind, Read};

/// Bytes of the header.
const HEADER: usize = 348;

/// Most voxels of an image.
pub const MOST_VOXELS: usize = 512 * 512 * 512;

/// Most bytes before the voxels: extensions of the header are skipped.
const MOST_BEFORE: f64 = (1 << 24) as f64;

/// An axis of the image that leaves its axis of space by more than this part is rotated.
const ALIGNED: f64 = 1e-4;

/// Why bytes are no image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NiftiError(String);

type Result<T> = std::result::Result<T, NiftiError>;

fn error<T>(why: impl Into<String>) -> Result<T> {
    Err(NiftiError(why.into()))
}

/// An image along the axes x, y, z of space: an axis that it runs along backwards, or in another order, is
/// turned round.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Voxels along x, y and z.
    pub shape: [usize; 3],
    /// The centre of the first voxel.
    pub origin: [f64; 3],
    /// The distance of neighbouring voxels, positive.
    pub spacing: [f64; 3],
    /// The values, scaled as the header says, z running fastest.
    pub data: Vec<f64>,
}

impl Image {
    /// Reads the content of a file, compressed or not.
    pub fn from_bytes(bytes: &[u8]) -> Result<Image> {
        if bytes.starts_with(&[0x1f, 0x8b]) {
            Image::read(&mut MultiGzDecoder::new(bytes))
        } else {
            Image::read(&mut &bytes[..])
        }
    }

    fn read(file: &mut impl Read) -> Result<Image> {
        let mut bytes = [0; HEADER];
        file.read_exact(&mut bytes).map_err(|why| damaged(&why, "no NIfTI image: it is too short"))?;
        let header = Header::new(&bytes)?;
        let (shape, kind) = (header.shape()?, Kind::of(header.short(70))?);
        let placement = Placement::new(shape, header.affine())?;
        skip(file, header.single(108))?;
        let data = read_voxels(file, shape.iter().product(), kind, header.big)?;
        let (slope, inter) = (header.single(112), header.single(116));
        let scaled = slope != 0.0 && slope.is_finite() && inter.is_finite();
        let data = data.into_iter().map(|value| if scaled { slope * value + inter } else { value }).collect();
        Ok(placement.image(shape, data))
    }
}

fn damaged(why: &io::Error, cut_off: &str) -> NiftiError {
    match why.kind() {
        ErrorKind::UnexpectedEof => NiftiError(cut_off.to_owned()),
        _ => NiftiError(format!("damaged: {why}")),
    }
}

/// Skips what lies between the header and the voxels, which begin at `offset`.
fn skip(file: &mut impl Read, offset: f64) -> Result<()> {
    if !(HEADER as f64..=MOST_BEFORE).contains(&offset) {
        return error(format!("damaged: the voxels cannot begin at byte {offset}"));
    }
    let mut between = file.take(offset as u64 - HEADER as u64);
    io::copy(&mut between, &mut io::sink()).map_err(|why| damaged(&why, "cut off"))?;
    Ok(())
}

fn read_voxels(file: &mut impl Read, count: usize, kind: Kind, big: bool) -> Result<Vec<f64>> {
    let wanted = count * kind.size();
    // Grows with what is there, whatever the header promises.
    let mut bytes = vec![];
    let cut_off = |bytes: &[u8]| format!("cut off: it has {} of {count} voxels", bytes.len() / kind.size());
    if let Err(why) = file.take(wanted as u64).read_to_end(&mut bytes) {
        return Err(damaged(&why, &cut_off(&bytes)));
    }
    if bytes.len() < wanted {
        return error(cut_off(&bytes));
    }
    // At the end of a compressed file its checksum is looked at.
    file.read(&mut [0]).map_err(|why| damaged(&why, "cut off"))?;
    Ok(bytes.chunks_exact(kind.size()).map(|item| kind.number(item, big)).collect())
}

/// The header's bytes, which are right in their first fields.
struct Header<'a> {
    bytes: &'a [u8; HEADER],
    big: bool,
}

impl<'a> Header<'a> {
    fn new(bytes: &'a [u8; HEADER]) -> Result<Self> {
        let size = [bytes[0], bytes[1], bytes[2], bytes[3]];
        let big = match (u32::from_le_bytes(size), u32::from_be_bytes(size)) {
            (348, _) => false,
            (_, 348) => true,
            (540, _) | (_, 540) => return error("an image of the format NIfTI-2, save it as NIfTI-1"),
            _ => return error("no NIfTI image"),
        };
        match &bytes[344..] {
            b"n+1\0" => Ok(Self { bytes, big }),
            b"ni1\0" => error("the header of a pair of files, save the image as one file"),
            _ => error("no NIfTI image"),
        }
    }

    fn short(&self, at: usize) -> i16 {
        let bytes = [self.bytes[at], self.bytes[at + 1]];
        if self.big { i16::from_be_bytes(bytes) } else { i16::from_le_bytes(bytes) }
    }

    fn single(&self, at: usize) -> f64 {
        let bytes = [0, 1, 2, 3].map(|i| self.bytes[at + i]);
        f64::from(if self.big { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) })
    }

    fn singles<const N: usize>(&self, at: usize) -> [f64; N] {
        std::array::from_fn(|i| self.single(at + 4 * i))
    }

    fn shape(&self) -> Result<[usize; 3]> {
        let dimensions = self.short(40);
        if !(1..=7).contains(&dimensions) {
            return error(format!("damaged: it cannot have {dimensions} dimensions"));
        }
        let mut lengths = [1_usize; 7];
        for (axis, length) in lengths.iter_mut().enumerate().take(dimensions as usize) {
            let found = self.short(42 + 2 * axis);
            *length = usize::try_from(found).unwrap_or(0);
            if *length == 0 {
                return error(format!("damaged: it cannot have {found} voxels along an axis"));
            }
        }
        let shape = [lengths[0], lengths[1], lengths[2]];
        if lengths[3..].iter().any(|&length| length > 1) {
            let shape = &lengths[..dimensions as usize];
            return error(format!("an image of shape {shape:?}, save one image in space by itself"));
        }
        // Lengths are below 2^15, so the product of three is no overflow.
        if shape.iter().product::<usize>() > MOST_VOXELS {
            return error(format!("an image of shape {shape:?}, more than the {MOST_VOXELS} voxels allowed"));
        }
        Ok(shape)
    }

    /// Rows of the map from voxels to places: the sform, else the qform, else the distances alone.
    fn affine(&self) -> [[f64; 4]; 3] {
        if self.short(254) > 0 {
            return [280, 296, 312].map(|at| self.singles(at));
        }
        let [handed, h_x, h_y, h_z] = self.singles(76);
        if self.short(252) <= 0 {
            return [[h_x, 0.0, 0.0, 0.0], [0.0, h_y, 0.0, 0.0], [0.0, 0.0, h_z, 0.0]];
        }
        let ([b, c, d], offset): ([f64; 3], [f64; 3]) = (self.singles(256), self.singles(268));
        let a = (1.0 - (b * b + c * c + d * d)).max(0.0).sqrt();
        let rotation = [
            [a * a + b * b - c * c - d * d, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)],
            [2.0 * (b * c + a * d), a * a + c * c - b * b - d * d, 2.0 * (c * d - a * b)],
            [2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a + d * d - b * b - c * c],
        ];
        let h = [h_x, h_y, if handed < 0.0 { -h_z } else { h_z }];
        std::array::from_fn(|row| {
            let [r_x, r_y, r_z] = rotation[row];
            [r_x * h[0], r_y * h[1], r_z * h[2], offset[row]]
        })
    }
}

/// Which axis of space each axis of the voxels runs along, and where.
struct Placement {
    /// The axis of the voxels that runs along x, y and z.
    along: [usize; 3],
    /// The signed distances of neighbouring voxels along x, y and z.
    steps: [f64; 3],
    /// The centre of voxel (0, 0, 0).
    first: [f64; 3],
}

impl Placement {
    fn new(shape: [usize; 3], affine: [[f64; 4]; 3]) -> Result<Self> {
        let mut taken: [Option<(usize, f64)>; 3] = [None; 3];
        for axis in (0..3).filter(|&axis| shape[axis] > 1) {
            let column = [0, 1, 2].map(|row| affine[row][axis]);
            let largest = column.iter().fold(0.0_f64, |largest, step| largest.max(step.abs()));
            if !(largest > 0.0 && largest.is_finite()) {
                return error("damaged: its voxels have no distance");
            }
            let aligned: Vec<usize> = (0..3).filter(|&row| column[row].abs() > ALIGNED * largest).collect();
            match aligned[..] {
                [row] if taken[row].is_none() => taken[row] = Some((axis, column[row])),
                _ => return error("rotated against the axes of space, resample it along them"),
            }
        }
        let first = affine.map(|row| row[3]);
        if !first.iter().all(|place| place.is_finite()) {
            return error("damaged: its place is not finite");
        }
        // Axes with one voxel take the places that are left.
        let mut left = (0..3).filter(|&axis| shape[axis] == 1);
        let mut or_left = |row: usize| taken[row].unwrap_or_else(|| (left.next().expect("as many"), 1.0));
        let pairs = [or_left(0), or_left(1), or_left(2)];
        Ok(Self { along: pairs.map(|(axis, _)| axis), steps: pairs.map(|(_, step)| step), first })
    }

    /// The image of voxels whose first axis runs fastest.
    fn image(&self, shape: [usize; 3], data: Vec<f64>) -> Image {
        let strides = [1, shape[0], shape[0] * shape[1]];
        let turned = self.along.map(|axis| shape[axis]);
        // The voxel at place i along an axis of space, in the order of the file.
        let at = |row: usize, i: usize| {
            let voxel = if self.steps[row] < 0.0 { turned[row] - 1 - i } else { i };
            voxel * strides[self.along[row]]
        };
        let mut values = Vec::with_capacity(data.len());
        for i in 0..turned[0] {
            for j in 0..turned[1] {
                let line = at(0, i) + at(1, j);
                values.extend((0..turned[2]).map(|k| data[line + at(2, k)]));
            }
        }
        let lowest = |row: usize| {
            let last = (turned[row] - 1) as f64 * self.steps[row];
            self.first[row] + last.min(0.0)
        };
        Image {
            shape: turned,
            origin: [0, 1, 2].map(lowest),
            spacing: self.steps.map(f64::abs),
            data: values,
        }
    }
}

/// The type of a voxel.
#[derive(Clone, Copy)]
enum Kind {
    U8,
    I16,
    U16,
    I32,
    F32,
    F64,
}

impl Kind {
    fn of(code: i16) -> Result<Self> {
        Ok(match code {
            2 => Kind::U8,
            4 => Kind::I16,
            8 => Kind::I32,
            16 => Kind::F32,
            64 => Kind::F64,
            512 => Kind::U16,
            _ => return error(format!("voxels of type {code} are not supported, save floats or integers")),
        })
    }

    fn size(self) -> usize {
        match self {
            Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::F32 => 4,
            Kind::F64 => 8,
        }
    }

    fn number(self, item: &[u8], big: bool) -> f64 {
        let byte = |raw: u64, byte: &u8| (raw << 8) | u64::from(*byte);
        let raw = if big { item.iter().fold(0, byte) } else { item.iter().rev().fold(0, byte) };
        match self {
            Kind::U8 | Kind::U16 => raw as f64,
            Kind::I16 => f64::from(raw as u16 as i16),
            Kind::I32 => f64::from(raw as u32 as i32),
            Kind::F32 => f64::from(f32::from_bits(raw as u32)),
            Kind::F64 => f64::from_bits(raw),
        }
    }
}
