//! AVX-512F: sixteen components a register.

use std::arch::x86_64::{
    __m512, _MM_HINT_T0, _mm_prefetch, _mm512_add_ps, _mm512_and_si512, _mm512_castsi512_ps,
    _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_reduce_add_ps, _mm512_set1_epi32,
    _mm512_setzero_ps, _mm512_slli_epi32,
};

use super::{BLOCK, Dot, PREFETCH_HALVES};

/// Components in a register.
const WIDTH: usize = 16;

/// Registers of sums kept apart: one for each quarter of a block.
const CHAINS: usize = BLOCK / WIDTH;

/// The kernels, if this CPU has the instructions.
pub(super) fn detect() -> Option<Dot> {
    is_x86_feature_detected!("avx512f").then_some(Dot {
        name: "avx512",
        whole,
        coarse,
    })
}

fn whole(a: &[f32], b: &[f32]) -> f32 {
    // SAFETY: only `detect` hands this function out, after it has seen avx512f.
    unsafe { whole_avx512(a, b) }
}

fn coarse(rows: &[u16], query: &[f32], dots: &mut [f32]) {
    // SAFETY: only `detect` hands this function out, after it has seen avx512f.
    unsafe { coarse_avx512(rows, query, dots) }
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

#[target_feature(enable = "avx512f")]
fn coarse_avx512(rows: &[u16], query: &[f32], dots: &mut [f32]) {
    const HALF: usize = CHAINS / 2;
    for (row, dot) in rows.chunks_exact(query.len()).zip(dots) {
        let mut sums = [_mm512_setzero_ps(); CHAINS];
        for (row, query) in row
            .as_chunks::<BLOCK>()
            .0
            .iter()
            .zip(query.as_chunks::<BLOCK>().0)
        {
            for half in 0..HALF {
                let (even, odd) = halves(row, half);
                let other = half + HALF;
                sums[half] = _mm512_fmadd_ps(even, floats(query, half), sums[half]);
                sums[other] = _mm512_fmadd_ps(odd, floats(query, other), sums[other]);
            }
        }
        *dot = total(sums);
    }
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

/// Thirty-two of a row's coarse halves, as sixteen even and sixteen odd components.
#[inline]
#[target_feature(enable = "avx512f")]
fn halves(block: &[u16; BLOCK], half: usize) -> (__m512, __m512) {
    let here = block.as_chunks::<{ 2 * WIDTH }>().0[half].as_ptr();
    // SAFETY: a prefetch is a hint and may name any address; the load takes thirty-two halves,
    // which are one register, and may be unaligned.
    let words = unsafe {
        _mm_prefetch::<_MM_HINT_T0>(here.wrapping_add(PREFETCH_HALVES).cast());
        _mm512_loadu_si512(here.cast())
    };
    let odd_half = _mm512_set1_epi32(0xffff_0000_u32 as i32);
    let even = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(words));
    (even, _mm512_castsi512_ps(_mm512_and_si512(words, odd_half)))
}
