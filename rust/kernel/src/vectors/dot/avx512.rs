//! AVX-512 with VNNI: sixteen floats a register, or four bytes of sixteen vectors.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_add_epi32, _mm512_add_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps,
    _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mullo_epi32, _mm512_reduce_add_ps,
    _mm512_set1_epi32, _mm512_setzero_ps, _mm512_setzero_si512, _mm512_storeu_si512,
};

use super::{BLOCK, Dot, PER_WORD, SIXTEEN, Sixteen, scalar, word};

/// Components in a register.
const WIDTH: usize = 16;

/// Registers of sums kept apart: one for each quarter of a block.
const CHAINS: usize = BLOCK / WIDTH;

/// The kernels, if this CPU has the instructions.
pub(super) fn detect() -> Option<Dot> {
    let both = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
    both.then_some(Dot {
        name: "avx512",
        whole,
        bytes,
        square,
    })
}

fn whole(a: &[f32], b: &[f32]) -> f32 {
    // SAFETY: only `detect` hands this function out, after it has seen avx512f and avx512vnni.
    unsafe { whole_avx512(a, b) }
}

#[target_feature(enable = "avx512f")]
fn whole_avx512(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [_mm512_setzero_ps(); CHAINS];
    for (a, b) in a
        .as_chunks::<BLOCK>()
        .0
        .iter()
        .zip(b.as_chunks::<BLOCK>().0)
    {
        for (chain, sum) in sums.iter_mut().enumerate() {
            *sum = _mm512_fmadd_ps(floats(a, chain), floats(b, chain), *sum);
        }
    }
    total(sums)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn total(sums: [__m512; CHAINS]) -> f32 {
    let (left, right) = (
        _mm512_add_ps(sums[0], sums[1]),
        _mm512_add_ps(sums[2], sums[3]),
    );
    _mm512_reduce_add_ps(_mm512_add_ps(left, right))
}

/// Sixteen of a block's floats.
#[inline]
#[target_feature(enable = "avx512f")]
fn floats(block: &[f32; BLOCK], quarter: usize) -> __m512 {
    let sixteen = &block.as_chunks::<WIDTH>().0[quarter];
    // SAFETY: sixteen floats are one register; unaligned loads are allowed.
    unsafe { _mm512_loadu_ps(sixteen.as_ptr()) }
}

fn bytes(sixteen: &Sixteen, one: &[[i8; PER_WORD]]) -> [i32; SIXTEEN] {
    // SAFETY: only `detect` hands this function out, after it has seen avx512f and avx512vnni.
    unsafe { bytes_avx512(sixteen, one) }
}

/// One factor of the instruction has no sign: 128 is added to it, and taken off the sums.
#[target_feature(enable = "avx512f,avx512vnni")]
fn bytes_avx512(sixteen: &Sixteen, one: &[[i8; PER_WORD]]) -> [i32; SIXTEEN] {
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

fn square(one: &[i8]) -> i32 {
    // SAFETY: only `detect` hands this function out, after it has seen avx512f and avx512vnni.
    unsafe { square_avx512(one) }
}

#[target_feature(enable = "avx512f")]
fn square_avx512(one: &[i8]) -> i32 {
    scalar::square(one)
}
