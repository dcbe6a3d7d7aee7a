//! A query as the planes want it.

use super::code::{self, Finest, PER_WORD, Packed, unpack};
use super::lanes::ROWS;
use crate::dot::{self, BLOCK, Dot};
use crate::unit::write_unit;

/// What the float32 arithmetic of an estimate may be off by: a handful of roundings, each of at
/// most 2^-23 where nothing is larger than two.
const ARITHMETIC: f32 = 4e-6;

/// How much longer than a unit vector a row's coarse or finer vector can be: it is the true one's
/// projection but for the rounding of its factor to eight bits.
const LENGTH: f32 = 1.005;

/// A unit vector, and in whole numbers: `unit` is nearly `step * whole`.
pub(super) struct Query {
    /// Padded with zeros.
    pub unit: Vec<f32>,
    /// For each word of a row four words of four whole numbers.
    pub words: Vec<u32>,
    /// Of all whole numbers.
    sum: i32,
    step: f32,
    /// What to add to the estimate of a row and to its distance for an upper bound.
    slack: f32,
    /// The most by which a computed cosine may miss the exact one.
    rounding: f32,
}

/// A cosine lies between these.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
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
        Self {
            words: words(&whole[..code::words(vector.len()) * PER_WORD]),
            unit,
            sum: whole.iter().map(|whole| i32::from(*whole)).sum(),
            step,
            slack: LENGTH * distance + rounding + ARITHMETIC,
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

    /// The most that the cosines of sixteen rows can be, from the products of their coarse or finer
    /// vectors, before the factor, with the whole numbers.
    #[inline(always)]
    pub fn upper(&self, products: &[i32; ROWS], bounds: &[Packed; ROWS]) -> [f32; ROWS] {
        let mut upper = [0.0; ROWS];
        for row in 0..ROWS {
            let (factor, distance) = unpack(bounds[row]);
            let estimate = factor * (self.step * products[row] as f32);
            upper[row] = estimate + distance + self.slack;
        }
        upper
    }

    /// What a cosine is likely to be, from its upper bound.
    pub fn estimate(&self, upper: f32, bound: Packed) -> f32 {
        upper - unpack(bound).1 - self.slack
    }

    /// Turn the products with bits 0 to 3 into those with -3, -1, 1 and 3.
    #[inline(always)]
    pub fn coarse(&self, bits: &[i32; ROWS]) -> [i32; ROWS] {
        let mut products = [0; ROWS];
        for row in 0..ROWS {
            products[row] = 2 * bits[row] - 3 * self.sum;
        }
        products
    }

    /// Turn the products with the first two bits, and those with the next two, into those with
    /// -15 to 15.
    #[inline(always)]
    pub fn finer(&self, first: &[i32; ROWS], next: &[i32; ROWS]) -> [i32; ROWS] {
        let mut products = [0; ROWS];
        for row in 0..ROWS {
            products[row] = 8 * first[row] + 2 * next[row] - 15 * self.sum;
        }
        products
    }

    /// Between what the cosine lies, from the values of a row's codes.
    pub fn finest(&self, values: &[f32], [_, _, distance]: Finest, dot: &Dot) -> Between {
        let estimate = dot.whole(&self.unit, values);
        let slack = distance + self.rounding * (2.0 + distance) + ARITHMETIC;
        Between {
            // What is computed is held to at most one.
            lower: (estimate - slack).min(1.0),
            upper: estimate + slack,
        }
    }
}

/// Which of sixteen numbers are at least so large, one bit each.
#[inline(always)]
pub(super) fn reaching(numbers: &[f32; ROWS], floor: f32) -> u16 {
    // Mostly none is, and that is quickly seen.
    if !numbers.iter().fold(false, |any, x| any | (*x >= floor)) {
        return 0;
    }
    let bit = |(row, x): (usize, &f32)| u16::from(*x >= floor) << row;
    numbers
        .iter()
        .enumerate()
        .map(bit)
        .fold(0, |all, bit| all | bit)
}

fn words(whole: &[i8]) -> Vec<u32> {
    let four = |four: &[i8; 4]| u32::from_le_bytes(four.map(|whole| whole as u8));
    whole.as_chunks::<4>().0.iter().map(four).collect()
}
