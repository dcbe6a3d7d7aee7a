//! AVX2: eight rows a register.

use std::arch::x86_64::{
    __m256i, _MM_HINT_T0, _mm_prefetch, _mm256_add_epi16, _mm256_add_epi32, _mm256_and_si256,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_srli_epi16,
    _mm256_srli_epi32, _mm256_storeu_si256,
};

use super::{Lanes, ROWS, scalar};

/// In a register.
const BYTES: usize = 32;

/// Rows in a register.
const WIDTH: usize = 8;

/// Words of a row whose products are added in 16 bits: sixteen of at most 15 * 127 fit.
const AT_ONCE: usize = 4;

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
    let mut sums = [_mm256_setzero_si256(); ROWS / WIDTH];
    let words = rows.as_chunks::<WIDTH>().0;
    let words = words.as_chunks::<{ ROWS / WIDTH }>().0;
    let (fours, left) = words.as_chunks::<AT_ONCE>();
    let (query_fours, query_left) = query.as_chunks::<2>().0.as_chunks::<AT_ONCE>();
    for (words, query) in fours.iter().zip(query_fours) {
        add(&mut sums, words, query);
    }
    for (words, query) in left.iter().zip(query_left) {
        add(&mut sums, &[*words], &[*query]);
    }
    let mut all = [0; ROWS];
    for (eight, sum) in all.as_chunks_mut::<WIDTH>().0.iter_mut().zip(sums) {
        // SAFETY: eight numbers are one register; the store may be unaligned.
        unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), sum) };
    }
    all
}

/// Add the products of up to [`AT_ONCE`] words of each row.
#[inline]
#[target_feature(enable = "avx2")]
fn add<const N: usize>(
    sums: &mut [__m256i; ROWS / WIDTH],
    words: &[[[u32; WIDTH]; ROWS / WIDTH]; N],
    query: &[[u32; 2]; N],
) {
    const { assert!(N <= AT_ONCE) };
    let (bits, ones) = (_mm256_set1_epi8(15), _mm256_set1_epi16(1));
    let mut products = [_mm256_setzero_si256(); ROWS / WIDTH];
    for (words, query) in words.iter().zip(query) {
        let [first, second] = query.map(|query| _mm256_set1_epi32(query as i32));
        for (words, products) in words.iter().zip(&mut products) {
            let words = load(words);
            let lower = _mm256_and_si256(words, bits);
            let upper = _mm256_and_si256(_mm256_srli_epi32::<4>(words), bits);
            *products = _mm256_add_epi16(*products, _mm256_maddubs_epi16(lower, first));
            *products = _mm256_add_epi16(*products, _mm256_maddubs_epi16(upper, second));
        }
    }
    for (sum, products) in sums.iter_mut().zip(products) {
        *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(products, ones));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load<T, const N: usize>(numbers: &[T; N]) -> __m256i {
    const { assert!(N * size_of::<T>() == BYTES) };
    // SAFETY: the numbers are as long as a register; the load may be unaligned.
    unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
}

fn finer(finer: &[u8], front: &[i8], back: &[i8]) -> i32 {
    // SAFETY: only `detect` hands this function out, after it has seen avx2.
    unsafe { finer_avx2(finer, front, back) }
}

#[target_feature(enable = "avx2")]
fn finer_avx2(finer: &[u8], front: &[i8], back: &[i8]) -> i32 {
    let (bits, ones) = (_mm256_set1_epi8(15), _mm256_set1_epi16(1));
    let (bytes, left) = finer.as_chunks::<BYTES>();
    let (front, front_left) = front.as_chunks::<BYTES>();
    let (back, back_left) = back.as_chunks::<BYTES>();
    let mut sum = _mm256_setzero_si256();
    for (bytes, (front, back)) in bytes.iter().zip(front.iter().zip(back)) {
        let bytes = load(bytes);
        let lower = _mm256_and_si256(bytes, bits);
        let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), bits);
        // Four products of at most 15 * 127 fit in 16 bits.
        let products = _mm256_add_epi16(
            _mm256_maddubs_epi16(lower, load(front)),
            _mm256_maddubs_epi16(upper, load(back)),
        );
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(products, ones));
    }
    let mut eight = [0; WIDTH];
    // SAFETY: eight numbers are one register; the store may be unaligned.
    unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), sum) };
    eight.iter().sum::<i32>() + scalar::finer(left, front_left, back_left)
}

/// A hint to the CPU: any address is allowed.
pub(super) fn fetch(finer: &[u8]) {
    for line in finer.chunks(LINE) {
        // SAFETY: SSE, which every x86-64 CPU has.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
}
