//! Reads claims for comparison: what each word does, and which words of two claims differ.
//!
//! Nothing is decided here. The rules that judge which claim replaces which are in Python
//! (`text/judging/judge.py`); they see words with their [`roles`], a [`Reading`] of each text and the
//! [`Alignment`] of two.

mod alignment;
mod digest;
mod holder;
mod reading;
pub mod roles;
mod scanner;
mod vocabulary;

pub use crate::language::lexicon::claims::FAMILIES;
pub use alignment::{Alignment, Bearing, Region, Shared, align};
pub use digest::claim_hash;
pub use reading::{Kind, MAX_CHARACTERS, Reading, Word};
