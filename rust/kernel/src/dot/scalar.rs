//! Plain Rust: what every CPU can run, in a shape the compiler can vectorise.

use super::{BLOCK, Dot};

/// Sums kept apart, so that additions need not wait for one another.
const CHAINS: usize = BLOCK / 2;

pub(super) const DOT: Dot = Dot {
    name: "scalar",
    whole,
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
    total(sums)
}

/// Adds halves onto one another, so that no term waits through all the others.
fn total(mut sums: [f32; CHAINS]) -> f32 {
    let mut width = CHAINS;
    while width > 1 {
        width /= 2;
        for chain in 0..width {
            sums[chain] += sums[chain + width];
        }
    }
    sums[0]
}
