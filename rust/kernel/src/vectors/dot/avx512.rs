//! AVX-512 with VNNI: sixteen floats a register, or four bytes of sixteen vectors.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_add_epi32, _mm512_add_ps, _mm512_dpbusd_epi32,
    _mm512_fmadd_ps as multiply_add, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mullo_epi32,
    _mm512_reduce_add_ps, _mm512_set1_epi32, _mm512_setzero_ps as zero, _mm512_setzero_si512,
    _mm512_storeu_si512,
};

use super::{BLOCK, Dot, PER_WORD, SIXTEEN, Sixteen, scalar, word};

/// Components in a register.
const WIDTH: usize = 16;

kernels!("avx512", is_x86_feature_detected, "avx512f", "avx512vnni");

#[inline]
#[target_feature(enable = "avx512f")]
fn total(sums: [__m512; CHAINS]) -> f32 {
    let (left, right) = (
        _mm512_add_ps(sums[0], sums[1]),
        _mm512_add_ps(sums[2], sums[3]),
    );
    _mm512_reduce_add_ps(_mm512_add_ps(left, right))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn floats(sixteen: &[f32; WIDTH]) -> __m512 {
    // SAFETY: sixteen floats are one register; unaligned loads are allowed.
    unsafe { _mm512_loadu_ps(sixteen.as_ptr()) }
}

/// One factor of the instruction has no sign: 128 is added to it, and taken off the sums.
#[target_feature(enable = "avx512f,avx512vnni")]
fn bytes(sixteen: &Sixteen, one: &[[i8; PER_WORD]]) -> [i32; SIXTEEN] {
    let mut sums = [_mm512_setzero_si512(); CHAINS];
    sums[0] = _mm512_mullo_epi32(load(&sixteen.sums), _mm512_set1_epi32(-128));
    let (words, words_left) = sixteen.words.as_chunks::<CHAINS>();
    let (fours, fours_left) = one.as_chunks::<CHAINS>();
    for (words, fours) in words.iter().zip(fours) {
        for (chain, sum) in sums.iter_mut().enumerate() {
            *sum = plus(*sum, &words[chain], &fours[chain]);
        }
    }
    for (words, four) in words_left.iter().zip(fours_left) {
        sums[0] = plus(sums[0], words, four);
    }
    let (left, right) = (
        _mm512_add_epi32(sums[0], sums[1]),
        _mm512_add_epi32(sums[2], sums[3]),
    );
    let mut products = [0; SIXTEEN];
    // SAFETY: sixteen numbers are one register; the store may be unaligned.
    unsafe {
        _mm512_storeu_si512(products.as_mut_ptr().cast(), _mm512_add_epi32(left, right));
    }
    products
}

#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn plus(sum: __m512i, words: &[u32; SIXTEEN], four: &[i8; PER_WORD]) -> __m512i {
    let shifted = _mm512_set1_epi32((word(four) ^ 0x8080_8080).cast_signed());
    _mm512_dpbusd_epi32(sum, shifted, load(words))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load<T>(sixteen: &[T; SIXTEEN]) -> __m512i {
    const { assert!(size_of::<T>() == 4) };
    // SAFETY: sixteen numbers of four bytes are one register; the load may be unaligned.
    unsafe { _mm512_loadu_si512(sixteen.as_ptr().cast()) }
}
