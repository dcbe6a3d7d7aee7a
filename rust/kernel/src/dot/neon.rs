//! NEON: four components a register.

use std::arch::aarch64::{
    float32x4_t, vaddq_f32, vaddvq_f32, vandq_u32, vdupq_n_f32, vdupq_n_u32, vfmaq_f32, vld1q_f32,
    vld1q_u16, vreinterpretq_f32_u32, vreinterpretq_u32_u16, vshlq_n_u32,
};
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
        coarse,
    })
}

fn whole(a: &[f32], b: &[f32]) -> f32 {
    // SAFETY: only `detect` hands this function out, after it has seen neon.
    unsafe { whole_neon(a, b) }
}

fn coarse(rows: &[u16], query: &[f32], dots: &mut [f32]) {
    // SAFETY: only `detect` hands this function out, after it has seen neon.
    unsafe { coarse_neon(rows, query, dots) }
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

#[target_feature(enable = "neon")]
fn coarse_neon(rows: &[u16], query: &[f32], dots: &mut [f32]) {
    const HALF: usize = CHAINS / 2;
    for (row, dot) in rows.chunks_exact(query.len()).zip(dots) {
        let mut sums = [vdupq_n_f32(0.0); CHAINS];
        for (row, query) in row
            .as_chunks::<BLOCK>()
            .0
            .iter()
            .zip(query.as_chunks::<BLOCK>().0)
        {
            for eighth in 0..HALF {
                let (even, odd) = halves(row, eighth);
                let other = eighth + HALF;
                sums[eighth] = vfmaq_f32(sums[eighth], even, floats(query, eighth));
                sums[other] = vfmaq_f32(sums[other], odd, floats(query, other));
            }
        }
        *dot = total(sums);
    }
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

/// Eight of a row's coarse halves, as four even and four odd components.
#[inline]
#[target_feature(enable = "neon")]
fn halves(block: &[u16; BLOCK], eighth: usize) -> (float32x4_t, float32x4_t) {
    let eight = &block.as_chunks::<{ 2 * WIDTH }>().0[eighth];
    // SAFETY: eight halves are one register; the load needs no alignment beyond the half's.
    let words = vreinterpretq_u32_u16(unsafe { vld1q_u16(eight.as_ptr()) });
    let even = vreinterpretq_f32_u32(vshlq_n_u32::<16>(words));
    (
        even,
        vreinterpretq_f32_u32(vandq_u32(words, vdupq_n_u32(0xffff_0000))),
    )
}
