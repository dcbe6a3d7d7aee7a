//! Products of codes with a query, written once for each instruction set.
//!
//! All of it is arithmetic on whole numbers, so every instruction set gives the same result to the
//! last bit. No sum comes near the range of 32 bits: a dimension is at most 65,536, and a product
//! of a whole number of the query and two bits at most 127 times 3.

mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

/// Rows whose words lie side by side: word `w` of row `r` is at `16 * w + r`.
pub(super) const ROWS: usize = 16;

/// The products of one instruction set. Holding one proves that the CPU has the instructions.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    name: &'static str,
    products: fn(&[u32], &[u32]) -> [i32; ROWS],
}

impl Lanes {
    /// Names of all instruction sets that are written, also for other architectures.
    pub const NAMES: [&'static str; 4] = ["avx512vnni", "avx2", "neon", "scalar"];

    /// What this CPU can run, fastest first.
    pub fn available() -> Vec<Self> {
        available!(scalar::LANES)
    }

    /// The fastest this CPU can run.
    pub fn best() -> Self {
        Self::available().first().copied().unwrap_or(scalar::LANES)
    }

    /// Its name: one of [`Lanes::NAMES`].
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// For sixteen rows of a plane the sums of their bits, 0 to 3 a component, times the query's
    /// whole numbers: for each word of a row four words of four.
    #[inline]
    pub(super) fn products(&self, rows: &[u32], query: &[u32]) -> [i32; ROWS] {
        assert_eq!(rows.len() * 4, query.len() * ROWS, "whole rows");
        (self.products)(rows, query)
    }
}
