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
    // Two sums for each half of a byte, so that the additions need not wait for one another.
    let mut sums = [[_mm512_setzero_si512(); 2]; 2];
    let masks = [0x0f, 0xf0_u8].map(|mask| _mm512_set1_epi8(mask as i8));
    let words = rows.as_chunks::<ROWS>().0;
    for (index, (words, query)) in words.iter().zip(query.as_chunks::<2>().0).enumerate() {
        let words = load(words);
        for half in 0..2 {
            // The bits stay where they are, so the second sum is sixteen times too large.
            let bits = _mm512_and_si512(words, masks[half]);
            let whole = _mm512_set1_epi32(query[half] as i32);
            let sum = &mut sums[index % 2][half];
            *sum = _mm512_dpbusd_epi32(*sum, bits, whole);
        }
    }
    let [lower, upper] = [0, 1].map(|half| _mm512_add_epi32(sums[0][half], sums[1][half]));
    let all = _mm512_add_epi32(lower, _mm512_srai_epi32::<4>(upper));
    let mut sums = [0; ROWS];
    // SAFETY: sixteen numbers are one register; the store may be unaligned.
    unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), all) };
    sums
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u32; ROWS]) -> __m512i {
    // SAFETY: sixteen words are one register; the load may be unaligned.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}
