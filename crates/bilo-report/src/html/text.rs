//! Numbers and words as HTML.

use crate::markup::{Html, html};
use crate::number::{as_in_print, significant};

/// What stands where there is no number.
pub(super) fn none() -> Html {
    html!("<span class=\"none\">–</span>")
}

/// Six digits, with a power of ten where that is shorter.
pub(super) fn number(value: f64) -> String {
    as_in_print(&significant(value))
}

/// So many digits after the first.
pub(super) fn scientific(value: f64, digits: usize) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-2..1e3).contains(&size) => {
            let before = if size < 1.0 { 0 } else { size.log10().floor() as usize };
            let leading = if size < 1.0 && size > 0.0 { (-size.log10()).ceil() as usize } else { 0 };
            as_in_print(&format!("{value:.*}", (digits + leading).saturating_sub(before)))
        }
        _ => as_in_print(&format!("{value:.digits$e}")),
    }
}

/// A mean and its standard deviation to the same place, with one power of ten for both.
pub(super) fn with_deviation(mean: f64, deviation: f64) -> String {
    if !(deviation > 0.0 && deviation.is_finite() && mean.is_finite()) {
        return scientific(mean, 2);
    }
    let size = mean.abs().max(deviation);
    let power = if (1e-2..1e3).contains(&size) { 0 } else { size.log10().floor() as i32 };
    let unit = 10.0_f64.powi(power);
    let (mean, deviation) = (mean / unit, deviation / unit);
    // Two digits of the deviation, unless it is far too small to see.
    let places = (1.0 - deviation.log10().floor()).clamp(0.0, 6.0) as usize;
    let both = format!("{mean:.places$} ± {deviation:.places$}");
    match power {
        0 => as_in_print(&both),
        _ => as_in_print(&format!("({both})e{power}")),
    }
}

/// A number that may be missing.
pub(super) fn or_none<H: Into<Html>>(value: Option<f64>, show: impl Fn(f64) -> H) -> Html {
    value.map_or_else(none, |value| show(value).into())
}

/// "1 step", "2 steps", "no steps".
pub(super) fn count(number: u64, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// A name as part of an address.
pub(super) fn address(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~=".contains(&byte);
    let part = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_set_as_in_print() {
        assert_eq!(number(1.99998), "1.99998");
        assert_eq!(number(-1.5e-7), "−1.5 × 10⁻⁷");
        assert_eq!(scientific(1.08e-5, 2), "1.08 × 10⁻⁵");
        assert_eq!(scientific(51.3, 1), "51");
        assert_eq!(scientific(0.0736, 2), "0.0736");
        assert_eq!(scientific(1.0, 2), "1.00");
        assert_eq!(scientific(0.0, 1), "0.0");
        assert_eq!(with_deviation(0.0455, 3.4e-4), "0.04550 ± 0.00034");
        assert_eq!(with_deviation(6.5e-6, 9.5e-8), "(6.500 ± 0.095) × 10⁻⁶");
        assert_eq!(with_deviation(1.25, 0.0), "1.25");
        assert_eq!(or_none(None, number), none());
        assert_eq!(count(1, "step") + &count(0, "step"), "1 stepno steps");
    }

    #[test]
    fn addresses_are_safe() {
        assert_eq!(address("noise=0.1-seed=0"), "noise=0.1-seed=0");
        assert_eq!(address("a b#\"<"), "a%20b%23%22%3C");
    }
}
