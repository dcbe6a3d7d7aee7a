//! NEON: four rows, or sixteen components, a register.

use std::arch::aarch64::{
    int8x16_t, int16x8_t, int32x4_t, uint32x4_t, vaddq_s32, vaddvq_s32, vandq_u32, vdupq_n_s16,
    vdupq_n_s32, vdupq_n_u32, vget_high_s8, vget_low_s8, vld1q_s8, vld1q_u32, vmlal_s8, vorrq_u32,
    vpadalq_s16, vpaddq_s32, vqtbl1q_s8, vreinterpretq_s8_u32, vreinterpretq_u8_u32, vshlq_n_u32,
    vshlq_u32, vst1q_s32,
};
use std::arch::is_aarch64_feature_detected;

use super::super::code::LEVELS;
use super::{Block, Coarse, Lanes, ROWS};

/// Rows, or words, in a register.
const WIDTH: usize = 4;

/// The products, if this CPU has the instructions.
pub(super) fn detect() -> Option<Lanes> {
    is_aarch64_feature_detected!("neon").then_some(Lanes {
        name: "neon",
        coarse,
        finer,
    })
}

fn coarse(block: &Block<'_>, query: &Coarse, floor: f32) -> u16 {
    // SAFETY: only `detect` hands this function out, after it has seen neon.
    unsafe { coarse_neon(block, query, floor) }
}

fn finer(coarse: &[u32], finer: &[u32], query: &[u32]) -> i32 {
    // SAFETY: only `detect` hands this function out, after it has seen neon.
    unsafe { finer_neon(coarse, finer, query) }
}

#[target_feature(enable = "neon")]
fn coarse_neon(block: &Block<'_>, query: &Coarse, floor: f32) -> u16 {
    // Two sums for each row: of the first two bytes of its words, and of the last two.
    let mut sums = [[vdupq_n_s32(0); 2]; ROWS / WIDTH];
    let words = block.words.as_chunks::<WIDTH>().0;
    let words = words.as_chunks::<{ ROWS / WIDTH }>().0;
    for (words, query) in words.iter().zip(query.words.as_chunks::<4>().0) {
        for (words, sums) in words.iter().zip(&mut sums) {
            let words = load(words);
            // Four products of at most 3 * 128 are far from the end of 16 bits.
            let mut products = [vdupq_n_s16(0); 2];
            for (pair, query) in query.iter().enumerate() {
                let whole = vreinterpretq_s8_u32(vdupq_n_u32(*query));
                let bits = vreinterpretq_s8_u32(bits(words, pair));
                products = multiplied(products, bits, whole);
            }
            *sums = added(*sums, products);
        }
    }
    let mut all = [0_i32; ROWS];
    for (four, [low, high]) in all.as_chunks_mut::<WIDTH>().0.iter_mut().zip(sums) {
        // SAFETY: four numbers are one register; the store needs no alignment beyond theirs.
        unsafe { vst1q_s32(four.as_mut_ptr(), vpaddq_s32(low, high)) };
    }
    query.reach(&all, block.bounds, floor)
}

#[target_feature(enable = "neon")]
fn finer_neon(coarse: &[u32], finer: &[u32], query: &[u32]) -> i32 {
    // SAFETY: the table is as large as the register; bytes need no alignment.
    let levels = unsafe { vld1q_s8(LEVELS.as_ptr()) };
    let mut sums = [vdupq_n_s32(0); 2];
    let length = coarse.len();
    let (coarse, finer) = (coarse.as_chunks::<WIDTH>().0, finer.as_chunks::<WIDTH>().0);
    for (pair, query) in query.chunks_exact(length).enumerate() {
        for ((coarse, finer), query) in coarse.iter().zip(finer).zip(query.as_chunks().0) {
            let upper = vshlq_n_u32::<2>(bits(load(coarse), pair));
            let index = vreinterpretq_u8_u32(vorrq_u32(upper, bits(load(finer), pair)));
            let whole = vreinterpretq_s8_u32(load(query));
            let zeros = [vdupq_n_s16(0); 2];
            sums = added(sums, multiplied(zeros, vqtbl1q_s8(levels, index), whole));
        }
    }
    vaddvq_s32(vaddq_s32(sums[0], sums[1]))
}

/// One of the four pairs of bits of each byte.
#[inline]
#[target_feature(enable = "neon")]
fn bits(words: uint32x4_t, pair: usize) -> uint32x4_t {
    let right = vdupq_n_s32(-2 * pair as i32);
    vandq_u32(vshlq_u32(words, right), vdupq_n_u32(0x0303_0303))
}

#[inline]
#[target_feature(enable = "neon")]
fn multiplied([low, high]: [int16x8_t; 2], left: int8x16_t, right: int8x16_t) -> [int16x8_t; 2] {
    [
        vmlal_s8(low, vget_low_s8(left), vget_low_s8(right)),
        vmlal_s8(high, vget_high_s8(left), vget_high_s8(right)),
    ]
}

#[inline]
#[target_feature(enable = "neon")]
fn added([low, high]: [int32x4_t; 2], products: [int16x8_t; 2]) -> [int32x4_t; 2] {
    [
        vpadalq_s16(low, products[0]),
        vpadalq_s16(high, products[1]),
    ]
}

#[inline]
#[target_feature(enable = "neon")]
fn load(words: &[u32; WIDTH]) -> uint32x4_t {
    // SAFETY: four words are one register; the load needs no alignment beyond theirs.
    unsafe { vld1q_u32(words.as_ptr()) }
}
