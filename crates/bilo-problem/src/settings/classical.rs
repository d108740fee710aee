//! `[classical]`: how the reference solver solves.

use crate::model::domain::{Coordinate, divided};
use crate::model::formula::Formula;
use crate::schema::kind::Kind::{Any, Count, Each, Expression, Word};
use crate::settings::recipe::Recipe;
use crate::settings::table::{Settings, settings};
use crate::words::{Words, words};

settings! {
    /// How the reference solver solves.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Classical {
        "cells" cells: Vec<usize> = vec![], shown "`800`; `100` with two space coordinates";
            Any(&[Count(2, Some(MOST_CELLS)), Each(&Count(2, Some(MOST_CELLS)))]),
            "cells of the classical grid, at most 1000000 in all",
            said "count from 2, or a table with one for each space coordinate";
        "steps" steps: usize = ON_A_LINE, shown "as `cells`";
            Count(1, Some(1_000_000)),
            "time steps; for a conservation law the intervals of time at whose ends it is stored";
        "scheme" scheme: Scheme = Scheme::Automatic;
            Word(Scheme::NAMES),
            "central differences, Godunov's scheme, or the latter for \
             [conservation laws](reference-solver.md#conservation-laws) with a speed that depends on the state";
        "flux" flux: Option<Formula> = None, shown "found in the residual";
            Expression, "the flux of a conservation law; asks for Godunov's scheme",
            said "expression of the state and the unknowns";
    }
}

/// Most cells of the reference solver's grid.
pub(crate) const MOST_CELLS: usize = 1_000_000;

/// Cells and steps on a line.
const ON_A_LINE: usize = 800;

/// Steps where time is alone: of a method of fourth order.
const OF_TIME_ALONE: usize = 200;

/// Cells along each coordinate of the plane, and steps: systems are solved directly there.
const IN_THE_PLANE: usize = 100;

impl Classical {
    /// The defaults over some coordinates: 800 cells and steps on a line, 100 of each in the plane, 200 steps of time alone.
    pub fn over(coordinates: &[Coordinate]) -> Classical {
        let axes = divided(coordinates).len();
        let count = match coordinates {
            [alone] if alone.time => OF_TIME_ALONE,
            _ if axes == 1 => ON_A_LINE,
            _ => IN_THE_PLANE,
        };
        Classical { cells: vec![count; axes], steps: count, ..Classical::of(Recipe::Fast) }
    }

    /// With half as many cells and steps.
    pub fn coarsened(&self) -> Classical {
        let cells = self.cells.iter().map(|&cells| cells / 2).collect();
        Classical { cells, steps: self.steps.div_ceil(2), ..self.clone() }
    }

    /// With twice as many cells and steps.
    pub fn refined(&self) -> Classical {
        let cells = self.cells.iter().map(|&cells| 2 * cells).collect();
        Classical { cells, steps: 2 * self.steps, ..self.clone() }
    }

    /// These settings, nowhere finer than `most`.
    pub fn at_most(&self, most: usize) -> Classical {
        let cells = self.cells.iter().map(|&cells| cells.min(most)).collect();
        Classical { cells, steps: self.steps.min(most), ..self.clone() }
    }
}

/// What the reference solver makes of the equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Godunov's scheme for conservation laws whose speed depends on the state, else central
    /// differences.
    Automatic,
    /// Central differences, implicit in time.
    Central,
    /// Godunov's scheme, for conservation laws u_t + f(u)_x = 0.
    Godunov,
}

words!(Scheme { "automatic" => Automatic, "central" => Central, "godunov" => Godunov });
