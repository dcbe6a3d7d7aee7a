//! The arithmetic of memstore on plain slices: no Python, no database, no policy.
//!
//! Data flows one way: a vector is decoded ([`codec`]), scaled to length one (`unit`), and
//! quantised as [`codes`], which show whether it can be among the nearest to a query; the vectors
//! of these candidates are multiplied ([`dot`]). [`columns`] decide which rows are visible, as
//! [`ids`]. [`words`] is the inverted index. [`rank`] merges the results of the word search and the
//! scan; [`texts`] ranks them by how well they answer the query. `model` embeds texts, and
//! [`language`] extracts dates, names and the kind of a question from words, without a model.
//!
//! Without the feature `model` there is no `model`: texts are compared by whole words.

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
#[cfg(feature = "model")]
pub mod model;
pub mod rank;
pub mod texts;
pub mod unit;
pub mod words;
