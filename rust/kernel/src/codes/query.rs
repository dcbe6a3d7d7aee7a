//! A query as the planes want it.

use super::code::{self, PER_WORD, UNITS_PER_LEVEL, unpack};
use crate::dot::{self, BLOCK, Dot};
use crate::unit::write_unit;

/// Words of the finer plane that are multiplied in one step; the rest is filled with zeros.
pub(super) const WORDS_AT_ONCE: usize = 16;

/// What the float32 arithmetic of an estimate may be off by: a handful of roundings, each of at
/// most 2^-23 where nothing is larger than two.
const ARITHMETIC: f32 = 4e-6;

/// How a query is multiplied with the planes.
pub(super) struct Query {
    /// The unit vector, padded with zeros.
    pub unit: Vec<f32>,
    pub coarse: Coarse,
    /// For each of the four pairs of bits the words that it is multiplied with.
    pub finer: Vec<u32>,
    /// Of `finer` for one pair of bits.
    pub finer_words: usize,
    /// The most by which a computed cosine may miss the exact one.
    rounding: f32,
}

/// What the first pass needs of a query: the query in whole numbers, `unit ~ step * whole`.
pub(super) struct Coarse {
    /// For each word of a row four words of four whole numbers.
    pub words: Vec<u32>,
    /// Of all whole numbers.
    pub sum: i32,
    pub step: f32,
    /// How far `step * whole` is from the unit vector, at most.
    pub distance: f32,
    /// What to add to an estimate and the row's distance for an upper bound.
    pub slack: f32,
}

/// A cosine lies between these.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub lower: f32,
    pub upper: f32,
}

impl Query {
    pub fn new(vector: &[f32]) -> Self {
        let mut unit = vec![0.0; vector.len().next_multiple_of(BLOCK)];
        write_unit(vector, &mut unit);
        let rounding = 1.001 * dot::error_bound(unit.len());
        let largest = unit.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let step = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        let whole: Vec<i8> = unit.iter().map(|x| (x / step).round() as i8).collect();
        let square: f64 = unit
            .iter()
            .zip(&whole)
            .map(|(x, whole)| (f64::from(*x) - f64::from(step) * f64::from(*whole)).powi(2))
            .sum();
        let distance = (square.sqrt() * 1.000_001) as f32;
        let words = words(&whole[..code::words(vector.len()) * PER_WORD]);
        let (finer, finer_words) = by_pair(&words);
        let coarse = Coarse {
            words,
            sum: whole.iter().map(|whole| i32::from(*whole)).sum(),
            step,
            distance,
            slack: 1.005 * distance + rounding + ARITHMETIC,
        };
        Self {
            unit,
            coarse,
            finer,
            finer_words,
            rounding,
        }
    }

    /// What a cosine must reach at first. Nothing is near to a vector of zeros.
    pub fn floor(&self) -> f32 {
        if self.unit.iter().any(|x| *x != 0.0) {
            0.0
        } else {
            f32::INFINITY
        }
    }

    /// The most that the cosine can be, from the product of the whole numbers with the levels.
    pub fn finer_upper(&self, product: i32, [unit, finer, _]: [f32; 3]) -> f32 {
        let Coarse { step, distance, .. } = self.coarse;
        let estimate = step * product as f32 * (UNITS_PER_LEVEL * unit);
        estimate + finer * (1.0 + distance) + distance + self.rounding + ARITHMETIC
    }

    /// Between what the cosine lies, from the values of a row's codes.
    pub fn finest(&self, values: &[f32], [unit, _, finest]: [f32; 3], dot: &Dot) -> Range {
        let estimate = dot.whole(&self.unit, values) * unit;
        let slack = finest + self.rounding * (2.0 + finest) + ARITHMETIC;
        Range {
            // What is computed is held to at most one.
            lower: (estimate - slack).min(1.0),
            upper: estimate + slack,
        }
    }
}

impl Coarse {
    /// Which of sixteen rows may have a cosine of at least `floor`, from the sums of whole numbers
    /// times the bits of their components.
    #[inline(always)]
    pub fn reach(&self, sums: &[i32; 16], bounds: &[u32; 16], floor: f32) -> u16 {
        let needed = floor - self.slack;
        let mut reaching = 0;
        for row in 0..16 {
            let (factor, distance) = unpack(bounds[row]);
            // The bits are 0 to 3 and stand for -3, -1, 1 and 3.
            let product = (2 * sums[row] - 3 * self.sum) as f32;
            let upper = factor * (self.step * product) + distance;
            reaching |= u16::from(upper >= needed) << row;
        }
        reaching
    }
}

fn words(whole: &[i8]) -> Vec<u32> {
    let four = |four: &[i8; 4]| u32::from_le_bytes(four.map(|whole| whole as u8));
    whole.as_chunks::<4>().0.iter().map(four).collect()
}

fn by_pair(words: &[u32]) -> (Vec<u32>, usize) {
    let rows = words.as_chunks::<4>().0;
    let length = rows.len().next_multiple_of(WORDS_AT_ONCE);
    let mut pairs = vec![0; 4 * length];
    for (at, four) in rows.iter().enumerate() {
        for (pair, word) in four.iter().enumerate() {
            pairs[pair * length + at] = *word;
        }
    }
    (pairs, length)
}
