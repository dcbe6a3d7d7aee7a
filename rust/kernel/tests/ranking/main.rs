//! The order of results.

mod classic;
#[cfg(feature = "model")]
mod contextual;
