//! Products of codes with a query, written once for each instruction set.
//!
//! All of it is arithmetic on whole numbers, so every instruction set gives the same result to the
//! last bit. No sum comes near the range of 32 bits: a dimension is at most 65,536, and a product
//! of a whole number of the query and a level at most 127 times 44.

mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

use super::query::{Coarse, Query, WORDS_AT_ONCE};

/// Rows whose coarse words lie side by side: word `w` of row `r` is at `16 * w + r`.
pub(super) const ROWS: usize = 16;

/// Sixteen rows of the coarse plane, with their bounds.
pub(super) struct Block<'a> {
    pub words: &'a [u32],
    pub bounds: &'a [u32; ROWS],
}

/// The products of one instruction set. Holding one proves that the CPU has the instructions.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    name: &'static str,
    coarse: fn(&Block<'_>, &Coarse, f32) -> u16,
    finer: fn(&[u32], &[u32], &[u32]) -> i32,
}

impl Lanes {
    /// Names of all instruction sets that are written, also for other architectures.
    pub const NAMES: [&'static str; 4] = ["avx512vnni", "avx2", "neon", "scalar"];

    /// What this CPU can run, fastest first.
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let vectorised = [avx512::detect(), avx2::detect()];
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        let vectorised = [neon::detect()];
        #[cfg(not(any(
            target_arch = "x86_64",
            all(target_arch = "aarch64", target_endian = "little")
        )))]
        let vectorised = [None];
        vectorised
            .into_iter()
            .flatten()
            .chain([scalar::LANES])
            .collect()
    }

    /// The fastest this CPU can run.
    pub fn best() -> Self {
        Self::available().first().copied().unwrap_or(scalar::LANES)
    }

    /// Its name: one of [`Lanes::NAMES`].
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Which rows of a block may have a cosine of at least `floor`, one bit each.
    #[inline]
    pub(super) fn coarse(&self, block: &Block<'_>, query: &Coarse, floor: f32) -> u16 {
        assert_eq!(
            block.words.len() * 4,
            query.words.len() * ROWS,
            "whole rows"
        );
        (self.coarse)(block, query, floor)
    }

    /// The sum of the query's whole numbers times the levels of a row.
    #[inline]
    pub(super) fn finer(&self, coarse: &[u32], finer: &[u32], query: &Query) -> i32 {
        assert!(
            coarse.len() == query.finer_words
                && finer.len() == query.finer_words
                && query.finer.len() == 4 * query.finer_words
                && query.finer_words.is_multiple_of(WORDS_AT_ONCE),
            "padded rows"
        );
        (self.finer)(coarse, finer, &query.finer)
    }
}
