//! What a query asks for.

use super::dates::{Named, Setting};
use super::letters::{EMPTY, hash, shortened, with_character, with_word};
use super::lexicon::{Class, KOREAN, Languages, Table, Votes};
use super::words::{Gap, Kind, Word, Words};
use super::{LONGEST_UNSPACED, NO_NAME, NO_NAMES, script};

/// A query is read as far as this; what is longer is a text and no question.
const MOST_WORDS: usize = 512;
const MOST_PHRASES: usize = 16_384;

/// The longest name, in words, and in characters of a script without spaces.
const LONGEST_NAME: usize = 3;
const LONGEST_UNSPACED_NAME: usize = 8;

/// The noun that says what is asked for stands so far behind "which", and the unit behind "how".
const NOUN_WITHIN: usize = 1;
const UNIT_WITHIN: usize = 2;

/// What a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// When, how long, what date.
    Time,
    /// Where, which city, what book.
    Name,
    /// Who.
    Person,
}

/// A query as the ranking compares it with texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// What it asks for, if it is a question and that can be told.
    pub wants: Option<Wanted>,
    /// [`name_hash`](super::name_hash) of its words and of each run of two or three, sorted.
    pub phrases: Vec<u32>,
    /// The years, months and days that it names.
    pub date: Named,
}

impl Question {
    /// Read a query.
    pub fn read(query: &str) -> Self {
        let words: Vec<Word> = Words::new(query).take(MOST_WORDS).collect();
        let reading = Reading::new(query, &words);
        let setting = Setting {
            text: query,
            languages: reading.languages,
            known: reading.known,
        };
        Self {
            wants: reading.wants(),
            phrases: reading.phrases(),
            date: Named::read(&words, &setting),
        }
    }

    /// Whether the query names whom this [`name_hash`](super::name_hash) is of.
    pub fn names(&self, name: u32) -> bool {
        name != NO_NAME && self.phrases.binary_search(&name).is_ok()
    }
}

struct Reading<'a> {
    query: &'a str,
    words: &'a [Word],
    table: &'static Table,
    languages: Languages,
    known: bool,
}

impl<'a> Reading<'a> {
    fn new(query: &'a str, words: &'a [Word]) -> Self {
        let table = Table::shared();
        let mut votes = Votes::default();
        for word in words {
            match word.kind {
                Kind::Hangul => votes.add_script(KOREAN),
                Kind::Unspaced => votes.add_script(script(&query[word.start..word.end])),
                _ => table
                    .get(word.hash)
                    .into_iter()
                    .for_each(|entry| votes.add(entry)),
            }
        }
        Self {
            query,
            words,
            table,
            languages: votes.languages(),
            known: votes.any(),
        }
    }

    fn is(&self, word: &Word, class: Class) -> bool {
        let entry = self.table.get(word.hash);
        entry.is_some_and(|entry| entry.is(class) & self.languages != 0)
    }

    fn wants(&self) -> Option<Wanted> {
        if !self.is_question() {
            return None;
        }
        self.words
            .iter()
            .enumerate()
            .find_map(|(at, word)| self.asked_by(at, word))
            .flatten()
    }

    fn is_question(&self) -> bool {
        let mark = self
            .query
            .trim_end_matches(|last: char| last.is_whitespace() || "\"'”»)!".contains(last));
        if mark.ends_with(['?', '？', '؟']) || self.query.trim_start().starts_with('¿') {
            return true;
        }
        let [first, rest @ ..] = self.words else {
            return false;
        };
        if matches!(first.kind, Kind::Hangul | Kind::Unspaced) {
            return true;
        }
        // "In which city", "seit wann": the question word may follow a preposition.
        let asks = |word: &Word| self.question_word(word).is_some();
        asks(first)
            || self.is(first, Class::Asks)
            || self.is(first, Class::Common) && rest.first().is_some_and(asks)
    }

    fn question_word(&self, word: &Word) -> Option<Class> {
        [
            Class::When,
            Class::Place,
            Class::Who,
            Class::Which,
            Class::How,
        ]
        .into_iter()
        .find(|class| self.is(word, *class))
    }

    /// What a question word asks for: `Some(None)` if that cannot be told.
    fn asked_by(&self, at: usize, word: &Word) -> Option<Option<Wanted>> {
        match word.kind {
            Kind::Number { .. } => None,
            Kind::Letters => self.asked_by_word(at, self.question_word(word)?),
            Kind::Hangul | Kind::Unspaced => self.asked_in_run(&self.query[word.start..word.end]),
        }
    }

    fn asked_by_word(&self, at: usize, class: Class) -> Option<Option<Wanted>> {
        let ahead = |within: usize, class: Class| {
            let ahead = self.words[at + 1..].iter().take(within);
            ahead.into_iter().any(|word| self.is(word, class))
        };
        Some(match class {
            Class::When => Some(Wanted::Time),
            Class::Place => Some(Wanted::Name),
            Class::Who => Some(Wanted::Person),
            Class::Which if ahead(NOUN_WITHIN, Class::Named) => Some(Wanted::Name),
            Class::Which if ahead(NOUN_WITHIN, Class::Times) => Some(Wanted::Time),
            Class::How if ahead(UNIT_WITHIN, Class::Times) => Some(Wanted::Time),
            Class::How if ahead(UNIT_WITHIN, Class::Called) => Some(Wanted::Name),
            _ => None,
        })
    }

    /// In scripts without spaces a question word stands where its answer would.
    fn asked_in_run(&self, run: &str) -> Option<Option<Wanted>> {
        for (start, _) in run.char_indices() {
            let mut hash = EMPTY;
            for character in run[start..].chars().take(LONGEST_UNSPACED) {
                hash = with_character(hash, character);
                let Some(entry) = self.table.get(hash) else {
                    continue;
                };
                for (class, wanted) in [
                    (Class::When, Wanted::Time),
                    (Class::Place, Wanted::Name),
                    (Class::Who, Wanted::Person),
                ] {
                    if entry.is(class) & self.languages != 0 {
                        return Some(Some(wanted));
                    }
                }
            }
        }
        None
    }

    fn phrases(&self) -> Vec<u32> {
        let mut phrases = Vec::new();
        for at in 0..self.words.len() {
            if phrases.len() >= MOST_PHRASES {
                break;
            }
            self.phrases_from(at, &mut phrases);
        }
        let none = NO_NAMES.map(|name| shortened(hash(name)));
        phrases.retain(|phrase| !none.contains(phrase));
        phrases.sort_unstable();
        phrases.dedup();
        phrases
    }

    fn phrases_from(&self, at: usize, phrases: &mut Vec<u32>) {
        let mut phrase = EMPTY;
        for (count, word) in self.words[at..].iter().take(LONGEST_NAME).enumerate() {
            if count > 0 || !self.is_function_word(at) {
                let without_s = word.without_s.filter(|hash| *hash != EMPTY);
                let forms = without_s.into_iter().chain([word.hash]);
                phrases.extend(forms.map(|hash| shortened(with_word(phrase, hash))));
                self.parts(word, phrase, phrases);
            }
            phrase = with_word(phrase, word.hash);
        }
    }

    /// What may be a name within a word with particles, or within a run that no spaces divide.
    fn parts(&self, word: &Word, phrase: u64, phrases: &mut Vec<u32>) {
        let run = &self.query[word.start..word.end];
        let starts = match word.kind {
            Kind::Letters | Kind::Number { .. } => return,
            Kind::Hangul => 1,
            Kind::Unspaced => usize::MAX,
        };
        for (start, _) in run.char_indices().take(starts) {
            if phrases.len() >= MOST_PHRASES {
                return;
            }
            let mut hash = EMPTY;
            for (count, character) in run[start..].chars().take(LONGEST_UNSPACED_NAME).enumerate() {
                hash = with_character(hash, character);
                if count > 0 {
                    phrases.push(shortened(with_word(phrase, hash)));
                }
            }
        }
    }

    /// "will" is no name unless it is written as one.
    fn is_function_word(&self, at: usize) -> bool {
        let word = &self.words[at];
        let as_name = at > 0 && word.capital && word.before == Gap::Flows;
        !as_name && (self.is(word, Class::Common) || self.is(word, Class::Asks))
    }
}
