//! AVX-512F: sixteen components a register.

use std::arch::x86_64::{
    __m512, _mm512_add_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_reduce_add_ps,
    _mm512_setzero_ps,
};

use super::{BLOCK, Dot};

/// Components in a register.
const WIDTH: usize = 16;

/// Registers of sums kept apart: one for each quarter of a block.
const CHAINS: usize = BLOCK / WIDTH;

/// The kernels, if this CPU has the instructions.
pub(super) fn detect() -> Option<Dot> {
    is_x86_feature_detected!("avx512f").then_some(Dot {
        name: "avx512",
        whole,
    })
}

fn whole(a: &[f32], b: &[f32]) -> f32 {
    // SAFETY: only `detect` hands this function out, after it has seen avx512f.
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
