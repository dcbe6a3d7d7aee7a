//! The index: four structures of rows, each in memory and in a file that all processes share.
//!
//! [`columns`] decide which rows are visible, [`words`] is the inverted index, [`codes`] find the
//! nearest vectors, and [`features`] are what the contextual ranking compares with a query.

pub mod codes;
pub mod columns;
pub mod features;
pub(crate) mod id_hash;
pub mod ids;
pub mod mapped;
pub mod mentions;
pub mod words;
