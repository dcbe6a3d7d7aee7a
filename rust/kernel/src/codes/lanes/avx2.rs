//! AVX2: eight rows, or thirty-two components, a register.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm_loadu_si128, _mm256_add_epi16, _mm256_add_epi32,
    _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi32, _mm256_srl_epi32,
    _mm256_storeu_si256, _mm256_sub_epi16,
};

use super::super::code::LEVELS;
use super::{Block, Coarse, Lanes, ROWS};

/// Rows, or words, in a register.
const WIDTH: usize = 8;

/// Added to a level, so that it is not negative.
const OFFSET: i8 = 22;

/// The products, if this CPU has the instructions.
pub(super) fn detect() -> Option<Lanes> {
    is_x86_feature_detected!("avx2").then_some(Lanes {
        name: "avx2",
        coarse,
        finer,
    })
}

fn coarse(block: &Block<'_>, query: &Coarse, floor: f32) -> u16 {
    // SAFETY: only `detect` hands this function out, after it has seen avx2.
    unsafe { coarse_avx2(block, query, floor) }
}

fn finer(coarse: &[u32], finer: &[u32], query: &[u32]) -> i32 {
    // SAFETY: only `detect` hands this function out, after it has seen avx2.
    unsafe { finer_avx2(coarse, finer, query) }
}

#[target_feature(enable = "avx2")]
fn coarse_avx2(block: &Block<'_>, query: &Coarse, floor: f32) -> u16 {
    let (bits, ones) = (_mm256_set1_epi8(3), _mm256_set1_epi16(1));
    let mut sums = [_mm256_setzero_si256(); 2];
    let words = block.words.as_chunks::<WIDTH>().0.as_chunks::<2>().0;
    for (words, query) in words.iter().zip(query.words.as_chunks::<4>().0) {
        for (words, sum) in words.iter().zip(&mut sums) {
            let words = load(words);
            // Sixteen products of at most 3 * 128 are far from the end of 16 bits.
            let mut products = _mm256_setzero_si256();
            for (pair, query) in query.iter().enumerate() {
                let shift = _mm_cvtsi32_si128(2 * pair as i32);
                let bits = _mm256_and_si256(_mm256_srl_epi32(words, shift), bits);
                let whole = _mm256_set1_epi32(*query as i32);
                products = _mm256_add_epi16(products, _mm256_maddubs_epi16(bits, whole));
            }
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(products, ones));
        }
    }
    let mut all = [0_i32; ROWS];
    for (eight, sum) in all.as_chunks_mut::<WIDTH>().0.iter_mut().zip(sums) {
        // SAFETY: eight numbers are one register; the store may be unaligned.
        unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), sum) };
    }
    query.reach(&all, block.bounds, floor)
}

#[target_feature(enable = "avx2")]
fn finer_avx2(coarse: &[u32], finer: &[u32], query: &[u32]) -> i32 {
    let raised = LEVELS.map(|level| level + OFFSET);
    // SAFETY: the table is as large as the register; the load may be unaligned.
    let levels = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(raised.as_ptr().cast()) });
    let (bits, ones) = (_mm256_set1_epi8(3), _mm256_set1_epi16(1));
    let offset = _mm256_set1_epi8(OFFSET);
    let mut sums = _mm256_setzero_si256();
    let length = coarse.len();
    let (coarse, finer) = (coarse.as_chunks::<WIDTH>().0, finer.as_chunks::<WIDTH>().0);
    for (pair, query) in query.chunks_exact(length).enumerate() {
        let shift = _mm_cvtsi32_si128(2 * pair as i32);
        for ((coarse, finer), query) in coarse.iter().zip(finer).zip(query.as_chunks().0) {
            let of = |words| _mm256_and_si256(_mm256_srl_epi32(load(words), shift), bits);
            let index = _mm256_or_si256(_mm256_slli_epi32::<2>(of(coarse)), of(finer));
            let whole = load(query);
            // Two products of at most 44 * 128 are far from the end of 16 bits.
            let raised = _mm256_maddubs_epi16(_mm256_shuffle_epi8(levels, index), whole);
            let products = _mm256_sub_epi16(raised, _mm256_maddubs_epi16(offset, whole));
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(products, ones));
        }
    }
    let mut eight = [0_i32; WIDTH];
    // SAFETY: eight numbers are one register; the store may be unaligned.
    unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), sums) };
    eight.iter().sum()
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u32; WIDTH]) -> __m256i {
    // SAFETY: eight words are one register; the load may be unaligned.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}
