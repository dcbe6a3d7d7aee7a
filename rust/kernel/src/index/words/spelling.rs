//! The terms that a misspelt word may stand for.
//!
//! A term is a stem: "observ" of "observability". So it is compared with the beginnings of a word,
//! and near it if one of them becomes the term by few edits: a letter more, a letter less, another
//! letter, or two neighbours in the other order (optimal string alignment).
//!
//! Of sorted terms, those that begin the same are compared once, and left out together where already
//! their beginning is too far from every beginning of the word: 200,000 terms take about 0.3 ms for
//! one edit, and 1 ms for two. Other terms are looked at one by one.

use std::collections::HashSet;

use super::terms::{self, Terms};

/// A term, and how many edits it is from the nearest beginning of the word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Similar {
    /// The fewest edits.
    pub edits: usize,
    /// The term, as the tokenizer makes it.
    pub term: String,
}

impl Similar {
    fn of(term: &[u8], edits: usize) -> Self {
        let term = String::from_utf8_lossy(term).into_owned();
        Self { edits, term }
    }
}

/// The terms that are near a word.
pub struct SimilarTo<'a> {
    /// In the letters of terms.
    pub word: &'a str,
    /// The most edits.
    pub most: usize,
    /// The most terms.
    pub terms: usize,
    /// The fewest letters of a term: shorter ones are near any word.
    pub letters: usize,
}

/// A word that terms are compared with.
pub(crate) struct Misspelt {
    letters: Vec<char>,
    has: u64,
    most: usize,
    /// The last three rows of the table of distances.
    rows: [Vec<usize>; 3],
}

impl Misspelt {
    /// Terms may be this many edits away.
    pub fn new(word: &str, most: usize) -> Self {
        let letters: Vec<char> = word.chars().collect();
        let width = letters.len() + 1;
        Self {
            has: of_letters(&letters),
            most,
            rows: [vec![0; width], vec![0; width], vec![0; width]],
            letters,
        }
    }

    /// Each of the sorted terms that is near, as [`Misspelt::compare`] finds one by one.
    pub fn among(&self, terms: &Terms) -> Vec<Similar> {
        let mut shared = Shared::new(self);
        let (mut found, mut number) = (Vec::new(), 0);
        while number < terms.len() {
            let term = terms.get(number);
            if terms::is_pair(term) {
                break; // pairs are the last ones
            }
            number = match shared.reach(term) {
                Reached::Far(bytes) => terms.after(number, bytes),
                Reached::End(edits) => {
                    found.extend((edits <= self.most).then(|| Similar::of(term, edits)));
                    number + 1
                }
            };
        }
        found
    }

    /// The term, if it is near.
    pub fn compare(&mut self, term: &[u8]) -> Option<Similar> {
        self.edits(term).map(|edits| Similar::of(term, edits))
    }

    /// The edits between a term and the nearest beginning of the word, if they are few enough.
    fn edits(&mut self, term: &[u8]) -> Option<usize> {
        // A letter has one to four bytes.
        if term.len() > 4 * (self.letters.len() + self.most) {
            return None;
        }
        let term = std::str::from_utf8(term).ok()?;
        // Each edit brings in at most one letter that the word does not have.
        let strange = term.chars().map(bit).fold(0, std::ops::BitOr::bitor) & !self.has;
        if strange.count_ones() as usize > self.most {
            return None;
        }
        let term: Vec<char> = term.chars().collect();
        let is_long = term.len() > self.letters.len() + self.most;
        if is_long || !term.iter().all(|letter| letter.is_alphabetic()) {
            return None;
        }
        let least = self.nearest_beginning(&term);
        (least <= self.most).then_some(least)
    }

    /// The edits between the whole word and another, or one more than may be.
    fn whole(&mut self, other: &str) -> usize {
        let (far, most) = (self.most + 1, self.most);
        let other: Vec<char> = other.chars().collect();
        let strange = of_letters(&other) ^ self.has;
        // Each edit brings in at most one letter that the other does not have, and takes one away.
        let is_strange = strange.count_ones() as usize > 2 * most;
        if is_strange || other.len().abs_diff(self.letters.len()) > most {
            return far;
        }
        self.compare_all(&other);
        self.rows[1].last().map_or(far, |edits| (*edits).min(far))
    }

    /// Leave the row of the last letter of a term in `rows[1]`.
    fn compare_all(&mut self, term: &[char]) {
        let [before, last, row] = &mut self.rows;
        last.iter_mut().enumerate().for_each(|(at, one)| *one = at);
        for end in 1..=term.len() {
            fill(row, last, before, &self.letters, &term[..end]);
            std::mem::swap(before, last);
            std::mem::swap(last, row);
        }
    }

    fn nearest_beginning(&mut self, term: &[char]) -> usize {
        self.compare_all(term);
        self.rows[1].iter().copied().min().unwrap_or(term.len())
    }
}

/// The words in ASCII texts that are at most so many edits from a word of small letters, in any case,
/// with these edits; each spelling once, in the order of the texts.
#[must_use]
pub fn near_words<'a, S: AsRef<str>>(
    word: &str,
    texts: &'a [S],
    most: usize,
) -> Vec<(&'a str, usize)> {
    let mut misspelt = Misspelt::new(word, most);
    let letters = misspelt.letters.len();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for text in texts {
        let words = text.as_ref().split(|c: char| !c.is_ascii_alphabetic());
        let words = words.filter(|other| !other.is_empty());
        for other in words.filter(|other| other.len().abs_diff(letters) <= most) {
            if seen.insert(other) {
                let edits = misspelt.whole(&other.to_ascii_lowercase());
                found.extend((edits <= most).then_some((other, edits)));
            }
        }
    }
    found
}

/// The edits between each of other words and a word, or one more than `most` if there are more.
#[must_use]
pub fn edits<S: AsRef<str>>(word: &str, others: &[S], most: usize) -> Vec<usize> {
    let mut misspelt = Misspelt::new(word, most);
    others
        .iter()
        .map(|other| misspelt.whole(other.as_ref()))
        .collect()
}

/// Fill the row of the last letter of a term in the table of distances, from the two rows before.
fn fill(row: &mut [usize], last: &[usize], before: &[usize], word: &[char], term: &[char]) {
    let down = term.len() - 1;
    row[0] = down + 1;
    for (across, other) in word.iter().enumerate() {
        let same = last[across] + usize::from(term[down] != *other);
        let mut edits = same.min(last[across + 1] + 1).min(row[across] + 1);
        let turned =
            down > 0 && across > 0 && term[down] == word[across - 1] && term[down - 1] == *other;
        if turned {
            edits = edits.min(before[across - 1] + 1);
        }
        row[across + 1] = edits;
    }
}

/// What became of a term.
enum Reached {
    /// Every term with so many first bytes of it is too far, or has what is no letter.
    Far(usize),
    /// Its edits.
    End(usize),
}

/// The table of distances of one term after the other, whose rows they share as far as they begin
/// the same.
struct Shared<'a> {
    word: &'a [char],
    most: usize,
    letters: Vec<char>,
    /// A row for the empty beginning of the term, and one for each letter.
    rows: Vec<Vec<usize>>,
    /// Rows to be used again.
    spare: Vec<Vec<usize>>,
}

impl<'a> Shared<'a> {
    fn new(misspelt: &'a Misspelt) -> Self {
        Self {
            word: &misspelt.letters,
            most: misspelt.most,
            letters: Vec::new(),
            rows: vec![(0..=misspelt.letters.len()).collect()],
            spare: Vec::new(),
        }
    }

    fn reach(&mut self, term: &[u8]) -> Reached {
        let (mut bytes, mut same) = (0, 0);
        for chunk in term.utf8_chunks() {
            for letter in chunk.valid().chars() {
                bytes += letter.len_utf8();
                if self.letters.get(same) == Some(&letter) {
                    same += 1;
                    continue;
                }
                self.shorten(same);
                if !letter.is_alphabetic() || self.is_far_with(letter) {
                    return Reached::Far(bytes);
                }
                same += 1;
            }
            if !chunk.invalid().is_empty() {
                return Reached::End(usize::MAX); // a token that was cut within a letter
            }
        }
        self.shorten(same);
        let last = &self.rows[same];
        Reached::End(last.iter().copied().min().unwrap_or(same))
    }

    /// Keep the rows of so many letters.
    fn shorten(&mut self, letters: usize) {
        self.letters.truncate(letters);
        self.spare.extend(self.rows.drain(letters + 1..));
    }

    /// Add a letter; return whether whatever begins so is too far.
    fn is_far_with(&mut self, letter: char) -> bool {
        self.letters.push(letter);
        let mut row = self.spare.pop().unwrap_or_else(|| self.rows[0].clone());
        let end = self.letters.len();
        let (last, before) = (&self.rows[end - 1], &self.rows[end.saturating_sub(2)]);
        fill(&mut row, last, before, self.word, &self.letters);
        // What follows is made from this row and, where two letters change places, the last one.
        let far = row.iter().all(|edits| *edits > self.most)
            && last.iter().all(|edits| edits + 1 > self.most);
        self.rows.push(row);
        far
    }
}

fn of_letters(letters: &[char]) -> u64 {
    letters
        .iter()
        .copied()
        .map(bit)
        .fold(0, std::ops::BitOr::bitor)
}

/// Letters share a bit at worst: then a term is compared that need not be.
fn bit(letter: char) -> u64 {
    1 << (u32::from(letter) % 64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Numbers below `below`, always the same.
    fn chance(mut seed: u64) -> impl FnMut(u64) -> u64 {
        move |below| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        }
    }

    fn of(terms: &BTreeSet<Vec<u8>>) -> Terms {
        terms.iter().map(Vec::as_slice).collect()
    }

    fn edits(word: &str, term: &str) -> Option<usize> {
        Misspelt::new(word, 2).edits(term.as_bytes())
    }

    /// The same, from the definition.
    fn naive(word: &[char], term: &[char]) -> usize {
        let alignment = |left: &[char], right: &[char]| {
            let mut table = vec![vec![0; right.len() + 1]; left.len() + 1];
            for down in 0..=left.len() {
                for across in 0..=right.len() {
                    if down == 0 || across == 0 {
                        table[down][across] = down + across;
                        continue;
                    }
                    let (l, r) = (left[down - 1], right[across - 1]);
                    let mut least = table[down - 1][across - 1] + usize::from(l != r);
                    least = least.min(table[down - 1][across] + 1);
                    least = least.min(table[down][across - 1] + 1);
                    if down > 1 && across > 1 && l == right[across - 2] && left[down - 2] == r {
                        least = least.min(table[down - 2][across - 2] + 1);
                    }
                    table[down][across] = least;
                }
            }
            table[left.len()][right.len()]
        };
        let beginnings = (0..=word.len()).map(|end| alignment(&word[..end], term));
        beginnings.min().unwrap_or(0)
    }

    #[test]
    fn a_stem_is_near_a_word_that_begins_almost_as_it_does() {
        assert_eq!(edits("obsevability", "observ"), Some(1));
        assert_eq!(edits("observabilty", "observ"), Some(0));
        assert_eq!(edits("obesrvability", "observ"), Some(1));
        assert_eq!(edits("bservability", "observ"), Some(1));
        assert_eq!(
            edits("Наблюдаемость".to_lowercase().as_str(), "наблюдаемост"),
            Some(0)
        );
        assert_eq!(edits("obsevability", "x15"), None);
        assert_eq!(edits("obsevability", "zebra"), None);
    }

    #[test]
    fn as_many_edits_as_the_definition_says() {
        let mut next = chance(7);
        for _ in 0..3000 {
            let mut any = |most: u64| -> Vec<char> {
                let length = next(most);
                (0..length)
                    .map(|_| ['a', 'b', 'c', 'é'][next(4) as usize])
                    .collect()
            };
            let (word, term) = (any(9), any(7));
            let expected = naive(&word, &term);
            let text: String = term.iter().collect();
            let found = edits(&word.iter().collect::<String>(), &text);
            assert_eq!(
                found,
                (expected <= 2).then_some(expected),
                "{word:?} {term:?}"
            );
        }
    }

    #[test]
    fn sorted_terms_that_are_near_are_those_that_are_near_one_by_one() {
        let mut next = chance(11);
        for round in 0..400 {
            let alphabet: &[char] = match round % 3 {
                0 => &['a', 'b', 'c'],
                1 => &['a', 'b', 'é', '日', 'я', '7'],
                _ => &['a', 'e', 'i', 'n', 'r', 's', 't', '_'],
            };
            let mut any = |most: u64| -> String {
                (0..next(most))
                    .map(|_| alphabet[next(alphabet.len() as u64) as usize])
                    .collect()
            };
            let words = [any(5), any(9), any(13)];
            let mut terms: BTreeSet<Vec<u8>> = (0..300).map(|_| any(12).into_bytes()).collect();
            let cut: Vec<u8> = "aé".bytes().take(2).collect();
            terms.extend([cut, vec![0xff, b'a', b'b']]);
            for word in words {
                for most in 0..4 {
                    let mut misspelt = Misspelt::new(&word, most);
                    let one_by_one = terms.iter().filter_map(|term| misspelt.compare(term));
                    let expected: Vec<_> = one_by_one.collect();
                    let found = misspelt.among(&of(&terms));
                    assert_eq!(found, expected, "{word:?} {most}");
                }
            }
        }
    }

    #[test]
    fn the_terms_after_those_that_begin_the_same() {
        let terms: BTreeSet<Vec<u8>> = (0..1000_u32).map(|n| n.to_string().into()).collect();
        let sorted = of(&terms);
        for number in 0..sorted.len() {
            let term = sorted.get(number);
            for bytes in 0..=term.len() {
                let same = |other: &Vec<u8>| other.starts_with(&term[..bytes]);
                let last = terms.iter().rposition(same).unwrap();
                assert_eq!(sorted.after(number, bytes), last + 1);
            }
        }
    }
}
