//! The lower level solved from one place wherever it is asked for, as sampling wants it: what is found depends on the unknowns
//! alone, not on where it was asked before.

use super::corrector::Learnt;
use super::solver::{LocalEvaluation, LocalSolver};
use bilo_fit::gauss_newton::ReducedProblem;
use bilo_fit::sensitivities::Sensitivities;
use bilo_problem::Unknown;
use bilo_problem::diagnostic::Result;

/// A solver that always begins at one place, its anchor.
pub struct Anchored<'a> {
    solver: LocalSolver<'a>,
    learnt: Learnt,
    anchor: LocalEvaluation,
}

impl<'a> Anchored<'a> {
    /// With what a solver knows now.
    pub fn new(solver: LocalSolver<'a>, anchor: LocalEvaluation) -> Self {
        Self { learnt: solver.corrector.learnt(), solver, anchor }
    }

    /// What solves.
    pub fn solver(&self) -> &LocalSolver<'a> {
        &self.solver
    }

    /// The solution where it begins.
    pub fn anchor(&self) -> &LocalEvaluation {
        &self.anchor
    }

    /// Solves at some unknowns.
    pub fn at(&mut self, eta: &[f64]) -> Result<LocalEvaluation> {
        self.solver.corrector.forget_all_but(&self.learnt);
        self.solver.evaluate(&self.anchor, eta)
    }
}

/// A dictionary with few combinations of its features, which stand for it wherever they solve the equations as well.
pub struct WithReduced<'w, 'a, 'r> {
    whole: &'w mut Anchored<'a>,
    reduced: Option<Reduced<'r>>,
}

/// The dictionary of few combinations.
pub struct Reduced<'a> {
    solver: Anchored<'a>,
    /// The root of the lower loss up to which it is believed.
    enough: f64,
}

impl<'a> Reduced<'a> {
    /// Believed where the root of its lower loss is no more than so much.
    pub fn new(solver: Anchored<'a>, enough: f64) -> Self {
        Self { solver, enough }
    }

    /// Its solution, if it is believed.
    pub fn at(&mut self, eta: &[f64]) -> Option<LocalEvaluation> {
        self.solver.at(eta).ok().filter(|found| found.lower_losses[0].sqrt() <= self.enough)
    }
}

impl<'w, 'a, 'r> WithReduced<'w, 'a, 'r> {
    /// Without combinations the dictionary solves always.
    pub fn new(whole: &'w mut Anchored<'a>, reduced: Option<Reduced<'r>>) -> Self {
        Self { whole, reduced }
    }
}

impl ReducedProblem for WithReduced<'_, '_, '_> {
    type Evaluation = LocalEvaluation;

    fn unknowns(&self) -> &[Unknown] {
        self.whole.solver.unknowns()
    }

    /// From the anchors, wherever a solution is near.
    fn evaluate(&mut self, _: &LocalEvaluation, eta: &[f64]) -> Result<LocalEvaluation> {
        match self.reduced.as_mut().and_then(|reduced| reduced.at(eta)) {
            Some(found) => Ok(found),
            None => self.whole.at(eta),
        }
    }

    fn observed(&mut self, evaluation: &LocalEvaluation) -> Result<Vec<Sensitivities>> {
        // Every evaluation has them, whoever made it.
        self.whole.solver.observed(evaluation)
    }
}
