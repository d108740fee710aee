//! Colours, and maps from numbers to them.

/// Red, green and blue, each from 0 to 255 (sRGB).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour(pub(crate) [u8; 3]);

/// Paper; a page that is dark has other colours in place of this and the next three (`report.css`).
pub(crate) const WHITE: Colour = Colour([255; 3]);
/// Names and titles.
pub(crate) const INK: Colour = Colour([0x1d, 0x21, 0x29]);
/// Axes and their numbers.
pub(crate) const SOFT: Colour = Colour([0x5c, 0x64, 0x70]);
/// Lines behind all else.
pub(crate) const GRID: Colour = Colour([0xec, 0xee, 0xf1]);

/// Colours of lines that are told apart with any kind of colour vision, and on grey (Okabe and Ito 2008).
pub(crate) const LINES: [Colour; 6] = [
    Colour([213, 94, 0]),
    Colour([0, 114, 178]),
    Colour([0, 158, 115]),
    Colour([230, 159, 0]),
    Colour([204, 121, 167]),
    Colour([86, 180, 233]),
];

/// The map viridis of Smith and van der Walt as polynomials of degree 6 in each channel (a least-squares fit by M.
/// Zucker), nowhere more than 4/255 from the table. Lightness rises uniformly.
const VIRIDIS: [[f64; 3]; 7] = [
    [0.277_727_3, 0.005_407_3, 0.334_099_8],
    [0.105_093_0, 1.404_613_5, 1.384_590_2],
    [-0.330_861_8, 0.214_847_6, 0.095_095_2],
    [-4.634_230_5, -5.799_101_0, -19.332_441_0],
    [6.228_269_9, 14.179_933_4, 56.690_552_6],
    [4.776_385_0, -13.745_145_4, -65.353_032_6],
    [-5.435_455_9, 4.645_852_6, 26.312_435_2],
];

impl Colour {
    /// `#rrggbb`
    pub(crate) fn hex(self) -> String {
        let [r, g, b] = self.0;
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    /// So much of this colour over another.
    pub(crate) fn over(self, below: Colour, opacity: f64) -> Colour {
        let mix = |(above, below): (u8, u8)| {
            byte((opacity * f64::from(above) + (1.0 - opacity) * f64::from(below)) / 255.0)
        };
        let [r, g, b] = [0, 1, 2].map(|channel| mix((self.0[channel], below.0[channel])));
        Colour([r, g, b])
    }
}

/// From dark violet at 0 to yellow at 1.
pub(crate) fn viridis(t: f64) -> Colour {
    let t = t.clamp(0.0, 1.0);
    let channel = |c: usize| VIRIDIS.iter().rev().fold(0.0, |sum, coefficients| sum * t + coefficients[c]);
    Colour([0, 1, 2].map(|c| byte(channel(c))))
}

/// From blue at 0 over nearly white in the middle to red at 1. Between its ends and the middle the map is straight in
/// Oklab (Ottosson 2020), so that lightness rises and falls uniformly.
pub(crate) fn diverging(t: f64) -> Colour {
    // Lightness, green to red, blue to yellow.
    const BLUE: [f64; 3] = [0.43, -0.03, -0.14];
    const MIDDLE: [f64; 3] = [0.97, 0.0, 0.0];
    const RED: [f64; 3] = [0.43, 0.14, 0.07];
    let away = (2.0 * t.clamp(0.0, 1.0) - 1.0).abs();
    let end = if t < 0.5 { BLUE } else { RED };
    from_oklab([0, 1, 2].map(|c| MIDDLE[c] + away * (end[c] - MIDDLE[c])))
}

/// A colour of Oklab in sRGB, by Ottosson's matrices.
fn from_oklab([l, a, b]: [f64; 3]) -> Colour {
    let cone = |x: f64, y: f64| (l + x * a + y * b).powi(3);
    let (l, m, s) = (
        cone(0.396_337_777_4, 0.215_803_757_3),
        cone(-0.105_561_345_8, -0.063_854_172_8),
        cone(-0.089_484_177_5, -1.291_485_548_0),
    );
    let linear = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
    ];
    Colour(linear.map(|c| match c {
        c if c <= 0.003_130_8 => byte(12.92 * c),
        c => byte(1.055 * c.powf(1.0 / 2.4) - 0.055),
    }))
}

/// From black at 0 to white at 1.
pub(crate) fn grey(t: f64) -> Colour {
    Colour([byte(t); 3])
}

/// A share of full brightness.
fn byte(share: f64) -> u8 {
    (255.0 * share.clamp(0.0, 1.0)).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of matplotlib at every fifth.
    #[test]
    fn viridis_is_near_its_table() {
        let table =
            [[68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37]];
        for (fifth, expected) in table.into_iter().enumerate() {
            let found = viridis(fifth as f64 / 5.0).0;
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((i32::from(found) - expected).abs() <= 4, "{fifth}: {found}, {expected}");
            }
        }
    }

    /// L* of CIE 1976.
    fn lightness(colour: Colour) -> f64 {
        let linear = |c: u8| match f64::from(c) / 255.0 {
            c if c <= 0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        };
        let [r, g, b] = colour.0.map(linear);
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        if y > 0.008_856 { 116.0 * y.cbrt() - 16.0 } else { 903.3 * y }
    }

    /// Within three of a hundred, most of it by rounding and the fit.
    #[test]
    fn the_lightness_of_viridis_rises_uniformly() {
        let [dark, bright] = [0.0, 1.0].map(|t| lightness(viridis(t)));
        for i in 0..=50 {
            let t = f64::from(i) / 50.0;
            let (found, line) = (lightness(viridis(t)), dark + t * (bright - dark));
            assert!((found - line).abs() < 3.0, "at {t}: {found}, {line}");
        }
    }

    /// Both arms are equally dark at the same distance from the middle, and darker farther out.
    #[test]
    fn the_diverging_map_is_balanced() {
        let [mut below, mut above] = [101.0; 2];
        for i in 0..=20 {
            let away = f64::from(i) / 40.0;
            let [left, right] = [0.5 - away, 0.5 + away].map(|t| lightness(diverging(t)));
            assert!((left - right).abs() < 6.0, "at {away}: {left}, {right}");
            assert!(left < below && right < above, "at {away}");
            (below, above) = (left, right);
        }
        let Colour([r, g, b]) = diverging(0.5);
        assert!(r == g && g == b && r > 240, "the middle is nearly white");
    }

    #[test]
    fn maps_stay_at_their_ends_and_colours_mix() {
        assert_eq!(viridis(-1.0), viridis(0.0));
        assert_eq!(viridis(7.0), viridis(1.0));
        assert_eq!(grey(0.5), Colour([128; 3]));
        assert_eq!(Colour([255, 0, 16]).over(WHITE, 0.5), Colour([255, 128, 136]));
        assert_eq!(Colour([255, 0, 16]).hex(), "#ff0010");
    }
}
