//! Dot products of floats and of bytes, implemented once per instruction set and chosen here.
//!
//! The wheel is built for any machine of its architecture; the CPU's features are detected at run
//! time. Every kernel of floats works on whole blocks of [`BLOCK`] components, because rows are
//! padded with zeros to a multiple of it: no kernel has a tail. Those of bytes are exact.
//!
//! # Accuracy
//!
//! A kernel of floats adds in at least 32 chains, each of at most `n / 32` products, and then adds the
//! chains in at most 6 steps. A product that is not fused rounds twice, by one part in 2^24 each
//! time, so
//!
//! ```text
//! |computed - exact| <= error_bound(n) * sum(|a_i * b_i|) + n * 2^-149
//! ```
//!
//! as long as no partial sum overflows; the last term covers denormal products. For unit
//! vectors the sum is at most one and nothing overflows, so `error_bound(n)` bounds the error of a
//! cosine (3.4e-6 for 768 components), to which the rounding of each vector to float32 adds at
//! most 2^-23. Rows and queries are normalised to unit vectors.

/// The kernels of an instruction set, made of the caller's functions on registers of `WIDTH` floats.
///
/// `detect` hands them out after it has seen the features, so they are safe to call.
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little")
))]
macro_rules! kernels {
    ($name:literal, $detected:ident, $($feature:tt),+) => {
        /// The kernels, if this CPU has the instructions.
        pub(super) fn detect() -> Option<Dot> {
            ($($detected!($feature))&&+).then_some(Dot {
                name: $name,
                whole: |a, b| {
                    // SAFETY: `detect` has seen the features.
                    unsafe { whole(a, b) }
                },
                bytes: |sixteen, one| {
                    // SAFETY: as above.
                    unsafe { bytes(sixteen, one) }
                },
                square: |one| {
                    // SAFETY: as above.
                    unsafe { square(one) }
                },
                mixed: |a, b| {
                    // SAFETY: as above.
                    unsafe { mixed(a, b) }
                },
            })
        }

        $(#[target_feature(enable = $feature)])+
        fn whole(a: &[f32], b: &[f32]) -> f32 {
            let mut sums = [zero(); CHAINS];
            let (a, b) = (a.as_chunks::<BLOCK>().0, b.as_chunks::<BLOCK>().0);
            for (a, b) in a.iter().zip(b) {
                let (a, b) = (a.as_chunks::<WIDTH>().0, b.as_chunks::<WIDTH>().0);
                for (chain, sum) in sums.iter_mut().enumerate() {
                    *sum = multiply_add(floats(&a[chain]), floats(&b[chain]), *sum);
                }
            }
            total(sums)
        }

        $(#[target_feature(enable = $feature)])+
        fn square(one: &[i8]) -> i32 {
            scalar::square(one)
        }

        $(#[target_feature(enable = $feature)])+
        fn mixed(a: &[f32], b: &[i8]) -> f32 {
            scalar::mixed(a, b)
        }

        /// Registers of sums kept apart: one for each part of a block.
        const CHAINS: usize = BLOCK / WIDTH;
    };
}

/// The sum of a power of two of numbers: halves are added, so that no addition waits for all others.
macro_rules! halved {
    ($sums:expr, $add:expr) => {{
        let mut sums = $sums;
        let mut width = sums.len();
        while width > 1 {
            width /= 2;
            for chain in 0..width {
                sums[chain] = $add(sums[chain], sums[chain + width]);
            }
        }
        sums[0]
    }};
}

mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;

use crate::vectors::instruction_sets::available;

/// Components a kernel takes in one step: four of the widest registers, so that each has its own
/// sum and none waits for the one before. The usual dimensions are multiples of it.
pub const BLOCK: usize = 64;

/// Vectors of bytes that are multiplied at once.
pub const SIXTEEN: usize = 16;

/// So many components that no sum of products overflows.
const MAX_BYTES: usize = 1 << 16;

/// Components of a vector of bytes in one word.
const PER_WORD: usize = 4;

/// Sixteen vectors of bytes, each -127 to 127, interleaved: word `w` of vector `v` is
/// `words[w][v]`.
#[derive(Clone, Debug)]
pub struct Sixteen {
    words: Vec<[u32; SIXTEEN]>,
    /// The sums of each vector's components.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "only AVX-512 needs them")
    )]
    sums: [i32; SIXTEEN],
}

impl Sixteen {
    /// Interleave vectors; the others are zeros.
    ///
    /// # Panics
    /// If there are more than sixteen, or one is shorter than `dimension`, which is a multiple of
    /// four and at most 65,536.
    pub fn new(vectors: &[&[i8]], dimension: usize) -> Self {
        assert!(dimension.is_multiple_of(PER_WORD) && dimension <= MAX_BYTES);
        let mut words = vec![[0; SIXTEEN]; dimension / PER_WORD];
        let mut sums = [0; SIXTEEN];
        for (place, vector) in vectors.iter().enumerate() {
            let vector = &vector[..dimension];
            for (words, four) in words.iter_mut().zip(vector.as_chunks().0) {
                words[place] = word(four);
            }
            sums[place] = vector.iter().map(|x| i32::from(*x)).sum();
        }
        Self { words, sums }
    }
}

fn word(four: &[i8; PER_WORD]) -> u32 {
    u32::from_le_bytes(four.map(i8::cast_unsigned))
}

/// Bound on the rounding error of a sum of `n` products, relative to the sum of their magnitudes.
pub fn error_bound(n: usize) -> f32 {
    // Two roundings for each product of a chain, and the steps after it, with two to spare for
    // the products of roundings.
    ((n / 16) as f32 + 8.0) * (f32::EPSILON / 2.0)
}

/// The dot products of one instruction set.
///
/// Only [`Dot::available`] and [`Dot::best`] return one, so having one proves that the CPU supports
/// the instructions.
#[derive(Clone, Copy, Debug)]
pub struct Dot {
    name: &'static str,
    whole: fn(&[f32], &[f32]) -> f32,
    bytes: fn(&Sixteen, &[[i8; PER_WORD]]) -> [i32; SIXTEEN],
    square: fn(&[i8]) -> i32,
    mixed: fn(&[f32], &[i8]) -> f32,
}

impl Dot {
    /// Names of all implemented instruction sets, including other architectures.
    pub const NAMES: [&'static str; 4] = ["avx512", "avx2", "neon", "scalar"];

    /// The instruction sets that this CPU supports, fastest first.
    pub fn available() -> Vec<Self> {
        available!(scalar::DOT)
    }

    /// The fastest one that this CPU supports.
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
    /// If the lengths differ or are not a multiple of [`BLOCK`].
    #[inline]
    pub fn whole(&self, a: &[f32], b: &[f32]) -> f32 {
        assert!(
            a.len() == b.len() && a.len().is_multiple_of(BLOCK),
            "whole blocks of one length"
        );
        (self.whole)(a, b)
    }

    /// The dot products of sixteen vectors of bytes with one, whose components are -127 to 127,
    /// too.
    ///
    /// # Panics
    /// If the lengths differ.
    #[inline]
    pub fn bytes(&self, sixteen: &Sixteen, one: &[i8]) -> [i32; SIXTEEN] {
        let (fours, rest) = one.as_chunks();
        assert!(
            rest.is_empty() && fours.len() == sixteen.words.len(),
            "vectors of one length"
        );
        (self.bytes)(sixteen, fours)
    }

    /// The dot product of a vector of bytes with itself.
    ///
    /// # Panics
    /// If it has more than 65,536 components.
    #[inline]
    pub fn square(&self, one: &[i8]) -> i32 {
        assert!(one.len() <= MAX_BYTES, "a vector of bytes");
        (self.square)(one)
    }

    /// The dot product of a vector of floats with one of bytes, the same with each instruction set.
    ///
    /// # Panics
    /// If the lengths differ or are not a multiple of [`BLOCK`].
    #[inline]
    pub fn mixed(&self, a: &[f32], b: &[i8]) -> f32 {
        assert!(
            a.len() == b.len() && a.len().is_multiple_of(BLOCK),
            "whole blocks of one length"
        );
        (self.mixed)(a, b)
    }

    /// The cosine of two unit vectors: their dot product, clamped to -1..=1.
    ///
    /// # Panics
    /// As [`Dot::whole`].
    #[inline]
    pub fn unit_cosine(&self, a: &[f32], b: &[f32]) -> f32 {
        self.whole(a, b).clamp(-1.0, 1.0)
    }
}
