//! AVX2 with fused multiply-add: eight components a register.

use std::arch::x86_64::{
    __m256, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehdup_ps, _mm_movehl_ps, _mm256_add_ps,
    _mm256_castps256_ps128, _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_loadu_ps,
    _mm256_setzero_ps,
};

use super::{BLOCK, Dot};

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
    })
}

fn whole(a: &[f32], b: &[f32]) -> f32 {
    // SAFETY: only `detect` hands this function out, after it has seen avx2 and fma.
    unsafe { whole_avx2(a, b) }
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
