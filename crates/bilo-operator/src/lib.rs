//! Local solution operators.

pub mod finite;
pub mod function_values;
pub mod hardware;
pub mod implicit;
pub mod level;
pub mod observed;
pub mod operator;
pub mod state;
pub mod train;
