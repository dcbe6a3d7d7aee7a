//! Plain Rust for every CPU, in a form that the compiler can vectorise.

use super::{BLOCK, Dot, PER_WORD, SIXTEEN, Sixteen};

/// Independent sums, so that additions need not wait for one another.
const CHAINS: usize = BLOCK / 2;

pub(super) const DOT: Dot = Dot {
    name: "scalar",
    whole,
    bytes,
    square,
    mixed,
};

fn whole(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; CHAINS];
    for (a, b) in a
        .as_chunks::<CHAINS>()
        .0
        .iter()
        .zip(b.as_chunks::<CHAINS>().0)
    {
        for chain in 0..CHAINS {
            sums[chain] += a[chain] * b[chain];
        }
    }
    halved!(sums, |a, b| a + b)
}

fn bytes(sixteen: &Sixteen, one: &[[i8; PER_WORD]]) -> [i32; SIXTEEN] {
    let mut products = [0; SIXTEEN];
    for (words, four) in sixteen.words.iter().zip(one) {
        for (product, word) in products.iter_mut().zip(words) {
            for (x, y) in word.to_le_bytes().iter().zip(four) {
                *product += i32::from(x.cast_signed()) * i32::from(*y);
            }
        }
    }
    products
}

/// Added in chains that are the same on every instruction set, and nothing is fused: so is the sum.
///
/// Inlined where other instructions are enabled, it is compiled to those.
#[inline(always)]
pub(super) fn mixed(a: &[f32], b: &[i8]) -> f32 {
    let mut sums = [0.0; CHAINS];
    let (a, b) = (a.as_chunks::<CHAINS>().0, b.as_chunks::<CHAINS>().0);
    for (a, b) in a.iter().zip(b) {
        for chain in 0..CHAINS {
            sums[chain] += a[chain] * f32::from(b[chain]);
        }
    }
    halved!(sums, |a, b| a + b)
}

/// Inlined where other instructions are enabled, it is compiled to those.
#[inline(always)]
pub(super) fn square(one: &[i8]) -> i32 {
    one.iter().map(|x| i32::from(*x) * i32::from(*x)).sum()
}
