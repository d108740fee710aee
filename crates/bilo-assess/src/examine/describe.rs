//! The problem as understood, in lines.

use super::reach::Reach;
use bilo_expr::typeset::{Names, typeset};
use bilo_jet::{Activation, Frame};
use bilo_operator::operator::LocalOperator;
use bilo_problem::spline::GridAxis;
use bilo_problem::text::{count, digits, number as shown};
use bilo_problem::{
    Argument, Condition, Data, Derived, Equation, Examples, FieldAround, Formula, GivenField, HeldBy,
    Likelihood, NetworkChoice, Problem, Regulariser, Sigma, Span, Transform, Unknown, UnknownFunction,
};

pub(super) fn coordinates(problem: &Problem) -> Vec<String> {
    let line = |c: &bilo_problem::Coordinate| {
        let kind = if c.time {
            ", time"
        } else if c.periodic {
            ", periodic"
        } else {
            ""
        };
        let unit = c.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
        format!("{} in [{}, {}]{unit}{kind}", c.name, shown(c.lo), shown(c.hi))
    };
    problem.coordinates.iter().map(line).collect()
}

pub(super) fn given(problem: &Problem) -> Vec<String> {
    let line = |field: &GivenField| {
        let axes = field.of.iter().zip(field.spline.axes());
        let along = |(&c, axis): (&usize, &GridAxis)| {
            format!(
                "{} nodes of {} from {} to {}",
                axis.count,
                problem.coordinates[c].name,
                digits(axis.first, 6),
                digits(axis.last(), 6)
            )
        };
        let grid = axes.map(along).collect::<Vec<_>>().join(", ");
        let ((lo, hi), kind) = (field.range, field.spline.interpolation().name());
        format!(
            "{}: {}; {grid}; values from {} to {}, {kind}",
            field.name,
            field.source,
            digits(lo, 6),
            digits(hi, 6)
        )
    };
    problem.given.iter().map(line).collect()
}

pub(super) fn inputs(problem: &Problem) -> Vec<String> {
    problem.inputs.iter().map(|input| format!("{} = {}", input.name, input.value.text)).collect()
}

/// `1 point, following x = z`
pub(super) fn points(problem: &Problem, equation: &Equation, number: usize) -> String {
    let place = |(coordinate, place): &(usize, Formula)| {
        format!(", following {} = {}", problem.coordinates[*coordinate].name, place.text)
    };
    count(number, "point") + &equation.points.moving.iter().map(place).collect::<String>()
}

/// How many data are beyond limits.
fn beyond(data: &Data, below: Option<f64>, above: Option<f64>) -> String {
    let count = |is_beyond: &dyn Fn(f64) -> bool| match data {
        Data::Table(table) => format!("{} ", table.values.iter().filter(|value| is_beyond(**value)).count()),
        _ => String::new(),
    };
    let below = below.map(|limit| format!(", {}at most {}", count(&|value| value <= limit), shown(limit)));
    let above = above.map(|limit| format!(", {}at least {}", count(&|value| value >= limit), shown(limit)));
    below.into_iter().chain(above).chain([", likelihood censored".to_owned()]).collect()
}

/// Every unknown with its start and the way it reaches the losses.
pub(super) fn unknowns(problem: &Problem, reach: &Reach) -> Vec<String> {
    let line = |(number, unknown): (usize, &Unknown)| {
        let moved = match unknown.transform {
            Transform::Identity => String::new(),
            Transform::Log => ", moved as its logarithm".to_owned(),
        };
        let truth = unknown.truth.map(|truth| format!(", truth {}", shown(truth))).unwrap_or_default();
        let used = reach.places_of(number).join(", ");
        let prior = unknown.prior.map(|prior| format!(", prior {prior}")).unwrap_or_default();
        let (name, guess) = (&unknown.name, shown(unknown.guess));
        format!("{name}: guess {guess}{truth}{prior}{moved}; in {used}; {}", reach.way(number))
    };
    let scalars = problem.unknowns.iter().enumerate().map(line);
    scalars.chain(functions(problem, reach)).collect()
}

/// What the weight of a regulariser is beside a mean of squares, where the loss is chi-square per datum since all data state
/// their errors.
fn amounts_to(problem: &Problem, weight: f64) -> String {
    let stated = |observation: &bilo_problem::Observation| match &observation.data {
        Data::Table(table) if observation.likelihood == Likelihood::Gaussian => {
            table.sigma.clone().filter(|_| observation.sigma != Sigma::Estimated)
        }
        _ => None,
    };
    let sigma: Option<Vec<Vec<f64>>> = problem.observations.iter().map(stated).collect();
    let Some(sigma) = sigma.map(|sigma| sigma.concat()).filter(|sigma| !sigma.is_empty()) else {
        return String::new();
    };
    let precision = sigma.iter().map(|sigma| sigma.powi(-2)).sum::<f64>() / sigma.len() as f64;
    format!(
        " beside chi-square per datum, which is {} beside a mean of squares",
        digits(weight / precision, 3)
    )
}

fn functions(problem: &Problem, reach: &Reach) -> Vec<String> {
    let line = |(number, unknown): (usize, &UnknownFunction)| {
        let truth = unknown.truth.as_ref().map(|truth| format!(", truth {}", truth.describe()));
        let truth = truth.unwrap_or_default();
        let regulariser = match &unknown.regulariser {
            Some(Regulariser { kind, automatic: true, .. }) => {
                format!("regulariser {} of a weight that the data choose", kind.name())
            }
            Some(Regulariser { kind, weight, .. }) => {
                format!("regulariser {} of weight {weight}{}", kind.name(), amounts_to(problem, *weight))
            }
            None => "no regulariser".to_owned(),
        };
        let range = unknown.of.iter().filter(|_| unknown.state().is_some());
        let range = range.map(|Argument { axis, .. }| {
            format!(", {} in [{}, {}]", axis.name, shown(axis.lo), shown(axis.hi))
        });
        let number = problem.unknowns.len() + number;
        format!(
            "{}({}) = {}{}: guess {}{truth}; {regulariser}; in {}; {}",
            unknown.name,
            unknown.argument_names().join(", "),
            unknown.form.text,
            range.collect::<String>(),
            unknown.guess.describe(),
            reach.places_of(number).join(", "),
            reach.way(number)
        )
    };
    problem.functions.iter().enumerate().map(line).collect()
}

/// Most characters of an equation that is written out for a reader.
const LONG: usize = 300;

/// What names of a problem mean in print.
fn names(problem: &Problem) -> Names {
    let coordinates = problem.coordinates.iter().map(|c| &c.name);
    let inputs = problem.inputs.iter().map(|input| &input.name);
    let functions = problem.functions.iter().map(|function| &function.name);
    let given = problem.given.iter().map(|field| &field.name);
    let constants = problem.constants.iter().map(|constant| &constant.name);
    let states = problem.states.iter().map(|state| &state.name);
    // Functions of a state have derivatives by it.
    let arguments = problem.functions.iter().filter_map(|function| function.state());
    let arguments = arguments.map(|state| &problem.states[state].name);
    let variables: Vec<String> = coordinates.chain(inputs).chain(arguments).cloned().collect();
    let others = problem.unknowns.iter().map(|unknown| &unknown.name).chain(functions);
    let declared = others.chain(given).chain(constants).chain(states).chain(&variables).cloned().collect();
    Names { declared, variables }
}

/// A formula as print sets it, in one line.
fn set(text: &str, names: &Names) -> String {
    typeset(text, names).map_or_else(|| text.to_owned(), |math| math.to_string())
}

/// A formula as its author wrote it, with the names of definitions and vectors.
fn as_stated(formula: &Formula, names: &Names) -> String {
    let written = formula.origin.slice().map(|text| text.trim_matches(['"', '\'']));
    let math = written.and_then(|text| typeset(text, names));
    math.map_or_else(|| set(&formula.text, names), |math| math.to_string())
}

/// As it is stated, or what vanishes; with definitions, `div` and the like written out.
pub(super) fn equation(problem: &Problem, equation: &Equation, residual: &str) -> String {
    let names = names(problem);
    let (name, written) = (&equation.name, &equation.residual.text);
    let vectors = ["div(", "grad(", "lap(", "d("].iter().any(|word| written.contains(word));
    let stated = as_stated(&equation.residual, &names);
    let written_out = vectors || stated != set(written, &names);
    match equation.residual.is_equation() {
        true if written_out && residual.len() <= LONG => {
            format!("{name}: {stated}, that is, 0 = {}", set(residual, &names))
        }
        true => format!("{name}: {stated}"),
        false => format!("{name}: 0 = {}", set(residual, &names)),
    }
}

/// Conditions that hold whatever stands for the solution.
pub(super) fn held_by_forms(problem: &Problem) -> Vec<String> {
    let held = problem.conditions.iter().filter(|condition| condition.held_by == HeldBy::Form);
    held.map(|held| format!("{}; held by the form, exactly", condition(problem, held))).collect()
}

/// `start: u = 0 at t = 0`
pub(super) fn condition(problem: &Problem, condition: &Condition) -> String {
    format!("{}: {} at {}", condition.name, as_stated(&condition.holds, &names(problem)), condition.at)
}

pub(super) fn states(problem: &Problem) -> Vec<String> {
    let names = names(problem);
    problem.states.iter().map(|state| format!("{} = {}", state.name, set(&state.form.text, &names))).collect()
}

/// Quantities that are reported beside the unknowns.
pub(super) fn derived(problem: &Problem) -> Vec<String> {
    let names = names(problem);
    let line = |derived: &Derived| format!("{} = {}", derived.name, as_stated(&derived.value, &names));
    problem.derived.iter().map(line).collect()
}

pub(super) fn observations(problem: &Problem) -> Vec<String> {
    let names = names(problem);
    let line = |o: &bilo_problem::Observation| {
        let data = match &o.data {
            Data::Synthetic { noise, made: None, .. } => format!("synthetic at the truth, noise {noise}"),
            Data::Synthetic { noise, made: Some(made), .. } => {
                format!("synthetic at the truth, made as {}, noise {noise}", made.value.text)
            }
            Data::Drawn => "particles drawn at the truth".to_owned(),
            Data::Table(table) if matches!(o.likelihood, Likelihood::PoissonProcess { .. }) => {
                count(table.values.len(), "particle")
            }
            Data::Table(table) => count(table.values.len(), "value"),
        };
        let likelihood = match o.likelihood {
            Likelihood::Gaussian => String::new(),
            Likelihood::Censored { below, above } => beyond(&o.data, below, above),
            _ => format!(", likelihood {}", o.likelihood.name()),
        };
        let sigma = match (o.sigma, &o.data, &o.likelihood) {
            (Sigma::Known(sigma), ..) => format!(", sigma {sigma}"),
            (Sigma::Estimated, ..) => ", noise to be estimated".to_owned(),
            (Sigma::OfData, Data::Table(table), Likelihood::NegativeBinomial { .. }) => {
                if o.has_free_scale(table) { ", dispersion to be estimated" } else { "" }.to_owned()
            }
            (_, _, Likelihood::Binomial { trials }) => {
                trials.map_or(", each with its trials".to_owned(), |trials| format!(", of {trials} each"))
            }
            (Sigma::OfData, Data::Table(table), likelihood) => {
                let normal = likelihood.is_normal();
                match (o.stated_scale(table), table.sigma.is_some()) {
                    (Some(_), true) => ", each with its sigma",
                    (None, _) if normal || o.has_free_scale(table) => ", noise to be estimated",
                    _ => "",
                }
                .to_owned()
            }
            _ => String::new(),
        };
        format!("{}: {} ({data}{sigma}{likelihood})", o.name, as_stated(&o.value, &names))
    };
    problem.observations.iter().map(line).collect()
}

pub(super) fn network(problem: &Problem, operator: &LocalOperator) -> Vec<String> {
    let of_functions = problem.functions.iter().map(|function| &function.network);
    let choices =
        of_functions.take(operator.functions.networks.len()).chain(std::iter::repeat(&problem.network));
    let line = |(bound, choice): (&bilo_jet::BoundNetwork, &NetworkChoice)| {
        format!(
            "{} and {} in, {} out, width {}, {} after the embedding, {}: {}",
            count(bound.network.coordinates(), "coordinate input"),
            count(bound.network.parameters(), "unknown"),
            bound.outputs.len(),
            choice.width,
            count(choice.layers, "hidden layer"),
            activation_name(choice.activation),
            count(bound.network.weights(), "weight")
        )
    };
    operator.operator.networks.iter().zip(choices).map(line).collect()
}

fn activation_name(activation: Activation) -> &'static str {
    match activation {
        Activation::Tanh => "tanh",
        Activation::Sin => "sin",
        Activation::Softplus => "softplus",
        Activation::Swish => "swish",
    }
}

/// The derivatives of a frame's networks, as a reader would write them.
pub(super) fn carried(problem: &Problem, frame: &Frame) -> String {
    let inputs: Vec<String> = problem
        .coordinates
        .iter()
        .flat_map(|c| {
            if c.periodic {
                vec![format!("[sin {}]", c.name), format!("[cos {}]", c.name)]
            } else {
                vec![c.name.clone()]
            }
        })
        .chain(problem.inputs.iter().map(|input| input.name.clone()))
        .collect();
    let name = |orders: &[u8]| {
        let suffix: Vec<String> =
            inputs.iter().zip(orders).map(|(input, &order)| input.repeat(usize::from(order))).collect();
        let suffix = suffix.concat();
        if suffix.is_empty() { "net".to_owned() } else { format!("net_{suffix}") }
    };
    let of_states = frame.carriers.iter().find(|carrier| !carrier.given).expect("every state has one");
    let names: Vec<String> = of_states.plan.indices().iter().map(|index| name(index.as_slice())).collect();
    format!("{}, and each along one direction of the unknowns", names.join(", "))
}

/// What neural operators would learn from.
pub(super) fn examples(problem: &Problem, examples: &Examples) -> Vec<String> {
    let nodes = examples.grid.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
    let how = if examples.count.is_some() { "drawn at random" } else { "all combinations" };
    let mut lines = vec![format!("{} on {nodes} nodes, {how}", examples.size())];
    for (unknown, span) in problem.unknowns.iter().zip(&examples.scalars) {
        let (values, Span { from, to, .. }) = (span.values().len(), span);
        lines.push(format!("{}: {values} values from {from} to {to}", unknown.name));
    }
    for (function, FieldAround { sd, length }) in problem.functions.iter().zip(&examples.functions) {
        lines.push(format!("{}: the guess and a random field, sd {sd}, length {length}", function.name));
    }
    lines
}
