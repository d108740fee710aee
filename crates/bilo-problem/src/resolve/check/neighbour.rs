//! What must hold of the values at which the local operator is audited.

use super::Check;
use crate::diagnostic::{Diagnostic, Result};
use crate::function::Shape;
use crate::model::unknown::{Transform, Unknown};
use crate::settings::GradientMode;

impl Check<'_> {
    /// Unknowns have values that they may have.
    pub(crate) fn neighbours(&self) -> Result<()> {
        for neighbour in &self.problem.neighbours {
            let fault = |message: String| Err(Diagnostic::new(message, neighbour.origin.clone()).into());
            let moved = neighbour.of(self.problem)?;
            for &(number, value) in &neighbour.scalars {
                let Unknown { name, bounds, transform, .. } = &self.problem.unknowns[number];
                let (lo, hi) = bounds.unwrap_or((f64::MIN, f64::MAX));
                if !(lo..=hi).contains(&value) {
                    return fault(format!("{name} = {value:?} is outside the bounds [{lo:?}, {hi:?}]"));
                }
                if *transform == Transform::Log && value <= 0.0 {
                    return fault(format!("{name} must be positive under `transform = \"log\"`"));
                }
            }
            for (number, _) in &neighbour.functions {
                let function = &moved.functions[*number];
                let values = function.on_nodes(&moved, &function.guess)?;
                if !values.iter().all(|value| value.is_finite()) {
                    return fault(format!("{} is not finite everywhere", neighbour.at));
                }
                if moved.training.gradient == GradientMode::Exact {
                    Shape::new(&moved, function)?.net_of(&values, function)?;
                }
            }
        }
        Ok(())
    }
}
