//! The generated kernels against the oracle, on the host.

use crate::device::CudaDevice;
use crate::emulator::Emulator;
use bilo_expr::{Graph, MultiIndex};
use bilo_jet::conformance::{Case, Draw, tolerance};
use bilo_jet::{
    Activation, BoundNetwork, Column, DensityProgram, Descent, Device, Fourier, Level, Moments, Moves,
    Network, NetworkSpec, Operator, PointSource, Precision, ResidentSteps, ResidualProgram, ResidualWeights,
    Weighted, cpu,
};
use bilo_optim::{Adam, GradientMethod};

fn device(precision: Precision) -> Option<CudaDevice> {
    let emulator = Emulator::new()?;
    Some(
        CudaDevice::new(Box::new(emulator), precision, cpu(precision, Some(1)))
            .expect("the common kernels compile"),
    )
}

fn spec() -> NetworkSpec {
    NetworkSpec {
        coordinates: 2,
        parameters: 2,
        outputs: 1,
        width: 9,
        layers: 2,
        activation: Activation::Tanh,
        fourier: None,
        residual: false,
        modified: false,
    }
}

/// One draw on the host in place of a GPU and, if there is one, on a GPU.
fn check(draw: Draw) {
    check_in(&[Precision::F64, Precision::F32], draw);
}

fn check_in(precisions: &[Precision], draw: Draw) {
    for &precision in precisions {
        let mut devices: Vec<Box<dyn Device>> = vec![];
        match device(precision) {
            Some(device) => devices.push(Box::new(device)),
            None => eprintln!("SKIPPED: no C++ compiler to run generated kernels with"),
        }
        match crate::cuda(0, precision, cpu(precision, Some(1))) {
            Ok(device) => devices.push(device),
            Err(error) => eprintln!("SKIPPED on a GPU: {error}"),
        }
        for device in &mut devices {
            let found = Case::new(draw.clone()).check(device.as_mut()).expect("a sound device");
            let sizes = format!("{found:?}");
            assert!(!sizes.contains("NaN"), "{precision:?} {draw:?}: {found:?}");
            assert!(
                found.worst() < tolerance(precision),
                "{} {precision:?} {draw:?}: {found:?}",
                device.description()
            );
        }
    }
}

/// Derivatives by lists of inputs.
fn wanted(coordinates: usize, lists: &[&[usize]]) -> Vec<MultiIndex> {
    let zero = MultiIndex::zero(coordinates);
    lists.iter().map(|list| list.iter().fold(zero.clone(), |index, &input| index.plus(input))).collect()
}

fn draw(network: NetworkSpec, lists: &[&[usize]]) -> Draw {
    let wanted = wanted(network.coordinates, lists);
    Draw { network, wanted, residuals: 1, quasilinear: false, moving: false, points: 7, seed: 3 }
}

#[test]
fn second_order_with_a_leading_part() {
    let lists: [&[usize]; 4] = [&[], &[0], &[1], &[0, 0]];
    check(Draw { quasilinear: true, ..draw(spec(), &lists) });
}

/// Frozen features move with the coefficients of a leading part; two outputs, skip connections.
#[test]
fn leading_part_behind_frozen_features() {
    let fourier = Some(Fourier { features: 3, scale: 0.3 });
    let network = NetworkSpec { fourier, residual: true, activation: Activation::Swish, width: 17, ..spec() };
    check(Draw { quasilinear: true, points: 5, ..draw(network, &[&[], &[1], &[0, 0], &[0, 1]]) });
}

#[test]
fn gates_with_third_derivatives_of_two_residuals() {
    let network =
        NetworkSpec { modified: true, residual: true, outputs: 2, activation: Activation::Sin, ..spec() };
    check(Draw { residuals: 2, points: 4, ..draw(network, &[&[], &[0], &[0, 0, 1]]) });
}

#[test]
fn first_order_of_one_coordinate() {
    let network = NetworkSpec {
        coordinates: 1,
        parameters: 3,
        layers: 0,
        width: 5,
        activation: Activation::Softplus,
        ..spec()
    };
    check(Draw { points: 1, ..draw(network, &[&[], &[0]]) });
}

/// Matrices of several widths for tensor cores, with tiles that fill them and tiles that do not.
#[test]
fn tensor_cores_make_the_products() {
    let lists: [&[usize]; 4] = [&[], &[0], &[1], &[0, 0]];
    for (width, points) in [(16, 7), (48, 11), (64, 3)] {
        let network = NetworkSpec { width, ..spec() };
        check_in(&[Precision::Tf32], Draw { quasilinear: true, points, ..draw(network, &lists) });
    }
    // Rows that are no multiples of sixteen have the products of single precision.
    check_in(&[Precision::Tf32], draw(spec(), &lists));
}

#[test]
fn inputs_that_move_with_unknowns() {
    check(Draw { moving: true, points: 3, ..draw(spec(), &[&[], &[0], &[1]]) });
}

/// A residual u_xx - p u over a small network, and the density (u - 0.3)², on a device.
fn descent_on(device: &mut dyn Device, weights: &[f64]) -> (Descent, Vec<f64>) {
    let mut graph = Graph::new();
    let (x, p) = (graph.symbol("x"), graph.symbol("p"));
    let inputs = vec![graph.leaf(x), graph.leaf(p)];
    let u = graph.function("u", inputs.clone());
    let (value, second) = (graph.value(u), graph.derivative(u, MultiIndex::from(vec![2, 0])));
    let reaction = graph.mul(inputs[1], value);
    let residual = graph.sub(second, reaction);
    let shift = graph.constant(0.3);
    let misfit = graph.sub(value, shift);
    let misfit = graph.mul(misfit, misfit);
    let bound = BoundNetwork::new(small(), vec![u], vec![0]);
    let operator =
        Operator { networks: vec![bound], columns: vec![x], unknowns: vec![p], held: Default::default() };
    let places = || PointSource::grid(vec![vec![0.0, 0.2, 0.5, 0.9, 1.0]]);
    let residual = ResidualProgram::new(&mut graph, &operator, &[residual]).expect("a valid residual");
    let density = DensityProgram::new(&mut graph, &operator, misfit, Moves::States).expect("a valid density");
    let terms = ResidualWeights { equation: vec![1.5], gradient: 0.1 };
    let residual = device.load_residual(residual, places()).expect("a sound device");
    let density = device.load_density(density, places(), Column::uniform(0.2)).expect("a sound device");
    let descent = Descent {
        residuals: vec![(residual, terms)],
        densities: vec![Weighted { id: density, factor: 2.0, level: Level::Upper }],
        first: 0,
        rate: 1e-2,
        upper_rates: vec![0.3],
        bounds: vec![(0.0, 1.2)],
    };
    (descent, weights.to_vec())
}

/// What so many variables of each level remember before the first step.
fn fresh(lower: usize, upper: usize) -> [Moments; 2] {
    [lower, upper].map(|variables| Adam::new(vec![0.0; variables]).state())
}

/// Steps that a device takes by itself, from weights and unknowns.
fn begun(
    device: &mut CudaDevice,
    descent: &Descent,
    (weights, unknowns): (&[f64], &[f64]),
    moments: &[Moments; 2],
) -> Box<dyn ResidentSteps> {
    let steps = device.steps(descent, weights, unknowns, moments).expect("a sound device");
    steps.expect("all programs are on the device")
}

/// Where steps have led to, with what is remembered there.
fn whereabouts(steps: &mut dyn ResidentSteps) -> ((Vec<f64>, Vec<f64>), [Moments; 2]) {
    (steps.arrived().expect("a sound device"), steps.moments().expect("a sound device"))
}

fn small() -> Network {
    Network::new(NetworkSpec { coordinates: 1, parameters: 1, width: 6, layers: 1, ..spec() }, 0)
}

/// Steps on the device against the same steps taken one by one with the CPU's losses and optimiser: both levels, the
/// schedule's factors, a bound that is reached, and two stretches.
#[test]
fn steps_on_the_device_are_those_of_adam() {
    let Some(mut device) = device(Precision::F64) else {
        eprintln!("SKIPPED: no C++ compiler to run generated kernels with");
        return;
    };
    let start = small().initial_weights(5);
    let factors: Vec<(f64, f64)> =
        (0..8).map(|k| (1.0 - 0.1 * f64::from(k), 1.0 - 0.05 * f64::from(k))).collect();
    let (descent, weights) = descent_on(&mut device, &start);
    let mut steps = begun(&mut device, &descent, (&weights, &[1.0]), &fresh(weights.len(), 1));
    let mut seen = steps.descend(&factors[..3]).expect("a sound device");
    // What else is asked of the device leaves the steps where they are.
    let (id, terms) = &descent.residuals[0];
    device.residual(*id, &vec![0.1; weights.len()], &[0.5], terms, None).expect("a sound device");
    seen.extend(steps.descend(&factors[3..5]).expect("a sound device"));
    // Begun again from there, as after an interruption.
    let ((weights, p), moments) = whereabouts(steps.as_mut());
    let mut steps = begun(&mut device, &descent, (&weights, &p), &moments);
    seen.extend(steps.descend(&factors[5..]).expect("a sound device"));
    let ((found, unknowns), _) = whereabouts(steps.as_mut());

    let mut host = cpu(Precision::F64, Some(1));
    let (descent, mut weights) = descent_on(host.as_mut(), &start);
    let (mut lower, mut upper) = (Adam::new(vec![descent.rate; weights.len()]), Adam::new(vec![0.3]));
    let mut p = vec![1.0];
    for (seen, &(of_lower, of_upper)) in seen.iter().zip(&factors) {
        let (id, terms) = &descent.residuals[0];
        let mut gradient = vec![0.0; weights.len()];
        let loss = host.residual(*id, &weights, &p, terms, Some(&mut gradient)).expect("the CPU never fails");
        let (misfit, by_unknown) =
            host.density(descent.densities[0].id, &weights, &p, None).expect("the CPU never fails");
        for (found, exact) in seen.losses.iter().zip([loss.residual[0], loss.gradient[0], misfit]) {
            assert!((found / exact - 1.0).abs() < 1e-9, "{seen:?} {loss:?} {misfit}");
        }
        assert!((seen.unknowns[0] - p[0]).abs() < 1e-9);
        lower.scale_rate(of_lower);
        upper.scale_rate(of_upper);
        lower.step_along(&mut weights, &gradient);
        upper.step_along(&mut p, &[2.0 * by_unknown[0]]);
        p[0] = p[0].clamp(0.0, 1.2);
    }
    assert!(
        (unknowns[0] - p[0]).abs() < 1e-9
            && seen.iter().any(|seen| seen.unknowns[0] == 1.2 || seen.unknowns[0] == 0.0)
    );
    // Adam divides by the size of a gradient: rounding of small ones is carried along.
    let worst = found.iter().zip(&weights).fold(0.0_f64, |worst, (a, b)| worst.max((a - b).abs()));
    assert!(worst < 1e-8, "{worst}");
}

/// One loss (f u_xx - p)² over the weights of u, those of f before them, and p.
fn joint_descent_on(device: &mut dyn Device) -> Descent {
    let mut graph = Graph::new();
    let (x, p) = (graph.symbol("x"), graph.symbol("p"));
    let inputs = vec![graph.leaf(x)];
    let [f, u] = ["f", "u"].map(|name| graph.function(name, inputs.clone()));
    let (f_value, u_xx) = (graph.value(f), graph.derivative(u, MultiIndex::from(vec![2])));
    let (flux, source) = (graph.mul(f_value, u_xx), graph.leaf(p));
    let residual = graph.sub(flux, source);
    let square = graph.mul(residual, residual);
    let bound =
        |function, given| BoundNetwork { given, ..BoundNetwork::new(plain(), vec![function], vec![]) };
    let networks = vec![bound(f, true), bound(u, false)];
    let operator = Operator { networks, columns: vec![x], unknowns: vec![p], held: Default::default() };
    let places = PointSource::grid(vec![vec![0.0, 0.2, 0.5, 0.9, 1.0]]);
    let program = DensityProgram::new(&mut graph, &operator, square, Moves::All).expect("a valid density");
    let id = device.load_density(program, places, Column::uniform(0.2)).expect("a sound device");
    let first = plain().weights();
    Descent {
        residuals: vec![],
        densities: vec![Weighted { id, factor: 3.0, level: Level::Both }],
        first,
        rate: 1e-2,
        upper_rates: [vec![0.3], vec![2e-2; first]].concat(),
        bounds: vec![(f64::NEG_INFINITY, f64::INFINITY)],
    }
}

fn plain() -> Network {
    Network::new(NetworkSpec { coordinates: 1, parameters: 0, width: 6, layers: 1, ..spec() }, 0)
}

/// Steps on one loss that moves both levels, with networks of functions among the upper one's.
#[test]
fn steps_on_one_loss_are_those_of_adam() {
    let Some(mut device) = device(Precision::F64) else {
        eprintln!("SKIPPED: no C++ compiler to run generated kernels with");
        return;
    };
    let start = [plain().initial_weights(5), plain().initial_weights(6)].concat();
    let descent = joint_descent_on(&mut device);
    let (lower, upper) = (start.len() - descent.first, descent.first + 1);
    let mut steps = begun(&mut device, &descent, (&start, &[1.0]), &fresh(lower, upper));
    let mut seen = steps.descend(&[(1.0, 1.0); 3]).expect("a sound device");
    let ((weights, p), moments) = whereabouts(steps.as_mut());
    let mut steps = begun(&mut device, &descent, (&weights, &p), &moments);
    seen.extend(steps.descend(&[(1.0, 1.0); 3]).expect("a sound device"));
    let ((found, unknowns), moments) = whereabouts(steps.as_mut());
    assert_eq!(moments.map(|of_level| of_level[0][0]), [6.0, 6.0]);

    let mut host = cpu(Precision::F64, Some(1));
    let descent = joint_descent_on(host.as_mut());
    let rates = [&descent.upper_rates[..], &vec![descent.rate; start.len() - descent.first]].concat();
    let (mut adam, mut all) = (Adam::new(rates), [vec![1.0], start].concat());
    for seen in seen {
        let mut gradient = vec![0.0; all.len() - 1];
        let (value, by_p) = host
            .density(descent.densities[0].id, &all[1..], &all[..1], Some(&mut gradient))
            .expect("the CPU never fails");
        assert!((seen.losses[0] / value - 1.0).abs() < 1e-9);
        let along: Vec<f64> = by_p.iter().chain(&gradient).map(|slope| 3.0 * slope).collect();
        adam.step_along(&mut all, &along);
    }
    let moved = unknowns.iter().chain(&found).zip(&all);
    let worst = moved.fold(0.0_f64, |worst, (a, b)| worst.max((a - b).abs()));
    assert!(worst < 1e-8, "{worst}");
}

/// Wide enough for the blocks of large products, and more points than one tile takes.
#[test]
fn wide_layers_and_many_points() {
    let network = NetworkSpec { width: 72, layers: 2, ..spec() };
    check(Draw { quasilinear: true, points: 50, ..draw(network, &[&[], &[0], &[1], &[0, 0]]) });
}

/// Every call says so, in the same words, from the launch on that the machine failed at.
#[test]
fn a_machine_that_stops_working_is_an_error() {
    for launches in 0..6 {
        let Some(emulator) = Emulator::new() else {
            eprintln!("SKIPPED: no C++ compiler to run generated kernels with");
            return;
        };
        let host = cpu(Precision::F64, Some(1));
        let mut device = CudaDevice::new(Box::new(emulator.failing_after(launches)), Precision::F64, host)
            .expect("the common kernels compile");
        let weights = small().initial_weights(5);
        let (descent, _) = descent_on(&mut device, &weights);
        let ((id, terms), density) = (&descent.residuals[0], descent.densities[0].id);
        let mut faults = vec![];
        for _ in 0..3 {
            faults.extend(device.residual(*id, &weights, &[1.0], terms, None).err());
            faults.extend(device.density(density, &weights, &[1.0], None).err());
        }
        let found = device.dual(&[*id], &weights, &[1.0], &[1.0; 5]);
        faults.push(found.err().expect("there were enough launches before"));
        let mut steps = begun(&mut device, &descent, (&weights, &[1.0]), &fresh(weights.len(), 1));
        faults.push(steps.descend(&[(1.0, 1.0)]).expect_err("there were enough launches before"));
        // A residual or a density takes three launches: packing, the program, adding up.
        assert_eq!(faults.len(), 8 - launches / 3);
        assert!(faults.iter().all(|fault| fault.to_string() == "the GPU stopped working: unplugged"));
    }
}
