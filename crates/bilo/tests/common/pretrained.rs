//! A local operator after pre-training, for tests that hold it against exact solutions.

use bilo::data::observed_tables;
use bilo::level::{Fit, Lower, Upper};
use bilo::monitor::{Interrupt, Monitor};
use bilo::observer::Silent;
use bilo::operator::LocalOperator;
use bilo::outcome::Stop;
use bilo::problem::Problem;
use bilo::state::OperatorState;
use bilo::train::{Losses, Past, Trainer};
use bilo_jet::{Device, cpu};

/// The lower level trained at the guess only, without u_0, functions as networks.
pub(crate) fn pretrained(problem: &Problem) -> (LocalOperator, Box<dyn Device>, OperatorState) {
    let mut device = cpu(problem.training.precision, Some(2));
    let mut operator = LocalOperator::new(problem, 0).unwrap();
    let lower = Lower::new(problem, &mut operator, device.as_mut(), 0).unwrap();
    let tables = observed_tables(problem, 0).unwrap();
    let upper = Upper::new(problem, &mut operator, device.as_mut(), tables).unwrap();
    let fit = Fit::new(problem, &mut operator, device.as_mut()).unwrap();
    let loss_names = [lower.names(), upper.names(), fit.names()].concat();
    let mut silent = Silent;
    let mut monitor = Monitor::new(problem, &Interrupt::default(), 0.0, &mut silent);
    monitor.name_losses(loss_names);
    let mut point = OperatorState::new(operator.initial_weights(0), problem.eta_of_guess());
    let ended = Trainer {
        device: device.as_mut(),
        problem,
        losses: Losses::Bilevel { lower: &lower, upper: &upper },
        fit: &fit,
        shapes: &operator.shapes(),
        upper_rates: &operator.upper_rates(problem),
        monitor: &mut monitor,
        past: Past::default(),
    }
    .pretrain(&mut point)
    .expect("nothing to take up");
    assert_eq!(ended.stop, Stop::Steps);
    (operator, device, point)
}

/// ||found - expected|| / ||expected||.
pub(crate) fn relative_l2(found: &[f64], expected: impl Iterator<Item = f64> + Clone) -> f64 {
    let square: f64 = found.iter().zip(expected.clone()).map(|(a, b)| (a - b).powi(2)).sum();
    (square / expected.map(|b| b * b).sum::<f64>()).sqrt()
}
