//! When training has converged: the unknowns stand still and the losses no longer fall.

use bilo_optim::State;
use bilo_problem::Training;

/// Share by which a loss must fall over a window to count as falling.
const FALL: f64 = 0.05;

/// Compares the unknowns and losses with those of a window ago.
#[derive(Clone, Debug)]
pub struct Convergence {
    tolerance: f64,
    window: usize,
    steps: usize,
    lowest: Vec<f64>,
    highest: Vec<f64>,
    losses: Vec<f64>,
    losses_before: Vec<f64>,
    scales: Vec<f64>,
}

impl Convergence {
    /// The scales are sizes below which movements of the unknowns do not count as relative to them.
    pub fn new(training: &Training, scales: Vec<f64>) -> Self {
        Self {
            tolerance: training.settle_tolerance,
            window: training.settle_steps.max(1),
            steps: 0,
            lowest: vec![],
            highest: vec![],
            losses: vec![],
            losses_before: vec![],
            scales,
        }
    }

    /// All that later steps depend on.
    pub fn state(&self) -> State {
        let lists = [&self.lowest, &self.highest, &self.losses, &self.losses_before].map(Vec::clone);
        std::iter::once(vec![self.steps as f64]).chain(lists).collect()
    }

    /// Takes up such a state; whether it is one.
    pub fn restore(&mut self, state: &State) -> bool {
        let [steps, lowest, highest, losses, losses_before] = &state[..] else { return false };
        let [steps] = steps[..] else { return false };
        self.steps = steps as usize;
        self.lowest.clone_from(lowest);
        self.highest.clone_from(highest);
        self.losses.clone_from(losses);
        self.losses_before.clone_from(losses_before);
        true
    }

    /// Takes note of a step; at the end of each window tells whether everything stood still in it. The
    /// movement is measured per learning rate: unknowns that stand still only because the rate has
    /// fallen to `rate` of its start have not settled.
    pub fn settled(&mut self, unknowns: &[f64], losses: &[f64], rate: f64) -> bool {
        if self.tolerance <= 0.0 {
            return false;
        }
        if self.steps == 0 {
            self.lowest = unknowns.to_vec();
            self.highest = unknowns.to_vec();
            self.losses = vec![0.0; losses.len()];
        }
        for (j, &unknown) in unknowns.iter().enumerate() {
            self.lowest[j] = self.lowest[j].min(unknown);
            self.highest[j] = self.highest[j].max(unknown);
        }
        let mean = self.losses.iter_mut().zip(losses.iter().filter(|loss| !loss.is_nan()));
        mean.for_each(|(sum, loss)| *sum += loss / self.window as f64);
        self.steps += 1;
        if self.steps < self.window {
            return false;
        }
        let still = self.unknowns_stand_still(rate) && self.losses_no_longer_fall();
        self.losses_before = std::mem::take(&mut self.losses);
        self.steps = 0;
        still
    }

    fn unknowns_stand_still(&self, rate: f64) -> bool {
        let ends = self.lowest.iter().zip(&self.highest).zip(&self.scales);
        ends.into_iter()
            .all(|((lo, hi), scale)| hi - lo <= self.tolerance * rate * hi.abs().max(lo.abs()).max(*scale))
    }

    fn losses_no_longer_fall(&self) -> bool {
        !self.losses_before.is_empty()
            && self
                .losses
                .iter()
                .zip(&self.losses_before)
                .all(|(now, before)| *now >= before - FALL * before.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bilo_problem::Recipe;

    fn settling() -> Convergence {
        let (_, mut training) = Recipe::Fast.defaults();
        training.settle_tolerance = 1e-3;
        training.settle_steps = 10;
        Convergence::new(&training, vec![1e-3])
    }

    fn first_settled(unknown: impl Fn(f64) -> f64, loss: impl Fn(f64) -> f64, rate: f64) -> Option<usize> {
        let mut settling = settling();
        (1..=200).find(|&step| settling.settled(&[unknown(step as f64)], &[loss(step as f64)], rate))
    }

    #[test]
    fn two_still_windows_are_enough() {
        assert_eq!(first_settled(|_| 2.0, |_| 1e-5, 1.0), Some(20));
    }

    #[test]
    fn a_moving_unknown_is_not_settled() {
        assert_eq!(first_settled(|step| 2.0 + 1e-3 * step, |_| 1e-5, 1.0), None);
    }

    #[test]
    fn slow_movement_at_a_small_rate_is_not_settled() {
        assert_eq!(first_settled(|step| 2.0 + 1e-5 * step, |_| 1e-5, 1.0), Some(20));
        assert_eq!(first_settled(|step| 2.0 + 1e-5 * step, |_| 1e-5, 0.01), None);
    }

    #[test]
    fn a_falling_loss_is_not_settled() {
        assert_eq!(first_settled(|_| 2.0, |step| (-0.1 * step).exp(), 1.0), None);
    }
}
