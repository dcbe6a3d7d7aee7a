//! The words of a prompt that are written as names, to be found in texts wherever they stand.
//!
//! [`features`](super::features) keeps the names of a text that stand inside a sentence. In a memory of
//! a few texts, most of which begin with a name, that misses most. What is read here is compared with
//! the texts themselves, of which there are few by then.

use super::lexicon::{Class, GERMAN, Table, Votes};
use super::words::{Gap, Kind, Word, Words};

/// A word of a prompt that may be a name.
pub(crate) struct Name<'a> {
    pub text: &'a str,
    /// With and without a final s: `Annas` is `Anna`.
    hashes: [Option<u64>; 2],
}

/// The words of a prompt with a capital letter that no lexicon knows, inside its sentences.
///
/// In what may be German, where every noun has one, those without an article. The words that begin a sentence are
/// read as well if `beginnings` says so, as in a question, or if they have a possessive `'s`: an order
/// begins with a verb.
pub(crate) fn names(prompt: &str, beginnings: bool) -> Vec<Name<'_>> {
    let table = Table::shared();
    let words: Vec<Word> = Words::new(prompt).collect();
    let mut votes = Votes::default();
    for entry in words.iter().filter_map(|word| table.get(word.hash)) {
        votes.add(entry);
    }
    let is_german = votes.any() && votes.languages() & GERMAN != 0;
    let has_article = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| table.get(words[at].hash));
        before.is_some_and(|entry| entry.is(Class::Article) & GERMAN != 0)
    };
    let is_name = |at: usize| {
        let word = &words[at];
        let inside = word.before == Gap::Flows;
        word.kind == Kind::Letters
            && (word.capital && word.small)
            && (inside || beginnings || owns(&prompt[word.end..]))
            && !(is_german && inside && has_article(at))
            && table.get(word.hash).is_none()
    };
    (0..words.len())
        .filter(|at| is_name(*at))
        .map(|at| Name {
            text: &prompt[words[at].start..words[at].end],
            hashes: forms(&words[at]),
        })
        .collect()
}

/// Whether a text has one of these names, with a capital letter too.
pub(crate) fn has_name(text: &str, names: &[Name<'_>]) -> bool {
    Words::new(text).any(|word| {
        let own = forms(&word);
        let is_same = |form: &Option<u64>| form.is_some() && own.contains(form);
        word.capital && names.iter().any(|name| name.hashes.iter().any(is_same))
    })
}

fn owns(after: &str) -> bool {
    let after = after.strip_prefix(['\'', '’']);
    let after = after.and_then(|after| after.strip_prefix('s'));
    after.is_some_and(|after| !after.starts_with(char::is_alphanumeric))
}

fn forms(word: &Word) -> [Option<u64>; 2] {
    [Some(word.hash), word.without_s]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(prompt: &str, beginnings: bool) -> Vec<&str> {
        names(prompt, beginnings)
            .iter()
            .map(|name| name.text)
            .collect()
    }

    #[test]
    fn words_inside_a_sentence_with_a_capital_letter_are_names() {
        assert_eq!(
            written("ask Marta what Lucía said in May", false),
            ["Marta", "Lucía"]
        );
        assert_eq!(written("which README and API of ours", false), [""; 0]);
    }

    #[test]
    fn the_first_word_is_a_name_if_it_owns_something_or_the_prompt_asks() {
        assert_eq!(written("Refactor the parser", false), [""; 0]);
        assert_eq!(written("Priyanka est-elle là ?", true), ["Priyanka"]);
        assert_eq!(
            written("Priyanka’s car, Carl's", false),
            ["Priyanka", "Carl"]
        );
        assert_eq!(written("Will she come?", true), [""; 0]);
    }

    #[test]
    fn a_german_noun_with_an_article_is_no_name() {
        assert_eq!(
            written("wann hat Bernd die Prüfung bestanden", false),
            ["Bernd"]
        );
        assert_eq!(written("führe die Prüfung im Haus aus", false), [""; 0]);
        assert_eq!(written("beschreibe die Schnittstelle", false), [""; 0]);
    }

    #[test]
    fn a_name_is_found_wherever_it_stands_and_with_a_final_s() {
        let prompt = names("what does Alice eat", false);
        assert!(has_name("Alice eats nothing", &prompt));
        assert!(has_name("in Alices Küche", &prompt));
        assert!(!has_name("alice", &prompt));
        assert!(!has_name("Bob eats", &prompt));
        assert!(!has_name("Alice", &names("eat", true)));
    }
}
