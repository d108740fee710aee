//! What a run of `bilo` leaves behind.
//!
//! Outcomes become files here ([`npz`], [`csv`], [`drawing`], [`posterior`], [`prior`], [`zarr`], [`calibration`]) and texts for a terminal ([`table`], [`forward`]);
//! the files of a folder become a page to read ([`html`]). Nothing here knows how a result was computed.
//!
//! ```
//! use bilo_report::number::significant;
//!
//! assert_eq!(significant(1.99997844), "1.99998");
//! ```

pub mod calibration;
pub mod columns;
pub mod csv;
pub mod drawing;
pub mod files;
pub mod forward;
pub mod history;
pub mod html;
mod inference_data;
mod markup;
pub mod npz;
pub mod number;
pub mod picture;
pub mod posterior;
pub mod prior;
pub mod profile;
pub mod record;
pub mod table;
pub mod tensorboard;
pub mod zarr;

#[cfg(test)]
mod example;
