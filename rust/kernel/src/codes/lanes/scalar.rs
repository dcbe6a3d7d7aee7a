//! Plain Rust, for every CPU.

use super::super::code::LEVELS;
use super::{Block, Coarse, Lanes, ROWS};

pub(super) const LANES: Lanes = Lanes {
    name: "scalar",
    coarse,
    finer,
};

fn coarse(block: &Block<'_>, query: &Coarse, floor: f32) -> u16 {
    let mut sums = [0; ROWS];
    let words = block.words.as_chunks::<ROWS>().0;
    for (words, query) in words.iter().zip(query.words.as_chunks::<4>().0) {
        for (pair, query) in query.iter().enumerate() {
            let query = query.to_le_bytes().map(|whole| i32::from(whole as i8));
            for row in 0..ROWS {
                let bits = (words[row] >> (2 * pair) & 0x0303_0303).to_le_bytes();
                for (bits, whole) in bits.iter().zip(query) {
                    sums[row] += i32::from(*bits) * whole;
                }
            }
        }
    }
    query.reach(&sums, block.bounds, floor)
}

fn finer(coarse: &[u32], finer: &[u32], query: &[u32]) -> i32 {
    let mut sum = 0;
    for (pair, query) in query.chunks_exact(coarse.len()).enumerate() {
        for ((coarse, finer), query) in coarse.iter().zip(finer).zip(query) {
            let of = |word: u32| (word >> (2 * pair) & 0x0303_0303).to_le_bytes();
            let levels = of(*coarse).into_iter().zip(of(*finer));
            for ((coarse, finer), whole) in levels.zip(query.to_le_bytes()) {
                let level = LEVELS[usize::from(coarse * 4 + finer)];
                sum += i32::from(level) * i32::from(whole as i8);
            }
        }
    }
    sum
}
