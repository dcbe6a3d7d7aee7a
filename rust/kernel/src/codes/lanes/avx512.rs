//! AVX-512 with VNNI: sixteen rows a register.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_and_si512, _mm512_dpbusd_epi32, _mm512_loadu_si512,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_srai_epi32,
    _mm512_storeu_si512,
};

use super::{Lanes, ROWS};

/// The products, if this CPU has the instructions.
pub(super) fn detect() -> Option<Lanes> {
    let all = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
    all.then_some(Lanes {
        name: "avx512vnni",
        products,
    })
}

fn products(rows: &[u32], query: &[u32]) -> [i32; ROWS] {
    // SAFETY: only `detect` hands this function out, after it has seen these features.
    unsafe { products_avx512(rows, query) }
}

#[target_feature(enable = "avx512f,avx512vnni")]
fn products_avx512(rows: &[u32], query: &[u32]) -> [i32; ROWS] {
    let mut sums = [_mm512_setzero_si512(); 4];
    let masks = [0x03, 0x0c, 0x30, 0xc0_u8].map(|mask| _mm512_set1_epi8(mask as i8));
    let words = rows.as_chunks::<ROWS>().0;
    for (words, query) in words.iter().zip(query.as_chunks::<4>().0) {
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
    let mut sums = [0; ROWS];
    // SAFETY: sixteen numbers are one register; the store may be unaligned.
    unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), _mm512_add_epi32(front, back)) };
    sums
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u32; ROWS]) -> __m512i {
    // SAFETY: sixteen words are one register; the load may be unaligned.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}
