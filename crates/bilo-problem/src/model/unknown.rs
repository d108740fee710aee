//! Unknown numbers.

use crate::model::formula::Formula;
use crate::model::prior::Prior;
use crate::words::words;

/// A scalar parameter of the PDE to be inferred.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// Its name in expressions.
    pub name: String,
    /// Where the search starts.
    pub guess: f64,
    /// The true value, if known: makes synthetic data and scores the result.
    pub truth: Option<f64>,
    /// Values it may not leave.
    pub bounds: Option<(f64, f64)>,
    /// Typical size: the method works with theta/scale.
    pub scale: f64,
    /// The variable that the method moves.
    pub transform: Transform,
    /// Its own learning rate; else the training's `theta-rate`.
    pub rate: Option<f64>,
    /// Unit, for people.
    pub unit: Option<String>,
    /// What is known of it before the data.
    pub prior: Option<Prior>,
    /// Whether both signs are to be considered, where otherwise that of the guess would be kept.
    pub signed: bool,
    /// Whether it is known after all: it has the value of its guess.
    pub fixed: bool,
}

/// The variable eta that the method moves in place of an unknown theta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// theta = scale * eta.
    Identity,
    /// theta = scale * exp(eta): positive.
    Log,
}

words!(Transform { "identity" => Identity, "log" => Log });

impl Unknown {
    /// An unknown and where the search starts.
    pub fn new(name: &str, guess: f64) -> Unknown {
        Unknown {
            name: name.to_string(),
            guess,
            truth: None,
            bounds: None,
            scale: 1.0,
            transform: Transform::Identity,
            rate: None,
            unit: None,
            prior: None,
            signed: false,
            fixed: false,
        }
    }

    /// Its true value.
    pub fn truth(self, truth: f64) -> Unknown {
        Unknown { truth: Some(truth), ..self }
    }

    /// Values it may not leave.
    pub fn bounds(self, lo: f64, hi: f64) -> Unknown {
        Unknown { bounds: Some((lo, hi)), ..self }
    }

    /// Its typical size.
    pub fn scale(self, scale: f64) -> Unknown {
        Unknown { scale, ..self }
    }

    /// Moves its logarithm, so that it stays positive.
    pub fn log(self) -> Unknown {
        Unknown { transform: Transform::Log, ..self }
    }

    /// Its own learning rate.
    pub fn rate(self, rate: f64) -> Unknown {
        Unknown { rate: Some(rate), ..self }
    }

    /// Its unit, for people.
    pub fn unit(self, unit: &str) -> Unknown {
        Unknown { unit: Some(unit.to_string()), ..self }
    }

    /// What is known of it before the data.
    pub fn prior(self, prior: Prior) -> Unknown {
        Unknown { prior: Some(prior), ..self }
    }

    /// Considers both signs, where otherwise that of the guess would be kept.
    pub fn signed(self) -> Unknown {
        Unknown { signed: true, ..self }
    }

    /// Takes its guess for known.
    pub fn fixed(self) -> Unknown {
        Unknown { fixed: true, ..self }
    }

    /// Whether it cannot be negative: its logarithm is moved, or its bounds or its prior say so.
    pub fn is_positive(&self) -> bool {
        let prior = self.prior.is_some_and(|prior| prior.support().0 >= 0.0);
        self.transform == Transform::Log || prior || self.bounds.is_some_and(|(lo, _)| lo >= 0.0)
    }

    /// The variable eta of a value theta.
    pub fn eta_of(&self, theta: f64) -> f64 {
        match self.transform {
            Transform::Identity => theta / self.scale,
            Transform::Log => (theta / self.scale).ln(),
        }
    }

    /// The value theta of a variable eta.
    pub fn theta_of(&self, eta: f64) -> f64 {
        match self.transform {
            Transform::Identity => self.scale * eta,
            Transform::Log => self.scale * eta.exp(),
        }
    }

    /// d theta / d eta at a variable eta.
    pub fn theta_slope(&self, eta: f64) -> f64 {
        match self.transform {
            Transform::Identity => self.scale,
            Transform::Log => self.theta_of(eta),
        }
    }

    /// The nearest variable whose value lies within the unknown's bounds.
    pub fn project(&self, eta: f64) -> f64 {
        match self.bounds {
            Some((lo, _)) if self.theta_of(eta) < lo => self.eta_of(lo),
            Some((_, hi)) if self.theta_of(eta) > hi => self.eta_of(hi),
            _ => eta,
        }
    }
}

impl Formula {
    /// Whether it names one of some unknowns.
    pub(crate) fn names_any(&self, unknowns: &[Unknown]) -> bool {
        let names = self.ast.names();
        unknowns.iter().any(|unknown| names.iter().any(|(name, _)| *name == unknown.name))
    }
}
