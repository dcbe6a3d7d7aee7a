//! Vectors: encoded, scaled and multiplied.

#[path = "../support/naive.rs"]
mod naive;

mod codec;
mod dot;
mod packed;
