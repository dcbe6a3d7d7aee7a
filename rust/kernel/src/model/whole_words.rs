//! Texts as words, for a build without the built-in model: a word is similar to itself alone.
//!
//! Has the functions of `tokens.rs`. A word's id is a hash of 16 bits, which few words of two texts share.

use std::collections::TryReserveError;

use super::Weighed;
use crate::language;
use crate::vectors::dot::SIXTEEN;

/// How many ids there are. Not as many as the built-in model has, so that the two kinds of builds
/// refuse each other's files of the index.
const COUNT: u16 = u16::MAX;

/// The rank of a word without letters, and how many letters make a word e times as rare.
const COMMON: f64 = 180.0;
const LETTERS: f64 = 2.0;

pub(crate) fn count() -> usize {
    usize::from(COUNT)
}

/// The ids of a text's words.
pub(crate) fn of(text: &str) -> Result<Vec<u16>, TryReserveError> {
    let mut ids = Vec::new();
    for hash in language::word_hashes(text) {
        ids.try_reserve(1)?;
        ids.push((hash % u64::from(COUNT)) as u16);
    }
    Ok(ids)
}

/// About the rank of a word by its frequency in any text, from its length: frequent words are short.
/// `None` for a pair of characters of a script without spaces.
pub(crate) fn rank(word: &str) -> Result<Option<f64>, TryReserveError> {
    let letters = word.chars().count() as f64;
    let is_pair = word.contains(' ');
    Ok((!is_pair).then(|| COMMON * (letters / LETTERS).exp()))
}

/// The length of the sum of these words, each a direction of its own; sorted.
pub(crate) fn norm(tokens: &[u16]) -> f32 {
    let square = |equal: &[u16]| (equal.len() * equal.len()) as f32;
    tokens.chunk_by(u16::eq).map(square).sum::<f32>().sqrt()
}

/// Nothing has to be loaded.
pub(crate) fn fetch(_: &[u16]) {}

/// The weighted mean of some words, scaled to length one.
pub(crate) struct Mean {
    /// The component of each.
    pub shares: Vec<f64>,
}

pub(crate) fn mean(tokens: &[Weighed]) -> Mean {
    let shares: Vec<f64> = tokens
        .iter()
        .map(|one| one.times as f64 * one.weight)
        .collect();
    let length = shares.iter().map(|share| share * share).sum::<f64>().sqrt();
    let scale = if length > 0.0 { length.recip() } else { 0.0 };
    Mean {
        shares: shares.iter().map(|share| share * scale).collect(),
    }
}

/// The words of a query, to be compared with those of rows.
pub(crate) struct QueryTokens {
    /// Sixteen words at a time, each with its share.
    groups: Vec<Vec<(u16, f64)>>,
}

impl QueryTokens {
    pub fn new(tokens: &[u16], shares: &[f64]) -> Self {
        let pairs: Vec<_> = tokens.iter().copied().zip(shares.iter().copied()).collect();
        Self {
            groups: pairs.chunks(SIXTEEN).map(<[_]>::to_vec).collect(),
        }
    }

    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Append 1 for the same word and 0 for others, group by group; returns the word's share.
    pub fn compare(&self, token: u16, cosines: &mut Vec<[f32; SIXTEEN]>) -> f32 {
        let mut product = 0.0;
        for group in &self.groups {
            let mut same = [0.0; SIXTEEN];
            for (place, (word, share)) in same.iter_mut().zip(group) {
                if *word == token {
                    *place = 1.0;
                    product += share;
                }
            }
            cosines.push(same);
        }
        product as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<u16> {
        let mut ids = of(text).expect("memory");
        ids.sort_unstable();
        ids
    }

    #[test]
    fn words_are_equal_whatever_their_case_accents_and_plural() {
        assert_eq!(ids("Two CAFÉS, open"), ids("two cafe open"));
        assert_ne!(ids("tea"), ids("coffee"));
        assert_eq!(ids("東京").len(), 2);
        assert!(ids(" ?! ").is_empty());
    }

    #[test]
    fn a_word_is_similar_to_itself_alone() {
        let (words, other) = (ids("a b c d e f g h i j k l m n o p q r"), ids("other")[0]);
        let shares: Vec<f64> = (0..words.len()).map(|at| at as f64).collect();
        let query = QueryTokens::new(&words, &shares);
        assert_eq!(query.groups(), words.len().div_ceil(SIXTEEN));
        for (at, word) in words.iter().enumerate() {
            let mut cosines = Vec::new();
            assert_eq!(query.compare(*word, &mut cosines), at as f32);
            let alike = cosines.as_flattened().iter().map(|one| *one as usize);
            assert_eq!(alike.collect::<Vec<_>>().iter().sum::<usize>(), 1);
            assert_eq!(cosines.as_flattened()[at], 1.0);
        }
        let mut cosines = Vec::new();
        assert_eq!(query.compare(other, &mut cosines), 0.0);
        assert!(cosines.as_flattened().iter().all(|one| *one == 0.0));
    }

    #[test]
    fn the_mean_has_length_one_and_a_text_the_length_of_its_words() {
        let weighed = [(2, 0.5), (1, 3.0)].map(|(times, weight)| Weighed {
            token: 0,
            times,
            weight,
        });
        let shares = mean(&weighed).shares;
        let square: f64 = shares.iter().map(|share| share * share).sum();
        assert!((square - 1.0).abs() < 1e-12);
        assert!((shares[1] / shares[0] - 3.0).abs() < 1e-12);
        assert_eq!(mean(&[]).shares, [0.0; 0]);
        assert_eq!(norm(&ids("tea tea rain")), 5.0_f32.sqrt());
    }
}
