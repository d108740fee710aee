use super::*;
use crate::differences::{
    check_loss, check_loss_of_frozen, check_pullback, random_samples, same_bits_for_any_threads,
};
use crate::samples::Affine;

/// Scalars and a function on this grid.
fn small(axes: Vec<GridAxis>, count: usize) -> (Fno, Samples) {
    let points = Grid::new(axes.clone()).points();
    let random = random_samples(count, 2 + points[0].len(), axes.len(), points[0].len());
    let samples = Samples::new(random.parameters().to_vec(), points, random.solutions().to_vec());
    let units = Units::of(&samples, &(0..count).collect::<Vec<_>>());
    (Fno::new(FnoSpec { axes, scalars: 2, functions: 1, width: 4, layers: 2 }, units), samples)
}

/// An even number of nodes with its highest mode.
fn line() -> Vec<GridAxis> {
    vec![GridAxis { nodes: 8, interval: [-1.0, 2.0], modes: 8 }]
}

fn rectangle() -> Vec<GridAxis> {
    vec![
        GridAxis { nodes: 5, interval: [0.0, 1.0], modes: 4 },
        GridAxis { nodes: 4, interval: [0.0, 3.0], modes: 2 },
    ]
}

fn full_size(axes: Vec<GridAxis>) -> Fno {
    let units = Affine { centre: 0.0, spread: 1.0 };
    let units = Units { parameters: vec![units; 2], coordinates: vec![units; axes.len()], solution: units };
    Fno::new(FnoSpec { axes, scalars: 2, functions: 0, width: 32, layers: 4 }, units)
}

/// As many numbers as PyTorch counts in the library's `FNO(n_modes=(32,), hidden_channels=32)` with two
/// channels in and one out.
#[test]
fn counts_are_those_of_the_library() {
    let model = full_size(vec![GridAxis { nodes: 101, interval: [0.0, 1.0], modes: 32 }]);
    assert_eq!(model.numbers(), 82_785);
    assert_eq!(model.weights(), 82_785 + 4 * 17 * 32 * 32);
    assert_eq!(model.initial_weights(3).len(), model.weights());
}

/// On a rectangle: 32 times as many modes, and one more coordinate to lift.
#[test]
fn counts_on_a_rectangle_grow_with_the_modes_of_both_axes() {
    let axis = GridAxis { nodes: 51, interval: [0.0, 1.0], modes: 32 };
    let model = full_size(vec![axis, axis]);
    assert_eq!(model.numbers(), 82_785 + 4 * 31 * 17 * 32 * 32 + 64);
}

/// More samples than one chunk holds.
#[test]
fn gradient_of_the_loss_is_its_slope() {
    for axes in [line(), rectangle()] {
        let (model, samples) = small(axes, SAMPLES_TOGETHER + 3);
        let batch: Vec<usize> = (0..samples.count()).rev().collect();
        check_loss(&model.initial_weights(5), &mut |weights, gradient| {
            model.loss_in::<f64>(weights, &samples, &batch, gradient)
        });
    }
}

/// At sites on nodes, between them, several in one cell, and outside.
#[test]
fn pullback_is_the_slope_of_the_prediction() {
    let sites = vec![-1.3, -1.0, -0.1, 0.0, 0.05, 0.07, 1.7, 2.0, 2.2];
    for axes in [line(), rectangle()] {
        let coordinates = axes.len();
        let (model, samples) = small(axes, 5);
        let frozen = model.freeze(&model.initial_weights(5), &vec![sites.clone(); coordinates]);
        check_pullback(&*frozen, &samples.parameters()[1]);
    }
}

/// The loss in f32 is the mean square of what the frozen model predicts in f64.
#[test]
fn loss_is_that_of_the_frozen_model() {
    for axes in [line(), rectangle()] {
        let (model, samples) = small(axes, 20);
        let (weights, batch) = (model.initial_weights(9), [4, 11, 2]);
        let loss = model.loss(&weights, &samples, &batch, &mut vec![0.0; model.weights()]);
        check_loss_of_frozen(&model, &weights, &samples, &batch, loss);
    }
}

#[test]
fn threads_do_not_show() {
    let (model, samples) = small(line(), 60);
    same_bits_for_any_threads(&model, &samples);
}

#[test]
#[should_panic(expected = "samples on the nodes")]
fn samples_elsewhere_are_refused() {
    let (model, samples) = small(line(), 3);
    let moved = vec![samples.points()[0].iter().map(|x| x + 0.1).collect()];
    let samples = Samples::new(samples.parameters().to_vec(), moved, samples.solutions().to_vec());
    model.loss(&model.initial_weights(0), &samples, &[0], &mut vec![0.0; model.weights()]);
}

/// A layer whose weights are all zero but the gates passes on its input, each channel times its gate.
#[test]
fn the_way_around_the_perceptron_is_the_input_of_the_layer() {
    let block = Block::new(4, 3, true);
    let mut weights = vec![0.0; block.weights()];
    let gates = block.weights() - 4;
    weights[gates..].copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
    let input: Vec<f64> = (0..4 * 6).map(f64::from).collect();
    let axis = GridAxis { nodes: 6, interval: [0.0, 1.0], modes: 4 };
    let (output, _) = block.forward(&weights, &Transform::new(&[axis]), input.clone());
    for (place, (output, input)) in output.iter().zip(input).enumerate() {
        assert_eq!(*output, (place % 4 + 1) as f64 * input);
    }
}
