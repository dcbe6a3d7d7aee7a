//! NEON: four components a register.

use std::arch::aarch64::{float32x4_t, vaddq_f32, vaddvq_f32, vdupq_n_f32, vfmaq_f32, vld1q_f32};
use std::arch::is_aarch64_feature_detected;

use super::{BLOCK, Dot};

/// Components in a register.
const WIDTH: usize = 4;

/// Registers of sums kept apart: one for each sixteenth of a block.
const CHAINS: usize = BLOCK / WIDTH;

/// The kernels, if this CPU has the instructions.
pub(super) fn detect() -> Option<Dot> {
    is_aarch64_feature_detected!("neon").then_some(Dot {
        name: "neon",
        whole,
    })
}

fn whole(a: &[f32], b: &[f32]) -> f32 {
    // SAFETY: only `detect` hands this function out, after it has seen neon.
    unsafe { whole_neon(a, b) }
}

#[target_feature(enable = "neon")]
fn whole_neon(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [vdupq_n_f32(0.0); CHAINS];
    for (a, b) in a
        .as_chunks::<BLOCK>()
        .0
        .iter()
        .zip(b.as_chunks::<BLOCK>().0)
    {
        for (chain, sum) in sums.iter_mut().enumerate() {
            *sum = vfmaq_f32(*sum, floats(a, chain), floats(b, chain));
        }
    }
    total(sums)
}

#[inline]
#[target_feature(enable = "neon")]
fn total(sums: [float32x4_t; CHAINS]) -> f32 {
    let (mut width, mut sums) = (CHAINS, sums);
    while width > 1 {
        width /= 2;
        for chain in 0..width {
            sums[chain] = vaddq_f32(sums[chain], sums[chain + width]);
        }
    }
    vaddvq_f32(sums[0])
}

/// Four of a block's floats.
#[inline]
#[target_feature(enable = "neon")]
fn floats(block: &[f32; BLOCK], sixteenth: usize) -> float32x4_t {
    let four = &block.as_chunks::<WIDTH>().0[sixteenth];
    // SAFETY: four floats are one register; the load needs no alignment beyond the float's.
    unsafe { vld1q_f32(four.as_ptr()) }
}
