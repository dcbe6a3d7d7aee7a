//! AVX-512 with VNNI: sixteen rows a register.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_and_si512, _mm512_dpbusd_epi32, _mm512_loadu_si512,
    _mm512_reduce_add_epi32, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_setzero_si512,
    _mm512_srai_epi32, _mm512_srli_epi32, _mm512_storeu_si512,
};

use super::avx2::fetch;
use super::{Lanes, ROWS, scalar};

/// In a register.
const BYTES: usize = 64;

/// The products, if this CPU has the instructions.
pub(super) fn detect() -> Option<Lanes> {
    let all = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
    all.then_some(Lanes {
        name: "avx512vnni",
        products,
        finer,
        fetch,
    })
}

fn products(rows: &[u32], query: &[u32]) -> [i32; ROWS] {
    // SAFETY: only `detect` hands this function out, after it has seen these features.
    unsafe { products_avx512(rows, query) }
}

#[target_feature(enable = "avx512f,avx512vnni")]
fn products_avx512(rows: &[u32], query: &[u32]) -> [i32; ROWS] {
    // Two sums for each half of a byte, so that the additions need not wait for one another. A loop
    // over pairs of words keeps them in registers; chosen by a variable, they would be in memory.
    let mut sums = [[_mm512_setzero_si512(); 2]; 2];
    let (pairs, last) = rows.as_chunks::<ROWS>().0.as_chunks::<2>();
    let (query_pairs, query_last) = query.as_chunks::<2>().0.as_chunks::<2>();
    for (words, query) in pairs.iter().zip(query_pairs) {
        for chain in 0..2 {
            sums[chain] = plus(sums[chain], &words[chain], &query[chain]);
        }
    }
    for (words, query) in last.iter().zip(query_last) {
        sums[0] = plus(sums[0], words, query);
    }
    let lower = _mm512_add_epi32(sums[0][0], sums[1][0]);
    let upper = _mm512_add_epi32(sums[0][1], sums[1][1]);
    let all = _mm512_add_epi32(lower, _mm512_srai_epi32::<4>(upper));
    let mut sums = [0; ROWS];
    // SAFETY: sixteen numbers are one register; the store may be unaligned.
    unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), all) };
    sums
}

/// Add the products of one word of each row: of the lower halves of its bytes, and of the upper
/// ones, which stay where they are, so the second sum is sixteen times too large.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn plus(sums: [__m512i; 2], words: &[u32; ROWS], query: &[u32; 2]) -> [__m512i; 2] {
    let words = load(words);
    let lower = _mm512_and_si512(words, _mm512_set1_epi8(0x0f));
    let upper = _mm512_and_si512(words, _mm512_set1_epi8(0xf0_u8 as i8));
    let [first, second] = [query[0], query[1]];
    [
        _mm512_dpbusd_epi32(sums[0], lower, _mm512_set1_epi32(first as i32)),
        _mm512_dpbusd_epi32(sums[1], upper, _mm512_set1_epi32(second as i32)),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load<T, const N: usize>(numbers: &[T; N]) -> __m512i {
    const { assert!(N * size_of::<T>() == BYTES) };
    // SAFETY: the numbers are as long as a register; the load may be unaligned.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

fn finer(finer: &[u8], front: &[i8], back: &[i8]) -> i32 {
    // SAFETY: only `detect` hands this function out, after it has seen these features.
    unsafe { finer_avx512(finer, front, back) }
}

#[target_feature(enable = "avx512f,avx512vnni")]
fn finer_avx512(finer: &[u8], front: &[i8], back: &[i8]) -> i32 {
    let bits = _mm512_set1_epi8(15);
    let (finer, finer_left) = finer.as_chunks::<BYTES>();
    let (front, front_left) = front.as_chunks::<BYTES>();
    let (back, back_left) = back.as_chunks::<BYTES>();
    let [mut lower, mut upper] = [_mm512_setzero_si512(); 2];
    for (both, (front, back)) in finer.iter().zip(front.iter().zip(back)) {
        let both = load(both);
        let high = _mm512_and_si512(_mm512_srli_epi32::<4>(both), bits);
        lower = _mm512_dpbusd_epi32(lower, _mm512_and_si512(both, bits), load(front));
        upper = _mm512_dpbusd_epi32(upper, high, load(back));
    }
    let left = scalar::finer(finer_left, front_left, back_left);
    left + _mm512_reduce_add_epi32(_mm512_add_epi32(lower, upper))
}
