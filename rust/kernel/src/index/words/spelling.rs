//! The terms that a misspelt word may stand for.
//!
//! A term is a stem: "observ" of "observability". So it is compared with the beginnings of a word,
//! and near it if one of them becomes the term by few edits: a letter more, a letter less, another
//! letter, or two neighbours in the other order (optimal string alignment).
//!
//! Every term is looked at. Most of them are left out by their length and by the letters in them,
//! which takes some nanoseconds each.

/// A term, and how many edits it is from the nearest beginning of the word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Similar {
    /// The fewest edits.
    pub edits: usize,
    /// The term, as the tokenizer makes it.
    pub term: String,
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

    /// The edits between a term and the nearest beginning of the word, if they are few enough.
    pub fn edits(&mut self, term: &[u8]) -> Option<usize> {
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

    fn nearest_beginning(&mut self, term: &[char]) -> usize {
        let word = &self.letters;
        let [before, last, row] = &mut self.rows;
        last.iter_mut().enumerate().for_each(|(at, one)| *one = at);
        for (down, letter) in term.iter().enumerate() {
            row[0] = down + 1;
            for (across, other) in word.iter().enumerate() {
                let same = last[across] + usize::from(letter != other);
                let mut edits = same.min(last[across + 1] + 1).min(row[across] + 1);
                let turned = down > 0
                    && across > 0
                    && *letter == word[across - 1]
                    && term[down - 1] == *other;
                if turned {
                    edits = edits.min(before[across - 1] + 1);
                }
                row[across + 1] = edits;
            }
            std::mem::swap(before, last);
            std::mem::swap(last, row);
        }
        last.iter().copied().min().unwrap_or(term.len())
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
    use super::*;

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
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
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
}
