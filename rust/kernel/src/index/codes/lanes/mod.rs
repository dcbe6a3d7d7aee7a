//! Products of codes with a query, implemented once per instruction set.
//!
//! All arithmetic is on integers, so every instruction set gives exactly the same result. No sum
//! can overflow 32 bits: a dimension is at most 65,536, and a product of an integer of the query
//! and four bits at most 127 times 15, or sixteen times that in the upper half of a byte, which
//! every other component has.

mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

use crate::vectors::instruction_sets::available;

/// Rows whose words are interleaved: word `w` of row `r` is at `16 * w + r`.
pub(super) const ROWS: usize = 16;

/// The products of one instruction set. Having one proves that the CPU supports it.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    name: &'static str,
    products: fn(&[u32], &[u32]) -> [i32; ROWS],
    finer: fn(&[u8], &[i8], &[i8]) -> i32,
    fetch: fn(&[u8]),
}

impl Lanes {
    /// Names of all implemented instruction sets, including other architectures.
    pub const NAMES: [&'static str; 4] = ["avx512vnni", "avx2", "neon", "scalar"];

    /// The instruction sets that this CPU supports, fastest first.
    pub fn available() -> Vec<Self> {
        available!(scalar::LANES)
    }

    /// The fastest one that this CPU supports.
    pub fn best() -> Self {
        Self::available().first().copied().unwrap_or(scalar::LANES)
    }

    /// Its name: one of [`Lanes::NAMES`].
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// For sixteen rows of the coarse plane, the sums of their bits, 0 to 15 per component, times the
    /// query's integers: two words of four integers for each word of a row.
    #[inline]
    pub(super) fn products(&self, rows: &[u32], query: &[u32]) -> [i32; ROWS] {
        assert_eq!(rows.len() * 2, query.len() * ROWS, "whole rows");
        (self.products)(rows, query)
    }

    /// The sum of a row's bits of the finer plane, 0 to 15 per component, times a query's integers.
    #[inline]
    pub(super) fn finer(&self, finer: &[u8], query: &[i8]) -> i32 {
        assert_eq!(finer.len() * 2, query.len(), "one integer a component");
        let (front, back) = query.split_at(finer.len());
        (self.finer)(finer, front, back)
    }

    /// Prefetch a row of the finer plane or a block of the coarse one, which is needed soon.
    #[inline]
    pub(super) fn fetch(&self, finer: &[u8]) {
        (self.fetch)(finer);
    }
}
