//! Texts as tokens of the built-in model, compared by the tokens' vectors.
//!
//! The cosine of two tokens comes from an exact product of integers, so it is the same on every
//! instruction set. `whole_words.rs` has the same functions for a build without the model.

use std::collections::TryReserveError;

use super::{BuiltInModel, DIMENSION, Weighed};
use crate::vectors::dot::{Dot, SIXTEEN, Sixteen};
use crate::vectors::unit::write_unit;

/// How many tokens there are: every id is smaller.
pub(crate) fn count() -> usize {
    BuiltInModel::embedded().token_count()
}

/// The ids of a text's tokens.
pub(crate) fn of(text: &str) -> Result<Vec<u16>, TryReserveError> {
    Ok(BuiltInModel::embedded().token_ids(&[text])?.swap_remove(0))
}

/// The rank of a word by its frequency in any text, if it is a token in any case.
pub(crate) fn rank(word: &str) -> Result<Option<f64>, TryReserveError> {
    let forms = [word.to_owned(), word.to_lowercase(), capitalised(word)];
    let tokens = BuiltInModel::embedded().token_ids(&forms.each_ref().map(String::as_str))?;
    let whole = tokens.iter().filter(|tokens| tokens.len() == 1);
    Ok(whole.map(|tokens| tokens[0]).min().map(f64::from))
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters.flat_map(char::to_lowercase)).collect()
}

/// The length of the sum of these tokens' vectors.
pub(crate) fn norm(tokens: &[u16]) -> f32 {
    let sum = BuiltInModel::embedded().sum(tokens);
    sum.iter().map(|x| x * x).sum::<f32>().sqrt()
}

/// Load what is compared with these tokens into the CPU's cache.
pub(crate) fn fetch(tokens: &[u16]) {
    BuiltInModel::embedded().fetch(tokens);
}

/// The weighted mean of some tokens' vectors, scaled to length one.
pub(crate) struct Mean {
    pub vector: [f32; DIMENSION],
    /// What each token's bytes are multiplied by.
    pub shares: Vec<f64>,
}

pub(crate) fn mean(tokens: &[Weighed]) -> Mean {
    let model = BuiltInModel::embedded();
    let mut sum = [0.0; DIMENSION];
    let mut shares = Vec::with_capacity(tokens.len());
    for one in tokens {
        for _ in 0..one.times {
            model.add(one.token, one.weight as f32, &mut sum);
        }
        shares.push(one.times as f64 * one.weight * f64::from(model.scale(one.token)));
    }
    let mut vector = [0.0; DIMENSION];
    let length = write_unit(&sum, &mut vector);
    let scale = if length > 0.0 { length.recip() } else { 0.0 };
    shares.iter_mut().for_each(|share| *share *= scale);
    Mean { vector, shares }
}

/// The product of a vector with a token's.
pub(crate) fn product(dot: &Dot, vector: &[f32; DIMENSION], token: u16) -> f32 {
    let model = BuiltInModel::embedded();
    dot.mixed(vector, model.bytes(token)) * model.scale(token)
}

/// The tokens of a query, to be compared with those of rows.
pub(crate) struct QueryTokens {
    dot: Dot,
    groups: Vec<Group>,
}

/// Sixteen tokens of a query.
struct Group {
    vectors: Sixteen,
    /// What scales each to length one.
    scales: [f64; SIXTEEN],
    /// How often each is in the query's vector.
    shares: [f64; SIXTEEN],
}

impl QueryTokens {
    /// `shares` are those of [`mean`].
    pub fn new(tokens: &[u16], shares: &[f64]) -> Self {
        let dot = Dot::best();
        let groups = tokens
            .chunks(SIXTEEN)
            .zip(shares.chunks(SIXTEEN))
            .map(|(tokens, shares)| Group::new(&dot, tokens, shares))
            .collect();
        Self { dot, groups }
    }

    /// How many groups of sixteen there are.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Append the cosines of a token with the query's, group by group; returns its product with the
    /// query's vector.
    pub fn compare(&self, token: u16, cosines: &mut Vec<[f32; SIXTEEN]>) -> f32 {
        let scale = scale(&self.dot, token);
        let mut product = 0.0;
        for group in &self.groups {
            let (of_group, share) = group.cosines(&self.dot, token, scale);
            cosines.push(of_group);
            product += share;
        }
        (product * f64::from(BuiltInModel::embedded().scale(token))) as f32
    }
}

impl Group {
    fn new(dot: &Dot, tokens: &[u16], of_query: &[f64]) -> Self {
        let model = BuiltInModel::embedded();
        let vectors: Vec<&[i8]> = tokens
            .iter()
            .map(|token| &model.bytes(*token)[..])
            .collect();
        let mut scales = [0.0; SIXTEEN];
        for (place, token) in scales.iter_mut().zip(tokens) {
            *place = scale(dot, *token);
        }
        let mut shares = [0.0; SIXTEEN];
        shares[..of_query.len()].copy_from_slice(of_query);
        Self {
            vectors: Sixteen::new(&vectors, DIMENSION),
            scales,
            shares,
        }
    }

    /// The cosines with a token, and the product of its bytes with this part of the query's vector;
    /// `scale` scales it to length one.
    fn cosines(&self, dot: &Dot, token: u16, scale: f64) -> ([f32; SIXTEEN], f64) {
        let products = dot.bytes(&self.vectors, BuiltInModel::embedded().bytes(token));
        let products = products.map(f64::from);
        let cosine = |at: usize| (products[at] * (self.scales[at] * scale)) as f32;
        let share = products.iter().zip(&self.shares).map(|(x, y)| x * y).sum();
        (std::array::from_fn(cosine), share)
    }
}

/// What scales a token's vector to length one.
fn scale(dot: &Dot, token: u16) -> f64 {
    let square = dot.square(BuiltInModel::embedded().bytes(token));
    f64::from(square).sqrt().recip()
}
