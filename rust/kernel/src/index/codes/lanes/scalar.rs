//! Plain Rust, for every CPU.

use super::{Lanes, ROWS};
use crate::index::codes::code::LOWER;

pub(super) const LANES: Lanes = Lanes {
    name: "scalar",
    products,
    finer,
    fetch,
};

fn products(rows: &[u32], query: &[u32]) -> [i32; ROWS] {
    let mut sums = [0; ROWS];
    let words = rows.as_chunks::<ROWS>().0;
    for (words, query) in words.iter().zip(query.as_chunks::<2>().0) {
        for (half, query) in query.iter().enumerate() {
            let query = query.to_le_bytes().map(|whole| i32::from(whole as i8));
            for row in 0..ROWS {
                let bits = (words[row] >> (4 * half) & LOWER).to_le_bytes();
                for (bits, whole) in bits.iter().zip(query) {
                    sums[row] += i32::from(*bits) * whole;
                }
            }
        }
    }
    sums
}

/// Inlined where other instructions are enabled, it is compiled to those.
#[inline(always)]
pub(super) fn finer(finer: &[u8], front: &[i8], back: &[i8]) -> i32 {
    let of = |bits: u8, whole: i8| i32::from(i16::from(bits)) * i32::from(i16::from(whole));
    let all = finer.iter().zip(front.iter().zip(back));
    all.map(|(byte, (front, back))| of(byte & 15, *front) + of(byte >> 4, *back))
        .sum()
}

/// Nothing: stable Rust has the instruction for x86-64 only.
pub(super) fn fetch(_finer: &[u8]) {}
