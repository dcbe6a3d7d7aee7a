//! NEON: four floats a register, or four bytes of four vectors.

use std::arch::aarch64::{
    float32x4_t, int8x16_t, vaddq_f32, vaddvq_f32, vdupq_n_f32, vdupq_n_s32, vdupq_n_u32,
    vfmaq_f32, vget_high_s8, vget_low_s8, vld1q_f32, vld1q_u32, vmull_s8, vpadalq_s16, vpaddq_s32,
    vreinterpretq_s8_u32, vst1q_s32,
};
use std::arch::is_aarch64_feature_detected;

use super::{BLOCK, Dot, PER_WORD, SIXTEEN, Sixteen, scalar, word};

/// Components in a register.
const WIDTH: usize = 4;

kernels!("neon", is_aarch64_feature_detected, "neon");

#[inline]
#[target_feature(enable = "neon")]
fn zero() -> float32x4_t {
    vdupq_n_f32(0.0)
}

#[inline]
#[target_feature(enable = "neon")]
fn multiply_add(a: float32x4_t, b: float32x4_t, sum: float32x4_t) -> float32x4_t {
    vfmaq_f32(sum, a, b)
}

#[inline]
#[target_feature(enable = "neon")]
fn total(sums: [float32x4_t; CHAINS]) -> f32 {
    vaddvq_f32(halved!(sums, vaddq_f32))
}

#[inline]
#[target_feature(enable = "neon")]
fn floats(four: &[f32; WIDTH]) -> float32x4_t {
    // SAFETY: four floats are one register; the load needs no alignment beyond the float's.
    unsafe { vld1q_f32(four.as_ptr()) }
}

#[target_feature(enable = "neon")]
fn bytes(sixteen: &Sixteen, one: &[[i8; PER_WORD]]) -> [i32; SIXTEEN] {
    // Two sums for each vector: of the first two bytes of its words, and of the last two.
    let mut sums = [[vdupq_n_s32(0); 2]; SIXTEEN / WIDTH];
    for (words, four) in sixteen.words.iter().zip(one) {
        let four = vreinterpretq_s8_u32(vdupq_n_u32(word(four)));
        for (words, [low, high]) in words.as_chunks().0.iter().zip(&mut sums) {
            let words = load(words);
            let front = vmull_s8(vget_low_s8(words), vget_low_s8(four));
            let back = vmull_s8(vget_high_s8(words), vget_high_s8(four));
            *low = vpadalq_s16(*low, front);
            *high = vpadalq_s16(*high, back);
        }
    }
    let mut products = [0; SIXTEEN];
    for (four, [low, high]) in products.as_chunks_mut::<WIDTH>().0.iter_mut().zip(sums) {
        // SAFETY: four numbers are one register; the store needs no alignment beyond theirs.
        unsafe { vst1q_s32(four.as_mut_ptr(), vpaddq_s32(low, high)) };
    }
    products
}

#[inline]
#[target_feature(enable = "neon")]
fn load(words: &[u32; WIDTH]) -> int8x16_t {
    // SAFETY: four words are one register; the load needs no alignment beyond theirs.
    vreinterpretq_s8_u32(unsafe { vld1q_u32(words.as_ptr()) })
}
