//! NEON: four rows a register.

use std::arch::aarch64::{
    uint32x4_t, vandq_u32, vdupq_n_s16, vdupq_n_s32, vdupq_n_u32, vget_high_s8, vget_low_s8,
    vld1q_u32, vmlal_s8, vpadalq_s16, vpaddq_s32, vreinterpretq_s8_u32, vshlq_u32, vst1q_s32,
};
use std::arch::is_aarch64_feature_detected;

use super::{Lanes, ROWS, scalar};
use crate::index::codes::code::LOWER;

/// Rows in a register.
const WIDTH: usize = 4;

/// The products, if this CPU has the instructions.
pub(super) fn detect() -> Option<Lanes> {
    is_aarch64_feature_detected!("neon").then_some(Lanes {
        name: "neon",
        products,
        finer: scalar::finer,
        fetch: scalar::fetch,
    })
}

fn products(rows: &[u32], query: &[u32]) -> [i32; ROWS] {
    // SAFETY: only `detect` hands this function out, after it has seen neon.
    unsafe { products_neon(rows, query) }
}

#[target_feature(enable = "neon")]
fn products_neon(rows: &[u32], query: &[u32]) -> [i32; ROWS] {
    // Two sums for each row: of the first two bytes of its words, and of the last two.
    let mut sums = [[vdupq_n_s32(0); 2]; ROWS / WIDTH];
    let words = rows.as_chunks::<WIDTH>().0;
    let words = words.as_chunks::<{ ROWS / WIDTH }>().0;
    for (words, query) in words.iter().zip(query.as_chunks::<2>().0) {
        for (words, [low, high]) in words.iter().zip(&mut sums) {
            let words = load(words);
            // Two products of at most 15 * 127 fit in 16 bits.
            let (mut front, mut back) = (vdupq_n_s16(0), vdupq_n_s16(0));
            for (half, query) in query.iter().enumerate() {
                let right = vdupq_n_s32(-4 * half as i32);
                let bits = vandq_u32(vshlq_u32(words, right), vdupq_n_u32(LOWER));
                let bits = vreinterpretq_s8_u32(bits);
                let whole = vreinterpretq_s8_u32(vdupq_n_u32(*query));
                front = vmlal_s8(front, vget_low_s8(bits), vget_low_s8(whole));
                back = vmlal_s8(back, vget_high_s8(bits), vget_high_s8(whole));
            }
            *low = vpadalq_s16(*low, front);
            *high = vpadalq_s16(*high, back);
        }
    }
    let mut all = [0; ROWS];
    for (four, [low, high]) in all.as_chunks_mut::<WIDTH>().0.iter_mut().zip(sums) {
        // SAFETY: four numbers are one register; the store needs no alignment beyond theirs.
        unsafe { vst1q_s32(four.as_mut_ptr(), vpaddq_s32(low, high)) };
    }
    all
}

#[inline]
#[target_feature(enable = "neon")]
fn load(words: &[u32; WIDTH]) -> uint32x4_t {
    // SAFETY: four words are one register; the load needs no alignment beyond theirs.
    unsafe { vld1q_u32(words.as_ptr()) }
}
