//! Features as tokens, and the built-in model that has a vector for each.
//!
//! Without the feature `model` the tokens are words, and only equal ones are similar.

#[cfg(feature = "model")]
mod built_in_model;
#[cfg(feature = "model")]
mod file;
#[cfg(feature = "model")]
mod tokenizer;
#[cfg_attr(not(feature = "model"), path = "whole_words.rs")]
pub(crate) mod tokens;

#[cfg(feature = "model")]
pub use built_in_model::{BuiltInModel, DIMENSION};

/// A token of a text, in the mean of all of them.
pub(crate) struct Weighed {
    #[cfg_attr(
        not(feature = "model"),
        expect(dead_code, reason = "each word is a direction")
    )]
    pub token: u16,
    /// How often it occurs.
    pub times: usize,
    pub weight: f64,
}
