//! The order of results: the policy of a search, with its weights and formulas.
//!
//! [`classic`] adds words and meaning; [`contextual`] ranks by how well rows answer the query.
//! [`bearing`] and [`relevance`] tell whether rows are about a query at all.

pub mod bearing;
pub mod classic;
pub mod contextual;
pub mod relevance;
pub mod times;

/// Rarity is computed as if there were at least this many rows: among fewer, a word that some have
/// would look common compared with one that none has.
const FEW_ROWS: usize = 100;
