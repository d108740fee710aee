//! Images in PNG: a header, the colours, the rows packed by zlib, an end; each with its checksum.

use super::colour::Colour;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

/// An image of rows from top to bottom: shares of a map of colours, cut at 0 and 1. What is not a number is transparent.
/// There are so many colours, from 2 to 255.
pub(crate) fn encode(width: usize, shares: &[f64], colours: u8, map: fn(f64) -> Colour) -> Vec<u8> {
    let height = shares.len() / width;
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let size = [width, height].map(|side| (side as u32).to_be_bytes());
    // Eight bits, places in a table, and the only methods of packing, filtering and ordering by rows.
    chunk(&mut file, b"IHDR", &[&size.concat()[..], &[8, 3, 0, 0, 0]].concat());
    let last = f64::from(colours - 1);
    let all = (0..colours).map(|i| map(f64::from(i) / last));
    // The first place is for holes.
    let table: Vec<u8> = std::iter::once(Colour([255; 3])).chain(all).flat_map(|colour| colour.0).collect();
    chunk(&mut file, b"PLTE", &table);
    chunk(&mut file, b"tRNS", &[0]);
    let place = |share: &f64| match share.is_nan() {
        true => 0,
        false => 1 + (share.clamp(0.0, 1.0) * last).round() as u8,
    };
    let pixels: Vec<u8> = shares.iter().map(place).collect();
    chunk(&mut file, b"IDAT", &packed(width, &pixels));
    chunk(&mut file, b"IEND", &[]);
    file
}

/// Each row as differences from the pixel before (filter 1): smooth images pack better so.
fn packed(width: usize, pixels: &[u8]) -> Vec<u8> {
    let mut rows = Vec::with_capacity(pixels.len() + pixels.len() / width);
    for row in pixels.chunks_exact(width) {
        rows.push(1);
        let before = std::iter::once(&0).chain(row);
        rows.extend(row.iter().zip(before).map(|(now, before)| now.wrapping_sub(*before)));
    }
    let mut zlib = ZlibEncoder::new(vec![], Compression::best());
    zlib.write_all(&rows).and_then(|()| zlib.finish()).expect("writing to memory does not fail")
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], content: &[u8]) {
    file.extend((content.len() as u32).to_be_bytes());
    let mut checked = kind.to_vec();
    checked.extend(content);
    let mut crc = flate2::Crc::new();
    crc.update(&checked);
    file.extend(checked);
    file.extend(crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::colour::grey;
    use std::io::Read;

    /// The chunks of a file, each with its checksum.
    fn chunks(mut rest: &[u8]) -> Vec<(String, Vec<u8>, u32)> {
        let mut found = vec![];
        rest = &rest[8..];
        while !rest.is_empty() {
            let number = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let length = number(rest) as usize;
            let kind = String::from_utf8(rest[4..8].to_vec()).expect("letters");
            found.push((kind, rest[8..8 + length].to_vec(), number(&rest[8 + length..])));
            rest = &rest[12 + length..];
        }
        found
    }

    #[test]
    fn an_image_comes_back() {
        let shares = [0.0, 0.5, 1.0, f64::NAN, -3.0, 7.0];
        let file = encode(3, &shares, 255, grey);
        let chunks = chunks(&file);
        let kinds: Vec<&str> = chunks.iter().map(|(kind, ..)| kind.as_str()).collect();
        assert_eq!(kinds, ["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
        assert_eq!(chunks[0].1, [0, 0, 0, 3, 0, 0, 0, 2, 8, 3, 0, 0, 0]);
        // That of every PNG file.
        assert_eq!(chunks[4].2, 0xae42_6082);
        let mut rows = vec![];
        flate2::read::ZlibDecoder::new(&chunks[3].1[..]).read_to_end(&mut rows).expect("zlib");
        let mut pixels = vec![];
        for row in rows.chunks_exact(4) {
            assert_eq!(row[0], 1);
            let before = |sum: &mut u8, difference: &u8| {
                *sum = sum.wrapping_add(*difference);
                Some(*sum)
            };
            pixels.extend(row[1..].iter().scan(0_u8, before));
        }
        assert_eq!(pixels, [1, 128, 255, 0, 1, 255]);
        let table = &chunks[1].1;
        assert_eq!([table[3], table[3 * 128], table[3 * 255]], [0, 128, 255]);
    }
}
