//! Plain Rust, for every CPU.

use super::{Lanes, ROWS};
use crate::codes::code::LOWER;

pub(super) const LANES: Lanes = Lanes {
    name: "scalar",
    products,
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
