//! The arithmetic of memstore on plain slices: no Python, no database, no policy.
//!
//! Data flows one way: a vector is decoded ([`codec`]), brought to length one (`unit`), and kept
//! as [`codes`], which tell whether it can be among the nearest to a query; the vectors of those
//! that can are multiplied ([`dot`]). [`columns`] tell which rows may be seen, as [`ids`]. [`words`]
//! is the inverted index. [`rank`] merges what the word search and the scan found; [`texts`] ranks it
//! by how well it answers. [`model`] makes vectors of texts, and [`language`] tells what their words
//! say without one.

#[macro_use]
mod instruction_sets;

pub mod codec;
pub mod codes;
pub mod columns;
pub mod dot;
mod id_hash;
pub mod ids;
pub mod language;
pub mod mapped;
pub mod model;
pub mod rank;
pub mod texts;
pub mod unit;
pub mod words;
