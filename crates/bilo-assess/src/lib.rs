//! What a result is worth.

pub mod assess;
pub mod audit;
pub mod examine;
pub mod function_score;
pub mod function_uncertainty;
pub mod identify;
pub mod outcome;
pub mod picture;
pub mod uncertainty;
pub mod verify;
