//! Pictures of a study: bars of all figures, and the paths of two unknowns.

use super::folder_name;
use super::plan::{Case, Plan, short};
use super::summary::{Ended, Summary};
use crate::failure::Failure;
use crate::files::HISTORY;
use bilo::outcome::Outcome;
use bilo_report::history::History;
use bilo_report::picture::bars::{self, Bar, Chart};
use bilo_report::picture::landscape::Landscape;
use bilo_report::picture::paths::{self, Plane};
use std::fs;
use std::path::Path;

/// Most points of a path that are drawn.
const MOST_POINTS: usize = 2000;

/// How cases stand side by side: by a key that all have, and by all else.
struct Layout {
    /// The key, without what comes before its last point.
    of: String,
    groups: Vec<String>,
    series: Vec<String>,
    /// Group and series of every case.
    places: Vec<(usize, usize)>,
}

impl Layout {
    fn new(plan: &Plan) -> Layout {
        let keys = plan.keys();
        // It is methods that one wants to see side by side.
        let common =
            |key: &&String| *key != "method" && plan.cases.iter().all(|case| case.value(key).is_some());
        let grouped = keys.iter().filter(common).min_by_key(|key| !key.contains('.'));
        let mut layout = Layout { of: String::new(), groups: vec![], series: vec![], places: vec![] };
        if let Some(key) = grouped {
            layout.of = short(key).to_owned();
        }
        for case in &plan.cases {
            let group = grouped.and_then(|key| case.value(key)).unwrap_or_default();
            let others = case.varied.iter().filter(|(key, _)| Some(key) != grouped);
            let series = others.map(|(key, value)| name(key, value)).collect::<Vec<_>>().join(", ");
            let place = (number_of(&mut layout.groups, group), number_of(&mut layout.series, &series));
            layout.places.push(place);
        }
        layout
    }
}

/// Words speak for themselves, numbers do not.
fn name(key: &str, value: &str) -> String {
    let value = value.trim_matches('"');
    if key.contains('.') { format!("{} {value}", short(key)) } else { value.to_owned() }
}

fn number_of(list: &mut Vec<String>, entry: &str) -> usize {
    let known = list.iter().position(|other| other == entry);
    known.unwrap_or_else(|| {
        list.push(entry.to_owned());
        list.len() - 1
    })
}

/// A chart for every figure.
pub(super) fn bars(plan: &Plan, summary: &Summary) -> String {
    let layout = Layout::new(plan);
    let chart = |figure: &String| {
        let mut bars = vec![vec![None; layout.series.len()]; layout.groups.len()];
        for (case, &(group, series)) in layout.places.iter().enumerate() {
            let (mean, deviation) = summary.figure(case, figure);
            bars[group][series] = mean.map(|mean| Bar { mean, deviation });
        }
        Chart { title: figure.clone(), bars }
    };
    let charts: Vec<Chart> = summary.lasting().map(chart).collect();
    bars::sheet(&charts, &layout.of, &layout.groups, &layout.series)
}

/// The paths of the first seed, where there are two scalar unknowns and nothing else in all runs.
pub(super) fn trajectories(plan: &Plan, ended: &[Ended], out: &Path) -> Result<Option<String>, Failure> {
    let outcomes = || ended.iter().flatten();
    let Some(names) = outcomes().next().and_then(two_scalars) else { return Ok(None) };
    if outcomes().any(|outcome| two_scalars(outcome).as_ref() != Some(&names)) {
        return Ok(None);
    }
    let layout = Layout::new(plan);
    let empty =
        Plane { title: String::new(), paths: vec![vec![]; layout.series.len()], goal: None, landscape: None };
    let mut planes = vec![empty; layout.groups.len()];
    for ((case, &(group, series)), ended) in
        plan.cases.iter().zip(&layout.places).zip(ended.chunks(plan.seeds.len()))
    {
        let file = out.join(folder_name(case, plan.seeds[0])).join(HISTORY);
        let plane = &mut planes[group];
        plane.title = if layout.of.is_empty() {
            String::new()
        } else {
            format!("{} = {}", layout.of, layout.groups[group])
        };
        let history = fs::read_to_string(file).map(|text| History::parse(&text, MOST_POINTS));
        plane.paths[series] = history.map_or(vec![], |history| history.way([&names[0], &names[1]]));
        plane.goal = plane.goal.or_else(|| goal(ended.first()?.as_ref().ok()?));
    }
    if plan.contours {
        let ends = paths::ends(&planes);
        for (group, plane) in planes.iter_mut().enumerate() {
            let first = layout.places.iter().position(|place| place.0 == group).expect("a case of the group");
            plane.landscape = landscape(&plan.cases[first], plan.seeds[0], ends)?;
        }
    }
    Ok(Some(paths::sheet(&planes, [&names[0], &names[1]], &layout.series)))
}

/// The names of the unknowns, if they are two scalars.
fn two_scalars(outcome: &Outcome) -> Option<[String; 2]> {
    let names: Vec<String> = outcome.unknowns.numbers.iter().map(|number| number.name.clone()).collect();
    names.try_into().ok().filter(|_| outcome.unknowns.functions.is_empty())
}

/// The truth, if it is known of both.
fn goal(outcome: &Outcome) -> Option<[f64; 2]> {
    let [first, second] = &outcome.unknowns.numbers[..] else { return None };
    Some([first.truth?, second.truth?])
}

/// The data loss around the paths.
fn landscape(case: &Case, seed: u64, ends: [(f64, f64); 2]) -> Result<Option<Landscape>, Failure> {
    let axes = Landscape::axes(ends);
    let problem = case.statement.problem(&case.overrides)?;
    let losses = bilo::loss_map(&problem, seed, [&axes[0], &axes[1]])?;
    Ok(Landscape::of_losses(axes, &losses))
}
