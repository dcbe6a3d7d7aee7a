//! The arithmetic of memstore on plain slices: no Python, no database, no policy.
//!
//! Data flows one way: a vector is decoded ([`codec`]), brought to length one (`unit`), split
//! into a coarse and a fine half ([`halves`]) and kept beside its neighbours ([`rows`]); a query
//! walks the coarse halves ([`scan`]), multiplies ([`dot`]) and keeps the best ([`top_k`]).
//! [`codes`] do the same without keeping the vectors: they tell which can be among the best.
//! [`columns`] tell which rows may be seen, as [`ids`]. [`words`] is the inverted index. [`rank`]
//! merges what the word search and the scan found. [`model`] makes vectors of texts.

pub mod codec;
pub mod codes;
pub mod columns;
pub mod dot;
pub mod halves;
mod huge_pages;
mod id_hash;
pub mod ids;
pub mod mapped;
pub mod model;
mod partition;
pub mod rank;
pub mod rows;
pub mod scan;
pub mod top_k;
pub mod unit;
mod visible;
pub mod words;
