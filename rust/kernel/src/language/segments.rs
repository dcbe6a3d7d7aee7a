//! Words in scripts without spaces, cut into characters for a full-text index.
//!
//! Which characters belong to which class is given, so that the versions of Unicode of the caller
//! and of this program need not agree.

use std::collections::HashSet;

const BETWEEN: u8 = 1;
const MARK: u8 = 2;
const UNSPACED: u8 = 4;

/// The classes of the characters of a text, each by the characters in it.
pub struct Classes(Vec<u8>);

impl Classes {
    /// Classes of characters: those between words, marks, and those of scripts without spaces.
    pub fn new(between: &str, marks: &str, unspaced: &str) -> Self {
        let mut table = vec![0; char::MAX as usize + 1];
        for (class, characters) in [(BETWEEN, between), (MARK, marks), (UNSPACED, unspaced)] {
            for character in characters.chars() {
                table[character as usize] |= class;
            }
        }
        Self(table)
    }

    fn of(&self, character: char) -> u8 {
        self.0[character as usize]
    }

    /// The words of a text that are more than marks.
    fn words<'a>(&self, text: &'a str) -> HashSet<&'a str> {
        text.split(|character| self.of(character) & BETWEEN != 0)
            .filter(|word| word.chars().any(|character| self.of(character) & MARK == 0))
            .collect()
    }
}

/// The characters of a text, each once, in order of their numbers.
pub fn characters(text: &str) -> String {
    let mut found = vec![false; char::MAX as usize + 1];
    for character in text.chars() {
        found[character as usize] = true;
    }
    (0..)
        .zip(found)
        .filter(|(_, is_there)| *is_there)
        .filter_map(|(code, _)| char::from_u32(code))
        .collect()
}

/// The words with characters of scripts without spaces, and those that are not words of another
/// text, without the marks of such scripts. Their characters stand alone; other words are whole.
pub fn segments(text: &str, written: Option<&str>, classes: &Classes) -> String {
    let written = written.map(|other| classes.words(other));
    let mut found = String::new();
    let mut word = String::new();
    for character in text.chars() {
        let class = classes.of(character);
        if class & BETWEEN != 0 {
            add(&mut found, &word, written.as_ref(), classes);
            word.clear();
        } else if class & (MARK | UNSPACED) != MARK | UNSPACED {
            word.push(character);
        }
    }
    add(&mut found, &word, written.as_ref(), classes);
    found
}

fn add(found: &mut String, word: &str, written: Option<&HashSet<&str>>, classes: &Classes) {
    let (mut is_word, mut is_unspaced) = (false, false);
    for character in word.chars() {
        let class = classes.of(character);
        is_word |= class & MARK == 0;
        is_unspaced |= class & UNSPACED != 0;
    }
    if !is_word || !(is_unspaced || written.is_some_and(|words| !words.contains(word))) {
        return;
    }
    let mut stands_alone = true; // what came before it does
    for character in word.chars() {
        let is_alone = classes.of(character) & UNSPACED != 0;
        if !found.is_empty() && (is_alone || stands_alone) {
            found.push(' ');
        }
        found.push(character);
        stands_alone = is_alone;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_scripts_without_spaces_stand_alone() {
        let classes = Classes::new(" 。", "\u{e31}", "東京วน\u{e31}");
        assert_eq!(
            segments("in 東京。 x東y ว\u{e31}น", None, &classes),
            "東 京 x 東 y ว น"
        );
        assert_eq!(segments("a b", Some("a c"), &classes), "b");
        assert_eq!(characters("baab東"), "ab東");
    }
}
