//! A query in the form that the planes are compared with.

use super::code::{self, PER_WORD, Packed, unpack};
use super::lanes::{Lanes, ROWS};
use crate::vectors::dot::{self, BLOCK};
use crate::vectors::unit::write_unit;

/// The error of the float32 arithmetic of an estimate: a handful of roundings, each of at most
/// 2^-23 because nothing is larger than two.
const ARITHMETIC: f32 = 4e-6;

/// The largest length of a row's coarse or finer vector: it is a projection of the true one, except
/// that its factor is rounded to eight bits.
const LENGTH: f32 = 1.005;

/// Steps of a query's second part in one of its first.
const FINER: f64 = 254.0;

/// A unit vector as integers of eight bits: nearly `step * (first + second / FINER)`.
pub(super) struct Query {
    parts: [Vec<i8>; 2],
    /// The first part, four integers per word: two words for each word of a row's coarse plane.
    pub words: Vec<u32>,
    /// For single rows, the integers for the lower halves of the bytes of the coarse plane, then those
    /// for the upper ones.
    pub halves: [Vec<i8>; 2],
    /// Of each part's integers.
    sums: [i32; 2],
    step: f32,
    /// Added to the estimate of a row and to its distance to get an upper bound: with the first
    /// part alone, and with both.
    slack: [f32; 2],
    is_zero: bool,
}

/// The bounds of a cosine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    pub lower: f32,
    pub upper: f32,
}

impl Query {
    pub fn new(vector: &[f32]) -> Self {
        let mut unit = vec![0.0; vector.len().next_multiple_of(BLOCK)];
        write_unit(vector, &mut unit);
        let largest = unit.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let step = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        let steps = |x: &f32| f64::from(*x) / f64::from(step);
        let used = code::words(vector.len()) * PER_WORD;
        let first: Vec<i8> = unit.iter().map(|x| steps(x).round() as i8).collect();
        let left = |(x, first): (&f32, &i8)| steps(x) - f64::from(*first);
        let left: Vec<f64> = unit.iter().zip(&first).map(left).collect();
        let second: Vec<i8> = left.iter().map(|x| (x * FINER).round() as i8).collect();
        let beyond = |(left, second): (&f64, &i8)| left - f64::from(*second) / FINER;
        let beyond: Vec<f64> = left.iter().zip(&second).map(beyond).collect();
        // The most by which a computed cosine may miss the exact one.
        let rounding = 1.001 * dot::error_bound(unit.len());
        let slack = |off: &[f64]| {
            let distance = f64::from(step) * off.iter().map(|x| x * x).sum::<f64>().sqrt();
            LENGTH * (distance * 1.000_001) as f32 + rounding + ARITHMETIC
        };
        let mut parts = [first, second];
        parts.iter_mut().for_each(|part| part.resize(used, 0));
        let sum = |part: &Vec<i8>| part.iter().map(|whole| i32::from(*whole)).sum();
        Self {
            words: words(&parts[0]),
            halves: parts.each_ref().map(|part| halves(part)),
            sums: parts.each_ref().map(sum),
            parts,
            step,
            slack: [slack(&left), slack(&beyond)],
            is_zero: largest == 0.0,
        }
    }

    /// The initial minimum of a cosine. Nothing is near a vector of zeros.
    pub fn floor(&self) -> f32 {
        if self.is_zero { f32::INFINITY } else { 0.0 }
    }

    /// Upper bounds of the cosines of sixteen rows, from the products of their coarse plane with the
    /// first part.
    #[inline(always)]
    pub fn upper(&self, products: &[i32; ROWS], bounds: &[Packed; ROWS]) -> [f32; ROWS] {
        let mut upper = [0.0; ROWS];
        for row in 0..ROWS {
            upper[row] = self.upper_of_one(products[row], bounds[row]);
        }
        upper
    }

    /// The same of a single row.
    #[inline(always)]
    pub fn upper_of_one(&self, product: i32, bound: Packed) -> f32 {
        let (factor, distance) = unpack(bound);
        let whole = 2 * product - 15 * self.sums[0];
        factor * (self.step * whole as f32) + distance + self.slack[0]
    }

    /// The likely value of a cosine, from its upper bound.
    pub fn estimate(&self, upper: f32, bound: Packed) -> f32 {
        upper - unpack(bound).1 - self.slack[0]
    }

    /// The bounds of a row's cosine, from its finer bits and the products of its coarse ones with the
    /// first part, or with both.
    pub fn between(&self, lanes: &Lanes, coarse: &[i32], finer: &[u8], bound: Packed) -> Between {
        let mut steps = 0.0;
        let mut unit = 1.0;
        for (part, coarse) in coarse.iter().enumerate() {
            let finer = lanes.finer(finer, &self.parts[part]);
            let whole = 32.0 * f64::from(*coarse) + 2.0 * f64::from(finer);
            steps += unit * (whole - 255.0 * f64::from(self.sums[part]));
            unit /= FINER;
        }
        let (factor, distance) = unpack(bound);
        let estimate = (f64::from(factor) * f64::from(self.step) * steps) as f32;
        let slack = distance + self.slack[coarse.len() - 1];
        Between {
            // Computed cosines are clamped to one.
            lower: (estimate - slack).min(1.0),
            upper: estimate + slack,
        }
    }
}

/// Which of sixteen numbers reach the floor, one bit each.
#[inline(always)]
pub(super) fn reaching(numbers: &[f32; ROWS], floor: f32) -> u16 {
    // Usually none does, which is quick to check.
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

fn halves(whole: &[i8]) -> Vec<i8> {
    let (fours, _) = whole.as_chunks::<4>();
    let half = |first| fours.iter().skip(first).step_by(2).flatten();
    half(0).chain(half(1)).copied().collect()
}

fn words(whole: &[i8]) -> Vec<u32> {
    let four = |four: &[i8; 4]| u32::from_le_bytes(four.map(|whole| whole as u8));
    whole.as_chunks::<4>().0.iter().map(four).collect()
}
