//! What was checked, and everything needed to repeat the run.

use super::solver;
use crate::html::mathml::inline_name;
use crate::html::page::{legend, table, without_empty};
use crate::html::source::Source;
use crate::html::text::{none, number, or_none, scientific};
use crate::markup::{Html, html};
use crate::number::duration;
use bilo::outcome::{MisfitOutcome, Noise, NoiseSource, Outcome, TestKind};
use serde_json::Value;

pub(super) fn checks(source: &Source) -> Html {
    [states, misfits, goodness, residual_tests, grid, audit, near, identifiability, noise, operator]
        .map(|part| part(source))
        .into_iter()
        .collect()
}

fn cell(value: Option<f64>) -> Html {
    or_none(value.filter(|value| value.is_finite()), |value| scientific(value, 2))
}

/// A table under a heading with a line of explanation; nothing without rows.
fn titled(heading: &str, header: &[&str], rows: Vec<Vec<Html>>, remark: &str) -> Html {
    if rows.is_empty() {
        return Html::default();
    }
    let remark = if remark.is_empty() { Html::default() } else { legend(remark) };
    html!("<h3>{}</h3>\n{}{}", heading, table(header, &rows), remark)
}

fn states(source: &Source) -> Html {
    let known = source.outcome.states.iter().filter(|state| state.relative_l2_vs_classical.is_some());
    let rows = known.map(|state| {
        vec![inline_name(&state.name), cell(state.relative_l2_vs_classical), cell(state.relative_l2_at_end)]
    });
    let header = ["state", "relative L² difference", "at the final time"];
    let legend =
        format!("Between the {} and the reference solution at the estimate.", solver(&source.outcome));
    let (header, rows) = without_empty(&header, rows.collect());
    titled("Agreement with the reference solver", &header, rows, &legend)
}

fn misfits(source: &Source) -> Html {
    let rows = source.outcome.misfits.iter().map(|misfit| {
        let MisfitOutcome { network, classical, dice_network, dice_classical, .. } = *misfit;
        let cells = [network, classical, dice_network, dice_classical].map(cell);
        [vec![Html::text(&misfit.name)], cells.to_vec()].concat()
    });
    let name = format!("by the {}", solver(&source.outcome));
    let header =
        ["observation", &name, "by the reference solution", "overlap (Dice)", "overlap, reference solution"];
    let (header, rows) = without_empty(&header, rows.collect());
    titled("Data loss at the estimate", &header, rows, "The same data, the same unknowns, two solvers.")
}

/// Chi-square, outliers and repeated rows.
fn goodness(source: &Source) -> Html {
    let list = |rows: Vec<String>| Html::text(&rows.join(", "));
    let rows = source.outcome.goodness.observations.iter().map(|fit| {
        let outliers = fit
            .outliers
            .iter()
            .map(|outlier| format!("{} ({} sd)", outlier.row, number(outlier.residual.round())));
        let (value, freedom, p) =
            fit.chi_square.map_or((None, None, None), |c| (Some(c.value), Some(c.freedom), Some(c.p)));
        vec![
            Html::text(&fit.name),
            cell(value),
            or_none(freedom, |freedom| format!("{freedom:.1}")),
            cell(p),
            list(outliers.collect()),
            list(fit.repeated_rows.iter().map(ToString::to_string).collect()),
            Html::text(fit.untested.as_deref().unwrap_or("")),
        ]
    });
    let header = [
        "observation",
        "chi-square",
        "degrees of freedom",
        "p",
        "outliers, by row",
        "repeated rows",
        "not tested, since",
    ];
    let (header, rows) = without_empty(&header, rows.collect());
    let legend = "Chi-square is the sum of squared residuals in units of the stated errors; p the probability of one as \
                  large or larger if the model is right.";
    titled("Fit of the data", &header, rows, legend)
}

/// Whether the residuals have a pattern.
fn residual_tests(source: &Source) -> Html {
    let rows = source.outcome.goodness.tests().map(|(fit, test)| {
        let name = match test.kind {
            TestKind::Runs => "runs of one sign",
            TestKind::LagOne => "correlation of neighbours",
            TestKind::Neighbours => "Moran\u{2019}s I of nearest neighbours",
            TestKind::Normality => "normality (skewness, kurtosis)",
            TestKind::LackOfFit => "lack of fit beside what repeated data differ by (F)",
        };
        vec![
            Html::text(&fit.name),
            Html::text(name),
            test.along.as_ref().map_or_else(none, |along| inline_name(along)),
            cell(Some(test.statistic)),
            cell(Some(test.p)),
            cell(Some(test.adjusted_p)),
        ]
    });
    let header = ["observation", "test", "along", "statistic", "p", "p for all tests together"];
    let legend = "Noise has no pattern. The last column has Holm\u{2019}s correction for the number of tests; below 0.001 the \
                  verdict is orange.";
    titled("Residuals", &header, rows.collect(), legend)
}

/// The error of the reference solver's grid.
fn grid(source: &Source) -> Html {
    let Some(found) = &source.outcome.discretisation else { return Html::default() };
    let numbers = source.outcome.unknowns.numbers.iter().zip(&found.shift);
    let rows = numbers.map(|(unknown, shift)| {
        vec![inline_name(&unknown.name), cell(Some(*shift)), cell(unknown.sd.map(|sd| shift / sd))]
    });
    let cells: Vec<String> = found.cells.iter().map(ToString::to_string).collect();
    let refined = if found.refined { ", finer than stated" } else { "" };
    let legend = format!(
        "By how much the grid moves each unknown, from {} grids, the finest with {} cells and {} steps{refined}; order {:.1}.",
        found.grids,
        cells.join(" x "),
        found.steps,
        found.order
    );
    titled("Error of the grid", &["unknown", "shift", "in error bars"], rows.collect(), &legend)
}

fn audit(source: &Source) -> Html {
    let rows = source.outcome.audit.iter().map(|audit| {
        let cosine = Some(audit.cosine).filter(|cosine| cosine.is_finite());
        vec![
            Html::text(audit.at.name()),
            or_none(cosine, |cosine| format!("{cosine:.4}").replace('-', "−")),
            cell(Some(audit.relative_error)),
            Html::text(if audit.below_noise { "no: below the noise of the operator" } else { "yes" }),
        ]
    });
    let header = ["gradient at", "cosine", "relative error", "meaningful"];
    let legend = "The gradient of the data loss by the unknowns, against the exact one of the reference solver. \
                  A cosine of 1 is the same direction.";
    titled("Audit of the gradient", &header, rows.collect(), legend)
}

fn near(source: &Source) -> Html {
    let rows = source.outcome.near.iter().flat_map(|near| {
        near.states.iter().map(|state| {
            vec![
                Html::text(&near.at),
                inline_name(&state.name),
                cell(Some(state.relative_l2_vs_classical)),
                cell(Some(state.relative_l2_of_guess)),
            ]
        })
    });
    let header = ["at", "state", "operator, relative L²", "solution at the guess, relative L²"];
    let legend = "How far the local operator reaches: its solution beside the guess, without further training, against the \
                  reference solution there.";
    titled("Near the guess", &header, rows.collect(), legend)
}

fn identifiability(source: &Source) -> Html {
    let values = &source.outcome.singular_values;
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return Html::default() };
    let shown = values.iter().take(12).map(|value| scientific(*value, 2)).collect::<Vec<String>>();
    let (shown, correlations) = (shown.join(", "), correlations(source));
    let more = if values.len() > 12 { ", …" } else { "" };
    let times = (values.len() > 1 && *last > 0.0).then(|| scientific(first / last, 1));
    let say =
        |times| format!(" The data constrain the best known direction {times} times better than the worst.");
    let ratio = times.map(say).unwrap_or_default();
    html!(
        "<h3>What the data tell of the unknowns</h3>\n<p>Singular values of the derivatives of observed values by relative \
         changes of the unknowns: {shown}{more}.{ratio}</p>\n{correlations}";
        shown, more, ratio, correlations
    )
}

/// Those of different unknowns, if there are several.
fn correlations(source: &Source) -> Html {
    let numbers = &source.outcome.unknowns.numbers;
    let names: Vec<Html> = numbers.iter().map(|number| inline_name(&number.name)).collect();
    let rows = &source.outcome.correlations;
    if rows.len() < 2 || rows.len() != names.len() {
        return Html::default();
    }
    let others = names.len() - 1;
    let entry =
        |value: f64| or_none(Some(value).filter(|value| value.is_finite()), |value| format!("{value:.3}"));
    let cells = |(i, row): (usize, &Vec<f64>)| {
        let entries = (0..others).map(|j| if j < i { entry(row[j]) } else { Html::default() });
        std::iter::once(names[i].clone()).chain(entries).collect::<Vec<Html>>()
    };
    let rows = rows.iter().enumerate().skip(1).map(cells).collect::<Vec<_>>();
    let header = [&[Html::default()], &names[..others]].concat();
    let remark =
        "Correlations of the estimates: near ±1, the data tell a combination of the two better than either.";
    table(&header, &rows) + legend(remark)
}

fn noise(source: &Source) -> Html {
    let words = |source: NoiseSource| match source {
        NoiseSource::Sigma => "the column sigma of the data",
        NoiseSource::Stated => "stated in the problem file",
        NoiseSource::Residuals => "estimated from the residuals of the data",
        NoiseSource::Likelihood => "as the likelihood says",
        NoiseSource::None => "synthetic data without noise",
    };
    let from = |noise: &Noise| match (noise.dispersion, noise.dispersion_error) {
        (Some(k), Some(error)) => format!("dispersion {k:.3} ± {error:.1}, estimated from the counts"),
        (Some(k), None) => format!("dispersion {k:.3}, stated in the problem file"),
        _ => words(noise.source).to_owned(),
    };
    let rows = source
        .outcome
        .noise
        .iter()
        .map(|noise| vec![Html::text(&noise.observation), cell(noise.sd), Html::text(&from(noise))]);
    let header = ["observation", "standard deviation", "where it is from"];
    titled("Noise behind the error bars", &header, rows.collect(), "")
}

/// What stood for the solution, and what a neural operator learned from.
fn operator(source: &Source) -> Html {
    let mut html = Html::default();
    let parts = [
        (serde_json::to_value(&source.outcome.operator), "Local operator"),
        (serde_json::to_value(&source.outcome.learned), "Learned from examples"),
    ];
    for (part, heading) in parts {
        let rows = part.map(|part| rows_of(&part, "")).unwrap_or_default();
        if !rows.is_empty() {
            html += html!("<h3>{}</h3>\n{}", heading, pairs(&rows));
        }
    }
    html
}

/// Names and values of an object and the objects inside it.
fn rows_of(value: &Value, before: &str) -> Vec<(String, Html)> {
    let mut rows = vec![];
    for (key, value) in value.as_object().into_iter().flatten() {
        let name = format!("{before}{}", key.replace('_', " "));
        match value {
            Value::Null => {}
            Value::Object(_) => rows.extend(rows_of(value, &format!("{name}: "))),
            Value::Number(found) if found.is_f64() => rows.push((name, cell(found.as_f64()))),
            Value::String(text) => rows.push((name, Html::text(text))),
            other => rows.push((name, Html::text(&other.to_string()))),
        }
    }
    rows
}

fn pairs<N: AsRef<str>>(rows: &[(N, Html)]) -> Html {
    let line = |(name, value): &(N, Html)| html!("<dt>{}</dt><dd>{}</dd>\n", name.as_ref(), value);
    html!("<dl class=\"facts\">\n{}</dl>\n", rows.iter().map(line).collect::<Html>())
}

/// How to repeat the run, and what was in force.
pub(super) fn settings(source: &Source) -> Html {
    let remarks = source.text.lines().filter_map(|line| line.strip_prefix("#: "));
    let mut rows = vec![];
    if let Some(record) = &source.record {
        rows.push(("program", html!("bilo {}", &record.version)));
        rows.push(("command", html!("<code>{}</code>", record.command.join(" "))));
    }
    let Outcome { method, recipe, device, precision, seed, .. } = &source.outcome;
    let used = [("method", method), ("recipe", recipe), ("device", device), ("precision", precision)];
    rows.extend(used.map(|(name, word)| (name, Html::text(word))));
    rows.push(("seed", Html::text(&seed.to_string())));
    let seconds = |seconds: f64| (seconds > 0.0).then(|| Html::text(&duration(seconds)));
    let steps = |steps: usize| Some(Html::text(&number(steps as f64)));
    let memory = |bytes: u64| Html::text(&format!("{:.0} MB", bytes as f64 / 1e6));
    let took = &source.outcome.seconds;
    let measured = [
        ("time", seconds(took.total)),
        ("time of pre-training", seconds(took.pretrain)),
        ("time of training", seconds(took.train)),
        ("time of a step", seconds(took.per_step)),
        ("steps of pre-training", steps(source.outcome.steps.pretrain)),
        ("steps of training", steps(source.outcome.steps.train)),
        ("memory at most", source.outcome.peak_memory_bytes.map(memory)),
        ("memory of the GPU at most", source.outcome.device_memory_bytes.map(memory)),
    ];
    rows.extend(measured.into_iter().filter_map(|(name, value)| Some((name, value?))));
    pairs(&rows) + in_force(remarks)
}

/// Settings with their defaults, by table.
fn in_force<'a>(remarks: impl Iterator<Item = &'a str>) -> Html {
    let mut html = Html::default();
    for line in remarks {
        match line.split_once(" = ") {
            Some((key, value)) => {
                html += html!("<dt>{}</dt><dd><code>{}</code></dd>\n", key, value);
            }
            None if line.starts_with('[') => {
                let name = line.trim_matches(['[', ']']);
                html += html!("</dl>\n<h4>{}</h4>\n<dl class=\"facts\">\n", name);
            }
            None => {}
        }
    }
    if html.is_empty() {
        return html;
    }
    html!(
        "<details><summary>All settings in force, defaults included</summary>\n<dl class=\"facts\">\n{}</dl>\n</details>\n",
        html
    )
}
