//! Vectors of float32: as BLOBs ([`codec`], [`packed`]), of length one ([`unit`]), multiplied ([`dot`]).

pub mod codec;
pub mod dot;
pub(crate) mod instruction_sets;
pub mod packed;
pub mod unit;
