//! Images in PNG: a header, the rows packed by zlib, an end; each with its checksum.

use super::colour::Colour;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

/// An image of rows from top to bottom, eight bits per channel.
pub(crate) fn encode(width: usize, pixels: &[Colour]) -> Vec<u8> {
    let height = pixels.len() / width;
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = vec![];
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    // Eight bits, red green blue, and the only methods of packing, filtering and ordering by rows.
    header.extend([8, 2, 0, 0, 0]);
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"IDAT", &packed(width, pixels));
    chunk(&mut file, b"IEND", &[]);
    file
}

/// Each row as differences from the pixel before (filter 1): smooth images pack better so.
fn packed(width: usize, pixels: &[Colour]) -> Vec<u8> {
    let mut rows = Vec::with_capacity(3 * pixels.len() + pixels.len() / width);
    for row in pixels.chunks_exact(width) {
        rows.push(1);
        let mut before = [0_u8; 3];
        for Colour(pixel) in row {
            rows.extend(pixel.iter().zip(before).map(|(now, before)| now.wrapping_sub(before)));
            before = *pixel;
        }
    }
    let mut zlib = ZlibEncoder::new(vec![], Compression::default());
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
        let pixels: Vec<Colour> = (0..12).map(|i| Colour([20 * i, 255 - i, i * i])).collect();
        let file = encode(4, &pixels);
        let chunks = chunks(&file);
        let kinds: Vec<&str> = chunks.iter().map(|(kind, ..)| kind.as_str()).collect();
        assert_eq!(kinds, ["IHDR", "IDAT", "IEND"]);
        assert_eq!(chunks[0].1, [0, 0, 0, 4, 0, 0, 0, 3, 8, 2, 0, 0, 0]);
        // That of every PNG file.
        assert_eq!(chunks[2].2, 0xae42_6082);
        let mut rows = vec![];
        flate2::read::ZlibDecoder::new(&chunks[1].1[..]).read_to_end(&mut rows).expect("zlib");
        for (row, pixels) in rows.chunks_exact(13).zip(pixels.chunks_exact(4)) {
            assert_eq!(row[0], 1);
            let mut pixel = [0_u8; 3];
            for (difference, Colour(expected)) in row[1..].chunks_exact(3).zip(pixels) {
                pixel = [0, 1, 2].map(|c| pixel[c].wrapping_add(difference[c]));
                assert_eq!(pixel, *expected);
            }
        }
    }
}
