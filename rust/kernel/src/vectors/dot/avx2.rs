//! AVX2 with fused multiply-add: eight floats a register, or four bytes of eight vectors.

use std::arch::x86_64::{
    __m256, __m256i, _mm_add_ps, _mm_add_ss, _mm_cvtss_f32, _mm_movehdup_ps, _mm_movehl_ps,
    _mm256_abs_epi8, _mm256_add_epi32, _mm256_add_ps, _mm256_castps256_ps128,
    _mm256_extractf128_ps, _mm256_fmadd_ps as multiply_add, _mm256_loadu_ps, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi16, _mm256_set1_epi32,
    _mm256_setzero_ps as zero, _mm256_setzero_si256, _mm256_sign_epi8, _mm256_storeu_si256,
};

use super::{BLOCK, Dot, PER_WORD, SIXTEEN, Sixteen, scalar, word};

/// Components in a register.
const WIDTH: usize = 8;

kernels!("avx2", is_x86_feature_detected, "avx2", "fma");

#[inline]
#[target_feature(enable = "avx2,fma")]
fn total(sums: [__m256; CHAINS]) -> f32 {
    let sum = halved!(sums, _mm256_add_ps);
    let (low, high) = (_mm256_castps256_ps128(sum), _mm256_extractf128_ps::<1>(sum));
    let two = _mm_add_ps(low, high);
    let one = _mm_add_ps(two, _mm_movehl_ps(two, two));
    _mm_cvtss_f32(_mm_add_ss(one, _mm_movehdup_ps(one)))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn floats(eight: &[f32; WIDTH]) -> __m256 {
    // SAFETY: eight floats are one register; unaligned loads are allowed.
    unsafe { _mm256_loadu_ps(eight.as_ptr()) }
}

/// One factor of the instruction has no sign: the other one gets it. Two products of at most
/// 127 * 127 fit in 16 bits.
#[target_feature(enable = "avx2")]
fn bytes(sixteen: &Sixteen, one: &[[i8; PER_WORD]]) -> [i32; SIXTEEN] {
    let mut sums = [_mm256_setzero_si256(); SIXTEEN / WIDTH];
    for (words, four) in sixteen.words.iter().zip(one) {
        let four = _mm256_set1_epi32(word(four).cast_signed());
        for (words, sum) in words.as_chunks().0.iter().zip(&mut sums) {
            let words = load(words);
            let signed = _mm256_sign_epi8(four, words);
            let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(words), signed);
            let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
            *sum = _mm256_add_epi32(*sum, fours);
        }
    }
    let mut products = [0; SIXTEEN];
    for (eight, sum) in products.as_chunks_mut::<WIDTH>().0.iter_mut().zip(sums) {
        // SAFETY: eight numbers are one register; the store may be unaligned.
        unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), sum) };
    }
    products
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u32; WIDTH]) -> __m256i {
    // SAFETY: eight words are one register; the load may be unaligned.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}
