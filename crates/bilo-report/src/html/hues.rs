//! Colours that mean the same in all figures of a page.

use crate::picture::colour::{Colour, LINES};

pub(super) const REFERENCE: Colour = LINES[0];
pub(super) const ESTIMATE: Colour = LINES[1];
pub(super) const TRUTH: Colour = LINES[2];
pub(super) const GUESS: Colour = LINES[3];
