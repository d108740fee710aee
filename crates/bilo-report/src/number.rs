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
