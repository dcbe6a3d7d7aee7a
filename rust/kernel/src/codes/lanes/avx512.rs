//! AVX-512 with VNNI: sixteen rows, or sixty-four components, a register.

use std::arch::x86_64::{
    __m512i, _mm_cvtsi32_si128, _mm_loadu_si128, _mm512_add_epi32, _mm512_and_si512,
    _mm512_broadcast_i32x4, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_or_si512,
    _mm512_reduce_add_epi32, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_setzero_si512,
    _mm512_shuffle_epi8, _mm512_slli_epi32, _mm512_srai_epi32, _mm512_srl_epi32,
    _mm512_storeu_si512,
};

use super::super::code::LEVELS;
use super::{Block, Coarse, Lanes, ROWS};

/// Added to a level, so that it is not negative.
const OFFSET: i8 = 22;

/// The products, if this CPU has the instructions.
pub(super) fn detect() -> Option<Lanes> {
    let all = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vnni");
    all.then_some(Lanes {
        name: "avx512vnni",
        coarse,
        finer,
    })
}

fn coarse(block: &Block<'_>, query: &Coarse, floor: f32) -> u16 {
    // SAFETY: only `detect` hands this function out, after it has seen these features.
    unsafe { coarse_avx512(block, query, floor) }
}

fn finer(coarse: &[u32], finer: &[u32], query: &[u32]) -> i32 {
    // SAFETY: only `detect` hands this function out, after it has seen these features.
    unsafe { finer_avx512(coarse, finer, query) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn coarse_avx512(block: &Block<'_>, query: &Coarse, floor: f32) -> u16 {
    let mut sums = [_mm512_setzero_si512(); 4];
    let masks = [0x03, 0x0c, 0x30, 0xc0_u8].map(|mask| _mm512_set1_epi8(mask as i8));
    let words = block.words.as_chunks::<ROWS>().0;
    for (words, query) in words.iter().zip(query.words.as_chunks::<4>().0) {
        let words = load(words);
        for pair in 0..4 {
            // The bits stay where they are, so each sum is four times larger than the one before.
            let bits = _mm512_and_si512(words, masks[pair]);
            let whole = _mm512_set1_epi32(query[pair] as i32);
            sums[pair] = _mm512_dpbusd_epi32(sums[pair], bits, whole);
        }
    }
    let [first, second, third, fourth] = sums;
    let front = _mm512_add_epi32(first, _mm512_srai_epi32::<2>(second));
    let back = _mm512_add_epi32(
        _mm512_srai_epi32::<4>(third),
        _mm512_srai_epi32::<6>(fourth),
    );
    let mut sums = [0_i32; ROWS];
    // SAFETY: the array is as large as the register; the store may be unaligned.
    unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), _mm512_add_epi32(front, back)) };
    query.reach(&sums, block.bounds, floor)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn finer_avx512(coarse: &[u32], finer: &[u32], query: &[u32]) -> i32 {
    let raised = LEVELS.map(|level| level + OFFSET);
    // SAFETY: the table is as large as the register; the load may be unaligned.
    let levels = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(raised.as_ptr().cast()) });
    let (bits, ones) = (_mm512_set1_epi8(3), _mm512_set1_epi8(1));
    let (mut products, mut wholes) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let (coarse, finer) = (coarse.as_chunks::<ROWS>().0, finer.as_chunks::<ROWS>().0);
    for (pair, query) in query.chunks_exact(coarse.len() * ROWS).enumerate() {
        let shift = _mm_cvtsi32_si128(2 * pair as i32);
        for ((coarse, finer), query) in coarse.iter().zip(finer).zip(query.as_chunks().0) {
            let of = |words| _mm512_and_si512(_mm512_srl_epi32(load(words), shift), bits);
            let index = _mm512_or_si512(_mm512_slli_epi32::<2>(of(coarse)), of(finer));
            let whole = load(query);
            products = _mm512_dpbusd_epi32(products, _mm512_shuffle_epi8(levels, index), whole);
            wholes = _mm512_dpbusd_epi32(wholes, ones, whole);
        }
    }
    _mm512_reduce_add_epi32(products) - i32::from(OFFSET) * _mm512_reduce_add_epi32(wholes)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u32; ROWS]) -> __m512i {
    // SAFETY: sixteen words are one register; the load may be unaligned.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}
