//! Texts as pieces of the embedded model, compared by the pieces' vectors.
//!
//! The cosine of two pieces comes from an exact product of integers, so it is the same on every
//! instruction set. `whole_words.rs` has the same functions for a build without the model.

use std::collections::TryReserveError;

use super::query::Weighed;
use crate::dot::{Dot, SIXTEEN, Sixteen};
use crate::model::{DIMENSION, StaticModel};
use crate::unit::write_unit;

/// How many pieces there are: every id is smaller.
pub(super) fn count() -> usize {
    StaticModel::embedded().pieces()
}

/// The ids of a text's pieces.
pub(super) fn of(text: &str) -> Result<Vec<u16>, TryReserveError> {
    Ok(StaticModel::embedded().token_ids(&[text])?.swap_remove(0))
}

/// The rank of a word by its frequency in any text, if it is a piece in any case.
pub(super) fn rank(word: &str) -> Result<Option<f64>, TryReserveError> {
    let forms = [word.to_owned(), word.to_lowercase(), capitalised(word)];
    let pieces = StaticModel::embedded().token_ids(&forms.each_ref().map(String::as_str))?;
    let whole = pieces.iter().filter(|pieces| pieces.len() == 1);
    Ok(whole.map(|pieces| pieces[0]).min().map(f64::from))
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.flat_map(char::to_lowercase)).collect()
}

/// The length of the sum of these pieces' vectors.
pub(super) fn norm(pieces: &[u16]) -> f32 {
    let sum = StaticModel::embedded().sum(pieces);
    sum.iter().map(|x| x * x).sum::<f32>().sqrt()
}

/// Load what is compared with these pieces into the CPU's cache.
pub(super) fn fetch(pieces: &[u16]) {
    StaticModel::embedded().fetch(pieces);
}

/// The weighted mean of some pieces' vectors, scaled to length one.
pub(super) struct Mean {
    pub vector: [f32; DIMENSION],
    /// What each piece's bytes are multiplied by.
    pub shares: Vec<f64>,
}

pub(super) fn mean(pieces: &[Weighed]) -> Mean {
    let model = StaticModel::embedded();
    let mut sum = [0.0; DIMENSION];
    let mut shares = Vec::with_capacity(pieces.len());
    for one in pieces {
        for _ in 0..one.times {
            model.add(one.piece, one.weight as f32, &mut sum);
        }
        shares.push(one.times as f64 * one.weight * f64::from(model.scale(one.piece)));
    }
    let mut vector = [0.0; DIMENSION];
    let length = write_unit(&sum, &mut vector);
    let scale = if length > 0.0 { length.recip() } else { 0.0 };
    shares.iter_mut().for_each(|share| *share *= scale);
    Mean { vector, shares }
}

/// The pieces of a query, to be compared with those of rows.
pub(super) struct Asked {
    dot: Dot,
    groups: Vec<Group>,
}

/// Sixteen pieces of a query.
struct Group {
    vectors: Sixteen,
    /// What scales each to length one.
    scales: [f64; SIXTEEN],
    /// How often each is in the query's vector.
    shares: [f64; SIXTEEN],
}

impl Asked {
    /// `shares` are those of [`mean`].
    pub fn new(pieces: &[u16], shares: &[f64]) -> Self {
        let dot = Dot::best();
        let groups = pieces
            .chunks(SIXTEEN)
            .zip(shares.chunks(SIXTEEN))
            .map(|(pieces, shares)| Group::new(&dot, pieces, shares))
            .collect();
        Self { dot, groups }
    }

    /// How many groups of sixteen there are.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Append the cosines of a piece with the query's, group by group; returns its product with the
    /// query's vector.
    pub fn compare(&self, piece: u16, cosines: &mut Vec<[f32; SIXTEEN]>) -> f32 {
        let scale = scale(&self.dot, piece);
        let mut product = 0.0;
        for group in &self.groups {
            let (of_group, share) = group.cosines(&self.dot, piece, scale);
            cosines.push(of_group);
            product += share;
        }
        (product * f64::from(StaticModel::embedded().scale(piece))) as f32
    }
}

impl Group {
    fn new(dot: &Dot, pieces: &[u16], of_query: &[f64]) -> Self {
        let model = StaticModel::embedded();
        let vectors: Vec<&[i8]> = pieces
            .iter()
            .map(|piece| &model.bytes(*piece)[..])
            .collect();
        let mut scales = [0.0; SIXTEEN];
        for (place, piece) in scales.iter_mut().zip(pieces) {
            *place = scale(dot, *piece);
        }
        let mut shares = [0.0; SIXTEEN];
        shares[..of_query.len()].copy_from_slice(of_query);
        Self {
            vectors: Sixteen::new(&vectors, DIMENSION),
            scales,
            shares,
        }
    }

    /// The cosines with a piece, and the product of its bytes with this part of the query's vector;
    /// `scale` scales it to length one.
    fn cosines(&self, dot: &Dot, piece: u16, scale: f64) -> ([f32; SIXTEEN], f64) {
        let products = dot.bytes(&self.vectors, StaticModel::embedded().bytes(piece));
        let products = products.map(f64::from);
        let cosine = |at: usize| (products[at] * (self.scales[at] * scale)) as f32;
        let share = products.iter().zip(&self.shares).map(|(x, y)| x * y).sum();
        (std::array::from_fn(cosine), share)
    }
}

/// What scales a piece's vector to length one.
fn scale(dot: &Dot, piece: u16) -> f64 {
    let square = dot.square(StaticModel::embedded().bytes(piece));
    f64::from(square).sqrt().recip()
}
