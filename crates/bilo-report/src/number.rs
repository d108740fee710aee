//! Numbers for people.

/// Six significant digits, without trailing zeros.
pub fn significant(value: f64) -> String {
    // Rounding first: 999999.7 has seven digits before the point.
    let scientific = format!("{value:.5e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific; // not finite
    };
    match exponent.parse::<i32>() {
        Ok(exponent @ -4..=5) => trimmed(&format!("{value:.*}", (5 - exponent) as usize)),
        _ => format!("{}e{exponent}", trimmed(mantissa)),
    }
}

/// So many significant digits as in print.
pub(crate) fn in_print(value: f64, digits: usize) -> String {
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return "–".to_owned() };
    match exponent.parse::<i32>() {
        Ok(power @ -3..=4) => {
            as_in_print(&trimmed(&format!("{value:.*}", (digits as i32 - 1 - power).max(0) as usize)))
        }
        _ => as_in_print(&format!("{}e{exponent}", trimmed(mantissa))),
    }
}

/// `-1.5e-7` as −1.5 × 10⁻⁷, and `1e9` as 10⁹.
pub(crate) fn as_in_print(number: &str) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => c.to_digit(10).and_then(|digit| char::from_u32('⁰' as u32 + digit)).unwrap_or(c),
    };
    let text = match number.split_once('e') {
        Some((front, exponent)) => {
            let front = if front == "1" { String::new() } else { format!("{front} × ") };
            front + "10" + &exponent.chars().map(raised).collect::<String>()
        }
        None => number.to_owned(),
    };
    text.replace('-', "−")
}

/// Least and greatest of the numbers that are finite; none if there are no such.
pub(crate) fn extent(numbers: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = numbers.into_iter().filter(|number| number.is_finite());
    finite
        .fold(None, |ends, v| ends.map_or(Some((v, v)), |(lo, hi): (f64, f64)| Some((lo.min(v), hi.max(v)))))
}

fn trimmed(number: &str) -> String {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => number.to_string(),
    }
}

/// Seconds in the unit that reads best.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s if s < 120.0 => format!("{s:.1} s"),
        s => format!("{:.0} min {:.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_significant_digits() {
        let cases = [
            (0.0, "0"),
            (2.0, "2"),
            (-1.5, "-1.5"),
            (std::f64::consts::PI, "3.14159"),
            (500.123456, "500.123"),
            (999999.7, "1e6"),
            (123456.4, "123456"),
            (100000.0, "100000"),
            (0.000123456789, "0.000123457"),
            (0.0000123456789, "1.23457e-5"),
            (6.02e23, "6.02e23"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn numbers_of_drawings_are_set_as_in_print() {
        for (value, text) in [
            (0.0, "0"),
            (-0.5, "−0.5"),
            (0.30000000000000004, "0.3"),
            (12345.6, "12346"),
            (-2e-4, "−2 × 10⁻⁴"),
            (1e-12, "10⁻¹²"),
            (3.5e8, "3.5 × 10⁸"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(in_print(value, 5), text);
        }
        assert_eq!(in_print(123.4, 2), "123");
    }

    #[test]
    fn durations_choose_their_unit() {
        for (seconds, text) in [
            (4.2e-5, "42.0 us"),
            (0.0123, "12.3 ms"),
            (59.96, "60.0 s"),
            (119.0, "119.0 s"),
            (192.9, "3 min 12 s"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }
}
