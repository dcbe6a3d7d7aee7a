//! Dot products, written once for each instruction set; the choice between them is made here.
//!
//! The wheel is built for any machine of its architecture; what the CPU can do is asked when the
//! program runs. Every kernel works on whole blocks of [`BLOCK`] components, because rows are
//! padded with zeros to a multiple of it: no kernel has a tail.
//!
//! # How exact
//!
//! A kernel adds in at least 32 chains, each of at most `n / 32` products, and then adds the
//! chains in at most 6 steps. A product that is not fused rounds twice, by one part in 2^24 each
//! time, so
//!
//! ```text
//! |computed - exact| <= error_bound(n) * sum(|a_i * b_i|) + n * 2^-149
//! ```
//!
//! as long as no partial sum overflows; the last term is what denormal products may lose. For unit
//! vectors the sum is at most one and nothing overflows, so `error_bound(n)` bounds the error of a
//! cosine (3.4e-6 for 768 components), to which the rounding of each vector to float32 adds at
//! most 2^-23. Rows and queries are unit vectors, whatever the magnitude of what was put in.

mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

/// Components a kernel takes in one step: four of the widest registers, so that each has its own
/// sum and none waits for the one before. The usual dimensions are multiples of it.
pub const BLOCK: usize = 64;

/// Bound on the rounding error of a sum of `n` products, relative to the sum of their magnitudes.
pub fn error_bound(n: usize) -> f32 {
    // Two roundings for each product of a chain, and the steps after it, with two to spare for
    // the products of roundings.
    ((n / 16) as f32 + 8.0) * (f32::EPSILON / 2.0)
}

/// The dot products of one instruction set.
///
/// It can only be had from [`Dot::available`] and [`Dot::best`], so holding one proves that the
/// CPU has the instructions.
#[derive(Clone, Copy, Debug)]
pub struct Dot {
    name: &'static str,
    whole: fn(&[f32], &[f32]) -> f32,
}

impl Dot {
    /// Names of all instruction sets that are written, also for other architectures.
    pub const NAMES: [&'static str; 4] = ["avx512", "avx2", "neon", "scalar"];

    /// What this CPU can run, fastest first.
    pub fn available() -> Vec<Self> {
        available!(scalar::DOT)
    }

    /// The fastest this CPU can run.
    pub fn best() -> Self {
        Self::available().first().copied().unwrap_or(scalar::DOT)
    }

    /// Its name: one of [`Dot::NAMES`].
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The dot product of two vectors.
    ///
    /// # Panics
    /// If the lengths differ or are no multiple of [`BLOCK`].
    #[inline]
    pub fn whole(&self, a: &[f32], b: &[f32]) -> f32 {
        assert!(
            a.len() == b.len() && a.len().is_multiple_of(BLOCK),
            "whole blocks of one length"
        );
        (self.whole)(a, b)
    }

    /// The cosine of two unit vectors: their dot product, held to -1..=1.
    ///
    /// # Panics
    /// As [`Dot::whole`].
    #[inline]
    pub fn unit_cosine(&self, a: &[f32], b: &[f32]) -> f32 {
        self.whole(a, b).clamp(-1.0, 1.0)
    }
}
