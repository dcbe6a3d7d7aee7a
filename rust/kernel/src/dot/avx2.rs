//! AVX2 with fused multiply-add: eight components a register.

use std::arch::x86_64::{
    __m256, _MM_HINT_T0, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehdup_ps, _mm_movehl_ps,
    _mm_prefetch, _mm256_add_ps, _mm256_and_si256, _mm256_castps256_ps128, _mm256_castsi256_ps,
    _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_set1_epi32,
    _mm256_setzero_ps, _mm256_slli_epi32,
};

use super::{BLOCK, Dot, PREFETCH_HALVES};

/// Components in a register.
const WIDTH: usize = 8;

/// Registers of sums kept apart: one for each eighth of a block.
const CHAINS: usize = BLOCK / WIDTH;

/// The kernels, if this CPU has the instructions.
pub(super) fn detect() -> Option<Dot> {
    let both = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    both.then_some(Dot {
        name: "avx2",
        whole,
        coarse,
    })
}

fn whole(a: &[f32], b: &[f32]) -> f32 {
    // SAFETY: only `detect` hands this function out, after it has seen avx2 and fma.
    unsafe { whole_avx2(a, b) }
}

fn coarse(rows: &[u16], query: &[f32], dots: &mut [f32]) {
    // SAFETY: only `detect` hands this function out, after it has seen avx2 and fma.
    unsafe { coarse_avx2(rows, query, dots) }
}

#[target_feature(enable = "avx2,fma")]
fn whole_avx2(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [_mm256_setzero_ps(); CHAINS];
    for (a, b) in a
        .as_chunks::<BLOCK>()
        .0
        .iter()
        .zip(b.as_chunks::<BLOCK>().0)
    {
        for (chain, sum) in sums.iter_mut().enumerate() {
            *sum = _mm256_fmadd_ps(floats(a, chain), floats(b, chain), *sum);
        }
    }
    total(sums)
}

#[target_feature(enable = "avx2,fma")]
fn coarse_avx2(rows: &[u16], query: &[f32], dots: &mut [f32]) {
    const HALF: usize = CHAINS / 2;
    for (row, dot) in rows.chunks_exact(query.len()).zip(dots) {
        let mut sums = [_mm256_setzero_ps(); CHAINS];
        for (row, query) in row
            .as_chunks::<BLOCK>()
            .0
            .iter()
            .zip(query.as_chunks::<BLOCK>().0)
        {
            for quarter in 0..HALF {
                let (even, odd) = halves(row, quarter);
                let other = quarter + HALF;
                sums[quarter] = _mm256_fmadd_ps(even, floats(query, quarter), sums[quarter]);
                sums[other] = _mm256_fmadd_ps(odd, floats(query, other), sums[other]);
            }
        }
        *dot = total(sums);
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn total(sums: [__m256; CHAINS]) -> f32 {
    let (mut width, mut sums) = (CHAINS, sums);
    while width > 1 {
        width /= 2;
        for chain in 0..width {
            sums[chain] = _mm256_add_ps(sums[chain], sums[chain + width]);
        }
    }
    let (low, high) = (
        _mm256_castps256_ps128(sums[0]),
        _mm256_extractf128_ps::<1>(sums[0]),
    );
    let two = _mm_add_ps(low, high);
    let one = _mm_add_ps(two, _mm_movehl_ps(two, two));
    _mm_cvtss_f32(_mm_add_ss(one, _mm_movehdup_ps(one)))
}

/// Eight of a block's floats.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn floats(block: &[f32; BLOCK], eighth: usize) -> __m256 {
    let eight = &block.as_chunks::<WIDTH>().0[eighth];
    // SAFETY: eight floats are one register; unaligned loads are allowed.
    unsafe { _mm256_loadu_ps(eight.as_ptr()) }
}

/// Sixteen of a row's coarse halves, as eight even and eight odd components.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn halves(block: &[u16; BLOCK], quarter: usize) -> (__m256, __m256) {
    let here = block.as_chunks::<{ 2 * WIDTH }>().0[quarter].as_ptr();
    // SAFETY: a prefetch is a hint and may name any address; the load takes sixteen halves, which
    // are one register, and may be unaligned.
    let words = unsafe {
        _mm_prefetch::<_MM_HINT_T0>(here.wrapping_add(PREFETCH_HALVES).cast());
        _mm256_loadu_si256(here.cast())
    };
    let odd_half = _mm256_set1_epi32(0xffff_0000_u32 as i32);
    let even = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(words));
    (even, _mm256_castsi256_ps(_mm256_and_si256(words, odd_half)))
}
