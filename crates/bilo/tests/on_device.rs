//! A device that takes steps by itself: the phases of training come to the same as steps taken one by one.

use bilo::checkpoint::Checkpoint;
use bilo::level::{Fit, Joint, Lower, Upper};
use bilo::monitor::{Interrupt, Monitor};
use bilo::observer::{Control, Event, Observer, Phase};
use bilo::operator::LocalOperator;
use bilo::outcome::Stop;
use bilo::problem::{Overrides, Problem, Table};
use bilo::state::OperatorState;
use bilo::train::{Ended, Losses, Past, Trainer};
use bilo_jet::{
    Column, DensityId, DensityProgram, Descent, Device, Dual, Fault, FieldProgram, Jacobian, Linearisation,
    Moments, PointSource, Precision, ResidentSteps, ResidualId, ResidualLoss, ResidualProgram,
    ResidualWeights, Seen, Weighted, cpu,
};
use bilo_optim::{Adam, GradientMethod};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

/// The CPU, taking steps by itself; from some step on it may be out of order.
struct Alone {
    cpu: Arc<Mutex<Box<dyn Device>>>,
    order: OutOfOrder,
}

/// From which step on losses are no numbers, and from which on nothing works any more.
#[derive(Clone, Copy)]
struct OutOfOrder {
    no_numbers: usize,
    faulty: usize,
}

/// Its steps under way.
struct UnderWay {
    cpu: Arc<Mutex<Box<dyn Device>>>,
    order: OutOfOrder,
    descent: Descent,
    weights: Vec<f64>,
    unknowns: Vec<f64>,
    lower: Adam,
    upper: Adam,
    steps: usize,
}

const NEVER: OutOfOrder = OutOfOrder { no_numbers: usize::MAX, faulty: usize::MAX };

impl Alone {
    fn new(precision: Precision, order: OutOfOrder) -> Self {
        Self { cpu: Arc::new(Mutex::new(cpu(precision, Some(1)))), order }
    }

    fn cpu(&self) -> MutexGuard<'_, Box<dyn Device>> {
        self.cpu.lock().expect("no holder panicked")
    }
}

impl UnderWay {
    fn step(&mut self, factors: (f64, f64)) -> Result<Seen, Fault> {
        let Self { cpu, order, descent, weights, unknowns, lower, upper, steps } = self;
        let mut cpu = cpu.lock().expect("no holder panicked");
        let mut seen = Seen { losses: vec![], unknowns: unknowns.clone() };
        let mut gradient = vec![0.0; weights.len()];
        for (id, terms) in &descent.residuals {
            let loss = cpu.residual(*id, weights, unknowns, terms, Some(&mut gradient))?;
            seen.losses.extend(loss.residual.into_iter().chain(loss.gradient));
        }
        let mut by_unknowns = vec![0.0; descent.bounds.len()];
        for &Weighted { id, factor, level } in &descent.densities {
            let mut own = vec![0.0; weights.len()];
            let (value, slopes) = cpu.density(id, weights, unknowns, Some(&mut own))?;
            seen.losses.push(value);
            if level.is_lower() {
                gradient.iter_mut().zip(own).for_each(|(sum, slope)| *sum += factor * slope);
            }
            if level.is_upper() {
                by_unknowns.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += factor * slope);
            }
        }
        lower.scale_rate(factors.0);
        lower.step_along(weights, &gradient);
        let moved = &mut unknowns[..descent.bounds.len()];
        upper.scale_rate(factors.1);
        upper.step_along(moved, &by_unknowns);
        moved
            .iter_mut()
            .zip(&descent.bounds)
            .for_each(|(value, &(low, high))| *value = value.clamp(low, high));
        *steps += 1;
        if *steps >= order.no_numbers {
            seen.losses[0] = f64::NAN;
        }
        if *steps >= order.faulty { Err(Fault::new("the device is unplugged")) } else { Ok(seen) }
    }
}

impl ResidentSteps for UnderWay {
    fn descend(&mut self, factors: &[(f64, f64)]) -> Result<Vec<Seen>, Fault> {
        factors.iter().map(|&factors| self.step(factors)).collect()
    }
    fn arrived(&mut self) -> Result<(Vec<f64>, Vec<f64>), Fault> {
        Ok((self.weights.clone(), self.unknowns.clone()))
    }
    fn moments(&mut self) -> Result<[Moments; 2], Fault> {
        Ok([self.lower.state(), self.upper.state()])
    }
}

impl Device for Alone {
    fn description(&self) -> String {
        self.cpu().description()
    }
    fn precision(&self) -> Precision {
        self.cpu().precision()
    }
    fn load_residual(&mut self, program: ResidualProgram, points: PointSource) -> Result<ResidualId, Fault> {
        self.cpu().load_residual(program, points)
    }
    fn load_density(
        &mut self,
        program: DensityProgram,
        points: PointSource,
        weights: Column,
    ) -> Result<DensityId, Fault> {
        self.cpu().load_density(program, points, weights)
    }
    fn move_residual(&mut self, id: ResidualId, points: PointSource) -> Result<(), Fault> {
        self.cpu().move_residual(id, points)
    }
    fn move_density(&mut self, id: DensityId, points: PointSource, weights: Column) -> Result<(), Fault> {
        self.cpu().move_density(id, points, weights)
    }
    fn residual(
        &mut self,
        _: ResidualId,
        _: &[f64],
        _: &[f64],
        _: &ResidualWeights,
        _: Option<&mut [f64]>,
    ) -> Result<ResidualLoss, Fault> {
        unreachable!("no step is asked for one by one")
    }
    fn density(
        &mut self,
        _: DensityId,
        _: &[f64],
        _: &[f64],
        _: Option<&mut [f64]>,
    ) -> Result<(f64, Vec<f64>), Fault> {
        unreachable!("no step is asked for one by one")
    }
    fn linearise(
        &mut self,
        _: ResidualId,
        _: &[f64],
        _: &[f64],
        _: Jacobian,
    ) -> Result<Linearisation, Fault> {
        unreachable!("nothing is solved for")
    }
    fn pullback(
        &mut self,
        _: ResidualId,
        _: &[f64],
        _: &[f64],
        _: &[Vec<f64>],
        _: &mut [f64],
    ) -> Result<(), Fault> {
        unreachable!("nothing is solved for")
    }
    fn evaluate(
        &mut self,
        program: &FieldProgram,
        points: PointSource,
        weights: &[f64],
        unknowns: &[f64],
        slopes: &[Vec<f64>],
    ) -> Result<Vec<Vec<f64>>, Fault> {
        self.cpu().evaluate(program, points, weights, unknowns, slopes)
    }
    fn dual(&mut self, _: &[ResidualId], _: &[f64], _: &[f64], _: &[f64]) -> Result<Dual, Fault> {
        unreachable!("nothing is solved for")
    }
    fn steps(
        &mut self,
        descent: &Descent,
        weights: &[f64],
        unknowns: &[f64],
        [of_lower, of_upper]: &[Moments; 2],
    ) -> Result<Option<Box<dyn ResidentSteps>>, Fault> {
        let mut lower = Adam::new(vec![descent.rate; weights.len()]);
        let mut upper = Adam::new(descent.upper_rates.clone());
        assert!(lower.restore(of_lower) && upper.restore(of_upper));
        Ok(Some(Box::new(UnderWay {
            cpu: self.cpu.clone(),
            order: self.order,
            descent: descent.clone(),
            weights: weights.to_vec(),
            unknowns: unknowns.to_vec(),
            lower,
            upper,
            steps: 0,
        })))
    }
}

/// Every step's losses and unknowns; asks to stop after one of them, or for a checkpoint at these.
#[derive(Default)]
struct Notes {
    steps: Vec<(usize, Vec<f64>, Vec<f64>)>,
    stop_after: Option<usize>,
    keep: Vec<(Phase, usize)>,
    kept: Vec<Checkpoint>,
}

impl Observer for Notes {
    fn event(&mut self, event: &Event<'_>) -> Control {
        if let Event::Checkpoint(kept) = event {
            self.kept.push((*kept).clone());
        }
        let Event::Step(record) = event else { return Control::Continue };
        self.steps.push((record.step, record.losses.to_vec(), record.unknowns.to_vec()));
        if self.keep.contains(&(record.phase, record.step)) {
            return Control::Keep;
        }
        match self.stop_after {
            Some(last) if record.step >= last => Control::Stop,
            _ => Control::Continue,
        }
    }
}

fn train(device: &mut dyn Device, set: &[&str], stop_after: Option<usize>) -> Trained {
    train_by(device, set, Notes { stop_after, ..Notes::default() }, false, None)
}

/// What came of both phases.
type Trained = (OperatorState, Notes, [Ended; 2]);

/// By the two levels of BiLO, or by the one loss of a physics-informed network; from the beginning, or from where an
/// earlier run of the same came to.
fn train_by(
    device: &mut dyn Device,
    set: &[&str],
    notes: Notes,
    joint: bool,
    from: Option<&Checkpoint>,
) -> Trained {
    try_train(device, set, notes, joint, from).expect("what is taken up fits, and nothing fails")
}

/// The same, which may fail.
fn try_train(
    device: &mut dyn Device,
    set: &[&str],
    mut notes: Notes,
    joint: bool,
    from: Option<&Checkpoint>,
) -> bilo::Result<Trained> {
    let text = include_str!("../../../problems/poisson-scalar.toml");
    let problem =
        Problem::from_toml("poisson-scalar", text, Path::new("."), &Overrides::of(set.iter().copied()))
            .expect("a shipped problem");
    let x: Vec<f64> = (0..21).map(|i| f64::from(i) / 20.0).collect();
    let values = x.iter().map(|x| (std::f64::consts::PI * x).sin() / 2.0).collect();
    let data = Table { coordinates: vec![x], values, sigma: None };
    let make = if joint { LocalOperator::without_parameters } else { LocalOperator::new };
    let mut operator = make(&problem, 1).expect("a valid problem");
    let lower = Lower::new(&problem, &mut operator, device, 1).expect("a valid problem");
    let upper = Upper::new(&problem, &mut operator, device, vec![data.clone()]).expect("a valid problem");
    let one =
        Joint::new(&problem, &mut operator, device, vec![data.clone()], 1.0, 1).expect("a valid problem");
    let losses = match joint {
        true => Losses::Joint(&one),
        false => Losses::Bilevel { lower: &lower, upper: &upper },
    };
    let fit = Fit::new(&problem, &mut operator, device).expect("a valid problem");
    let fit = fit.with_start(&problem, &mut operator, device, vec![(0, data)]).expect("a valid problem");
    let mut point = OperatorState::new(operator.initial_weights(1), vec![problem.unknowns[0].guess]);
    let loss_names = [&losses.names()[..], fit.names()].concat();
    let mut monitor =
        Monitor::new(&problem, &Interrupt::default(), from.map_or(0.0, |from| from.seconds), &mut notes);
    monitor.name_losses(loss_names);
    let mut trainer = Trainer {
        device,
        problem: &problem,
        losses,
        fit: &fit,
        shapes: &operator.shapes(),
        upper_rates: &[problem.training.theta_rate],
        monitor: &mut monitor,
        past: Past { from, ..Past::default() },
    };
    let pretrained = match from {
        Some(from) if from.phase == Phase::Train => None,
        _ => Some(trainer.pretrain(&mut point)?),
    };
    let trained = trainer.train(&mut point)?;
    Ok((point, notes, [pretrained.unwrap_or_else(|| trained.clone()), trained]))
}

/// 130 and 170 steps: more than one stretch of each phase, with a schedule, and points drawn afresh at every seventh step.
const STEPS: [&str; 5] = [
    "train.pretrain-steps=130",
    "train.train-steps=170",
    "train.settle-tolerance=0",
    "network.width=8",
    "equation.balance.points={ random = 9, resample = 7 }",
];

#[test]
fn stretches_of_steps_come_to_the_same_as_single_steps() {
    for joint in [false, true] {
        come_to_the_same(joint);
    }
}

fn come_to_the_same(joint: bool) {
    let by = |device: &mut dyn Device| train_by(device, &STEPS, Notes::default(), joint, None);
    let (one, one_notes, one_ended) = by(cpu(Precision::F32, Some(1)).as_mut());
    let (other, notes, ended) = by(&mut Alone::new(Precision::F32, NEVER));
    assert_eq!(one, other);
    for (one, other) in one_notes.steps.iter().zip(&notes.steps) {
        // Compared as text, since losses of the other phase are not numbers.
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
    }
    assert_eq!(one_notes.steps.len(), notes.steps.len());
    for (one, other) in one_ended.iter().zip(&ended) {
        assert_eq!((&one.stop, one.steps), (&other.stop, other.steps));
        assert_eq!(format!("{:?}", one.losses), format!("{:?}", other.losses));
    }
}

/// A checkpoint is of the end of a stretch, and both ways of taking steps go on from it to the same bits.
#[test]
fn steps_go_on_from_where_they_were_kept() {
    for (joint, phase) in [(false, Phase::Pretrain), (false, Phase::Train), (true, Phase::Train)] {
        let keep = Notes { keep: vec![(phase, 23), (phase, 25), (phase, 120)], ..Notes::default() };
        let (point, whole, ended) =
            train_by(&mut Alone::new(Precision::F32, NEVER), &STEPS, keep, joint, None);
        // Points are drawn afresh after every seventh step of the run, and training begins after 130.
        let places: Vec<usize> = whole.kept.iter().map(|kept| kept.step).collect();
        assert_eq!(places, if phase == Phase::Pretrain { vec![28, 126] } else { vec![24, 31, 122] });
        for kept in &whole.kept {
            let devices: [Box<dyn Device>; 2] =
                [Box::new(Alone::new(Precision::F32, NEVER)), cpu(Precision::F32, Some(1))];
            for mut device in devices {
                let (other, notes, [_, trained]) =
                    train_by(device.as_mut(), &STEPS, Notes::default(), joint, Some(kept));
                assert_eq!(point, other, "{phase:?} from {}", kept.step);
                assert_eq!((&ended[1].stop, ended[1].steps), (&trained.stop, trained.steps));
                let rest = &whole.steps[whole.steps.len() - notes.steps.len()..];
                assert_eq!(format!("{rest:?}"), format!("{:?}", notes.steps));
            }
        }
    }
}

/// A stretch that was begun is finished, and then the run stops.
#[test]
fn a_wish_to_stop_ends_the_stretch() {
    let steps = ["train.pretrain-steps=500", "train.train-steps=5", "network.width=8"];
    let (_, notes, ended) = train(&mut Alone::new(Precision::F32, NEVER), &steps, Some(30));
    assert_eq!((&ended[0].stop, ended[0].steps), (&Stop::Interrupted, 100));
    assert_eq!(notes.steps.iter().filter(|(step, ..)| *step > 5).count(), 95);
}

/// When numbers are lost the point before the stretch stays.
#[test]
fn a_divergence_keeps_the_last_good_point() {
    let steps = ["train.pretrain-steps=0", "train.train-steps=300", "network.width=8"];
    let (point, _, ended) =
        train(&mut Alone::new(Precision::F32, OutOfOrder { no_numbers: 150, ..NEVER }), &steps, None);
    assert_eq!(ended[1].diverged.as_ref().map(|diverged| diverged.last_good_step), Some(100));
    let good = ["train.pretrain-steps=0", "train.train-steps=300", "network.width=8"];
    let (exact, ..) = train(&mut Alone::new(Precision::F32, NEVER), &good, Some(1));
    assert_eq!(point, exact, "the point after one stretch");
}

/// A device that fails ends the run with its own words; the steps before were reported.
#[test]
fn a_fault_is_an_error() {
    let steps = ["train.pretrain-steps=0", "train.train-steps=300", "network.width=8"];
    let mut device = Alone::new(Precision::F32, OutOfOrder { faulty: 150, ..NEVER });
    let error = try_train(&mut device, &steps, Notes::default(), false, None).err().expect("it fails");
    assert_eq!(error.kind(), bilo::diagnostic::ErrorKind::Device);
    assert_eq!(error.headline(), "the device is unplugged");
}
