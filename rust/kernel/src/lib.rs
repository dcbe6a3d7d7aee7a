//! The kernel of memstore, on plain slices: no Python, no database.
//!
//! Each folder uses those before it. [`language`] extracts dates, names and the kind of a question
//! from words. [`vectors`] are encoded, scaled and multiplied. [`model`] turns texts into tokens
//! and embeds them. [`index`] finds rows by words, by meaning and by columns. [`ranking`] is policy:
//! its weights and formulas decide what is returned, and in which order.
//! [`chain`] is the hash chain of the journal, and [`json`] writes texts; both stand alone.

pub mod chain;
pub mod index;
pub mod json;
pub mod language;
pub mod model;
pub mod ranking;
pub mod vectors;
