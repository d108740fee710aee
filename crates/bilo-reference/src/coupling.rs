//! Which equations have states in common.

use bilo_expr::Leaf;
use bilo_problem::diagnostic::Result;
use bilo_problem::{Names, Problem};

/// States that are coupled by equations, and these.
pub struct Group {
    /// The states, by number.
    pub states: Vec<usize>,
    equations: Vec<usize>,
}

impl Group {
    /// The problem of these states alone.
    pub(crate) fn of(&self, problem: &Problem) -> Problem {
        Problem {
            states: self.states.iter().map(|&state| problem.states[state].clone()).collect(),
            equations: self.equations.iter().map(|&equation| problem.equations[equation].clone()).collect(),
            conditions: vec![],
            observations: vec![],
            pictures: vec![],
            ..problem.clone()
        }
    }
}

/// The states of a problem by how equations couple them; all together where functions of states or inputs might.
pub fn coupled(problem: &Problem) -> Result<Vec<Group>> {
    let (states, equations) = (problem.states.len(), problem.equations.len());
    let whole = || vec![Group { states: (0..states).collect(), equations: (0..equations).collect() }];
    let of_state = problem.functions.iter().any(|function| function.state().is_some());
    if states == 1 || of_state || !problem.inputs.is_empty() {
        return Ok(whole());
    }
    let mut names = Names::new(problem)?;
    let functions = names.bind_states_opaque(problem);
    let mut groups: Vec<Group> = vec![];
    for (number, equation) in problem.equations.iter().enumerate() {
        let residual = names.lower(&equation.residual)?;
        let leaves = names.graph.leaves(&[residual]);
        let has = |state: &usize| {
            leaves.iter().any(|leaf| matches!(leaf, Leaf::Derivative(f, _) if *f == functions[*state]))
        };
        let mut joined = Group { states: (0..states).filter(has).collect(), equations: vec![number] };
        if joined.states.is_empty() {
            return Ok(whole());
        }
        for other in groups
            .extract_if(.., |group| group.states.iter().any(|s| joined.states.contains(s)))
            .collect::<Vec<_>>()
        {
            joined.states.extend(other.states);
            joined.equations.extend(other.equations);
        }
        joined.states.sort_unstable();
        joined.states.dedup();
        joined.equations.sort_unstable();
        groups.push(joined);
    }
    let found: usize = groups.iter().map(|group| group.states.len()).sum();
    groups.sort_by_key(|group| group.states[0]);
    // A state of no equation is refused with the rest.
    if found < states { Ok(whole()) } else { Ok(groups) }
}
