//! AVX2: eight rows a register.

use std::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_cvtsi32_si128, _mm_prefetch, _mm256_add_epi16, _mm256_add_epi32,
    _mm256_and_si256, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_srl_epi32,
    _mm256_storeu_si256,
};

use super::{Lanes, ROWS, scalar};

/// Rows in a register.
const WIDTH: usize = 8;

/// Bytes of a cache line.
const LINE: usize = 64;

/// The products, if this CPU has the instructions.
pub(super) fn detect() -> Option<Lanes> {
    is_x86_feature_detected!("avx2").then_some(Lanes {
        name: "avx2",
        products,
        finer,
        fetch,
    })
}

fn products(rows: &[u32], query: &[u32]) -> [i32; ROWS] {
    // SAFETY: only `detect` hands this function out, after it has seen avx2.
    unsafe { products_avx2(rows, query) }
}

#[target_feature(enable = "avx2")]
fn products_avx2(rows: &[u32], query: &[u32]) -> [i32; ROWS] {
    let (bits, ones) = (_mm256_set1_epi8(15), _mm256_set1_epi16(1));
    let mut sums = [_mm256_setzero_si256(); ROWS / WIDTH];
    let words = rows.as_chunks::<WIDTH>().0;
    let words = words.as_chunks::<{ ROWS / WIDTH }>().0;
    for (words, query) in words.iter().zip(query.as_chunks::<2>().0) {
        for (words, sum) in words.iter().zip(&mut sums) {
            let words = load(words);
            // Four products of at most 15 * 127 fit in 16 bits.
            let mut products = _mm256_setzero_si256();
            for (half, query) in query.iter().enumerate() {
                let shift = _mm_cvtsi32_si128(4 * half as i32);
                let bits = _mm256_and_si256(_mm256_srl_epi32(words, shift), bits);
                let whole = _mm256_set1_epi32(*query as i32);
                products = _mm256_add_epi16(products, _mm256_maddubs_epi16(bits, whole));
            }
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(products, ones));
        }
    }
    let mut all = [0; ROWS];
    for (eight, sum) in all.as_chunks_mut::<WIDTH>().0.iter_mut().zip(sums) {
        // SAFETY: eight numbers are one register; the store may be unaligned.
        unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), sum) };
    }
    all
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u32; WIDTH]) -> __m256i {
    // SAFETY: eight words are one register; the load may be unaligned.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

fn finer(finer: &[u8], front: &[i8], back: &[i8]) -> i32 {
    // SAFETY: only `detect` hands this function out, after it has seen avx2.
    unsafe { finer_avx2(finer, front, back) }
}

#[target_feature(enable = "avx2")]
fn finer_avx2(finer: &[u8], front: &[i8], back: &[i8]) -> i32 {
    scalar::finer(finer, front, back)
}

/// A hint to the CPU: any address is allowed.
pub(super) fn fetch(finer: &[u8]) {
    for line in finer.chunks(LINE) {
        // SAFETY: SSE, which every x86-64 CPU has.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
}
