//! Whether rows bear on a query by its exact words.
//!
//! ```text
//! weight   = min(idf, rarity); 0 for a function word
//! coverage = sum of the weights of the words that the row has / sum of all weights
//! ```
//!
//! `idf` comes from the memory itself, as if it had at least [`FEW_ROWS`] rows. Among a few facts
//! every word is rare, so `rarity` is what is known of a word without a memory: its rank in the
//! vocabulary of the built-in model, which is ordered by frequency. By Zipf's law the logarithm of a
//! rank is that of a frequency. A build without the model estimates it from the length of the word.

use std::collections::TryReserveError;

use super::FEW_ROWS;
use crate::index::features::{Features, Stored};
use crate::index::words::{Phrase, Words};
use crate::language::{
    self, Calendar, NO_NAME, Question, has_name, is_function_word, is_number, names, particles,
};
use crate::model::tokens;

/// The rank at which a word has the weight 1, about that of "new" or "over".
const EVERYDAY: f64 = 500.0;
/// The rarity of words that are no token of the vocabulary, or that are numbers of more digits.
const RAREST: f64 = 5.5;
/// The rarity of numbers by their digits: every text may have a 3.
const OF_DIGITS: [f64; 3] = [1.0, 3.0, 5.0];

/// The rarity of pairs of characters of a script without spaces, one of which serves the grammar.
const PARTLY_GRAMMAR: f64 = 2.0;
/// What counts of a pair that begins with the end of the one before: both may be of one word.
const OF_THE_SAME_WORD: f64 = 0.33;
/// A word with a capital letter may be a name if its rarity is at least this.
const NAME: f64 = 3.0;

/// An exact term bears alone if fewer rows have it than one in this power of e: one in twenty.
const EXACT: f64 = 3.0;
/// One word bears if its weight is at least this, and its share of the query's.
const TELLING: f64 = 2.3;
const MOSTLY: f64 = 0.36;
/// Two words bear with a smaller share if both weigh this.
const RARE: f64 = 4.0;
const TWO_RARE: f64 = 0.25;

/// A word of a query.
pub struct Term {
    /// As it is written.
    pub text: String,
    /// The forms that are looked up, as the inverted index knows them.
    pub spellings: Vec<Phrase>,
}

/// What is exact in a query.
pub struct ExactQuery<'a> {
    /// The query.
    pub text: &'a str,
    /// Its words without stop words.
    pub terms: &'a [Term],
    /// The paths, versions, long numbers and identifiers in it.
    pub identifiers: &'a [Phrase],
}

/// What a row has of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bearing {
    /// It has, or is about, a name that the query has.
    pub named: bool,
    /// Its moment is the one that the query names: a day, or a month.
    pub dated: bool,
    /// It has an identifier of the query that few rows have.
    pub identified: bool,
    /// The sum of the weights of the query's words that it has.
    pub weight: f64,
    /// That sum, divided by the weights of all of the query's words.
    pub coverage: f64,
    /// The largest of the weights.
    pub rarest: f64,
    /// How many of the words are rare.
    pub rare: usize,
    /// How many of the words it has.
    pub words: usize,
}

impl Bearing {
    /// Whether this is enough for the row to be about what the query asks.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        let mostly = self.rarest >= TELLING && self.coverage >= MOSTLY;
        let twice = self.rare >= 2 && self.coverage >= TWO_RARE;
        self.named || self.identified || mostly || twice
    }
}

/// What rows have of a query's names, identifiers and words; `None` for a row that does not
/// exist. For `until` see [`Words::search`].
///
/// # Errors
/// There is no memory.
pub fn bearings(
    features: &Features,
    words: &Words,
    query: &ExactQuery<'_>,
    ids: &[u32],
    until: Option<u32>,
    calendar: &Calendar,
) -> Result<Vec<Option<Bearing>>, TryReserveError> {
    let question = Question::read(query.text);
    let mut names = language::features(query.text, None).names.to_vec();
    names.retain(|name| *name != NO_NAME);
    let memory = Memory::of(words, until);
    let weights = weights(&memory, query.terms)?;
    let spellings: Vec<Phrase> = spellings(query.terms).cloned().collect();
    let has = words.parts(&spellings, ids, until);
    let identifiers = few(&memory, query.identifiers);
    let identified = words.parts(&identifiers, ids, until);
    let bearing = |(row, id): (usize, &u32)| {
        let stored = features.get(*id)?;
        let mut bearing = matched(query.terms, &weights, has.of(row));
        bearing.named = is_named(&question, &names, &stored);
        bearing.dated = is_dated(&question, calendar, &stored);
        bearing.identified = identified.of(row).iter().any(|part| *part > 0.0);
        Some(bearing)
    };
    Ok(ids.iter().enumerate().map(bearing).collect())
}

fn spellings(terms: &[Term]) -> impl Iterator<Item = &Phrase> {
    terms.iter().flat_map(|term| &term.spellings)
}

/// A subject or speaker may be written in any case; other words are names only where both write
/// them so: rows have titles of books, whose words are words of other questions.
fn is_named(question: &Question, names: &[u32], stored: &Stored<'_>) -> bool {
    question.names(stored.record.speaker) || stored.names().any(|name| names.contains(&name))
}

/// A year alone is that of too many rows.
fn is_dated(question: &Question, calendar: &Calendar, stored: &Stored<'_>) -> bool {
    let date = &question.date;
    let names_a_day = !date.months.is_empty() || !calendar.days.is_empty();
    names_a_day && date.share(calendar, stored.record.day_in(calendar)) == 1.0
}

/// Whether each of these texts has a name that a prompt has, wherever in its sentences.
///
/// # Errors
/// There is no memory.
pub fn named(
    prompt: &str,
    asks: bool,
    texts: &[impl AsRef<str>],
) -> Result<Vec<bool>, TryReserveError> {
    let mut rare = Vec::new();
    for name in names(prompt, asks) {
        if rarity(name.text)? >= NAME {
            rare.push(name);
        }
    }
    let has_name = |text: &str| !rare.is_empty() && has_name(text, &rare);
    Ok(texts.iter().map(|text| has_name(text.as_ref())).collect())
}

/// The identifiers that few rows have.
fn few(memory: &Memory<'_>, identifiers: &[Phrase]) -> Vec<Phrase> {
    let frequencies = memory.frequencies(identifiers);
    let each = identifiers.iter().zip(frequencies);
    each.filter(|(_, having)| memory.idf(*having) >= EXACT)
        .map(|(phrase, _)| phrase.clone())
        .collect()
}

/// The parts of a row are those of the terms' spellings, one after the other.
fn matched(terms: &[Term], weights: &[f64], parts: &[f64]) -> Bearing {
    let mut bearing = Bearing::default();
    let mut parts = parts.iter();
    for (term, weight) in terms.iter().zip(weights) {
        let of_term = parts.by_ref().take(term.spellings.len());
        if of_term.fold(false, |has, part| has | (*part > 0.0)) {
            bearing.words += 1;
            bearing.weight += weight;
            bearing.rarest = bearing.rarest.max(*weight);
            bearing.rare += usize::from(*weight >= RARE);
        }
    }
    let all: f64 = weights.iter().sum();
    bearing.coverage = if all > 0.0 { bearing.weight / all } else { 0.0 };
    bearing
}

fn weights(memory: &Memory<'_>, terms: &[Term]) -> Result<Vec<f64>, TryReserveError> {
    let all: Vec<Phrase> = spellings(terms).cloned().collect();
    let mut frequencies = memory.frequencies(&all).into_iter();
    let mut weights = Vec::with_capacity(terms.len());
    for term in terms {
        let having = frequencies.by_ref().take(term.spellings.len()).sum();
        weights.push(memory.idf(having).min(rarity(&term.text)?));
    }
    for at in (1..terms.len()).rev() {
        if weights[at - 1] >= weights[at] && overlap(&terms[at - 1].text, &terms[at].text) {
            weights[at] *= OF_THE_SAME_WORD;
        }
    }
    Ok(weights)
}

/// Whether two pairs of characters, each with a space between them, are of three characters in a row.
fn overlap(first: &str, second: &str) -> bool {
    let end = first.rsplit_once(' ').map(|(_, end)| end);
    let start = second.split_once(' ').map(|(start, _)| start);
    end.is_some() && end == start
}

/// The rows that say how rare a word is.
struct Memory<'a> {
    words: &'a Words,
    rows: u64,
    until: Option<u32>,
}

impl<'a> Memory<'a> {
    fn of(words: &'a Words, until: Option<u32>) -> Self {
        let (rows, _) = words.totals(until);
        Self { words, rows, until }
    }

    fn frequencies(&self, phrases: &[Phrase]) -> Vec<u64> {
        self.words.frequencies(phrases, self.until)
    }

    /// As for the tokens of [`Features`].
    fn idf(&self, having: u64) -> f64 {
        let rows = (self.rows as usize).max(FEW_ROWS) as f64 + 1.0;
        (rows / (having as f64 + 0.5)).ln().max(0.0)
    }
}

/// How rare a word is in any text.
fn rarity(word: &str) -> Result<f64, TryReserveError> {
    if word.chars().all(char::is_numeric) {
        let digits = word.chars().count();
        return Ok(OF_DIGITS
            .get(digits.saturating_sub(1))
            .copied()
            .unwrap_or(RAREST));
    }
    if is_function_word(word) {
        return Ok(0.0);
    }
    if is_number(word) {
        return Ok(OF_DIGITS[0]);
    }
    if word.contains(' ') || particles(word) == word.chars().count() {
        match particles(word) {
            0 => {}
            1 if word.contains(' ') => return Ok(PARTLY_GRAMMAR),
            _ => return Ok(0.0),
        }
    }
    let rank = tokens::rank(word)?.unwrap_or(f64::INFINITY);
    Ok((1.0 + (rank / EVERYDAY).ln()).clamp(1.0, RAREST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rarities(words: &[&str]) -> Vec<f64> {
        let rarity = |word: &&str| rarity(word).expect("memory");
        words.iter().map(rarity).collect()
    }

    #[test]
    fn grammar_and_numbers_weigh_little() {
        assert_eq!(
            rarities(&["the", "und", "で す", "の", "什 么", "나 요"]),
            [0.0; 6]
        );
        assert_eq!(rarities(&["deux", "zwölf", "7"]), [1.0; 3]);
        assert_eq!(rarities(&["泳 の", "在 上"]), [PARTLY_GRAMMAR; 2]);
        assert_eq!(rarities(&["水 泳", "游 泳", "수 영"]), [RAREST; 3]);
    }

    #[test]
    fn pairs_overlap_if_one_begins_as_the_other_ends() {
        assert!(overlap("エ ラ", "ラ ー"));
        assert!(!overlap("水 泳", "教 室"));
        assert!(!overlap("zwei", "zwei"));
    }

    #[test]
    fn only_rare_words_are_names() {
        let named = |prompt, texts: &[&str]| named(prompt, true, texts).expect("memory");
        assert_eq!(
            named("Is Melanie in?", &["Melanie left", "melanie", "Bob"]),
            [true, false, false]
        );
        assert_eq!(named("what is Test", &["Test"]), [false]);
    }
}
