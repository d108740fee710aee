//! The strong Wolfe line search (Nocedal & Wright, Numerical Optimization, algorithms 3.5 and 3.6).

/// Sufficient decrease.
const C1: f64 = 1e-4;
/// Curvature.
const C2: f64 = 0.9;
/// Evaluations before the search gives up.
const MOST: usize = 25;

/// A step length with the value and slope there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wolfe {
    /// The step length.
    pub step: f64,
    /// The function there.
    pub value: f64,
    /// Its slope there.
    pub slope: f64,
}

/// A step length at which `phi` (value and slope along the line) satisfies the strong Wolfe
/// conditions, starting from the value and slope at zero; none if no such step is found. The last
/// evaluation of `phi` is at the step returned.
pub fn strong_wolfe(start: Wolfe, first: f64, phi: &mut dyn FnMut(f64) -> (f64, f64)) -> Option<Wolfe> {
    let mut previous = start;
    let mut step = first;
    for evaluation in 0..MOST {
        let (value, slope) = phi(step);
        let here = Wolfe { step, value, slope };
        if !value.is_finite() {
            step = 0.5 * (previous.step + step);
            continue;
        }
        if value > start.value + C1 * step * start.slope || (evaluation > 0 && value >= previous.value) {
            return zoom(start, previous, here, phi);
        }
        if slope.abs() <= -C2 * start.slope {
            return Some(here);
        }
        if slope >= 0.0 {
            return zoom(start, here, previous, phi);
        }
        previous = here;
        step *= 2.0;
    }
    None
}

/// Narrows a bracket whose `low` end is the best point so far.
fn zoom(
    start: Wolfe,
    mut low: Wolfe,
    mut high: Wolfe,
    phi: &mut dyn FnMut(f64) -> (f64, f64),
) -> Option<Wolfe> {
    for _ in 0..MOST {
        let step = inside(low, high);
        let (value, slope) = phi(step);
        let here = Wolfe { step, value, slope };
        if !value.is_finite() || value > start.value + C1 * step * start.slope || value >= low.value {
            high = here;
        } else {
            if slope.abs() <= -C2 * start.slope {
                return Some(here);
            }
            if slope * (high.step - low.step) >= 0.0 {
                high = low;
            }
            low = here;
        }
        if (high.step - low.step).abs() <= 1e-14 * high.step.abs() {
            break;
        }
    }
    // Rounding hides the curvature near a minimum: a lower point is still progress.
    (low.step > 0.0 && low.value < start.value).then(|| {
        phi(low.step);
        low
    })
}

/// Minimiser of the cubic through both ends, kept away from them.
fn inside(low: Wolfe, high: Wolfe) -> f64 {
    let width = high.step - low.step;
    let middle = low.step + 0.5 * width;
    if !high.value.is_finite() {
        return low.step + 0.1 * width;
    }
    let d1 = low.slope + high.slope - 3.0 * (low.value - high.value) / (low.step - high.step);
    let radicand = d1 * d1 - low.slope * high.slope;
    if radicand.is_nan() || radicand < 0.0 {
        return middle;
    }
    let d2 = width.signum() * radicand.sqrt();
    let step = high.step - width * (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2);
    let share = (step - low.step) / width;
    if share.is_finite() { low.step + share.clamp(0.1, 0.9) * width } else { middle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_wolfe_point_of_a_quartic() {
        let phi = |t: f64| ((t - 2.0).powi(4) - t, 4.0 * (t - 2.0).powi(3) - 1.0);
        let (value, slope) = phi(0.0);
        for first in [1e-3, 1.0, 50.0] {
            let start = Wolfe { step: 0.0, value, slope };
            let found = strong_wolfe(start, first, &mut |t| phi(t)).expect("there is one");
            assert!(found.value <= value + C1 * found.step * slope && found.slope.abs() <= -C2 * slope);
        }
    }

    #[test]
    fn a_function_that_only_rises_has_none() {
        let start = Wolfe { step: 0.0, value: 0.0, slope: -1.0 }; // a wrong slope
        assert_eq!(strong_wolfe(start, 1.0, &mut |t| (t, 1.0)), None);
    }
}
