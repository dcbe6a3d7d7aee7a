//! Determines what a query asks for.

use super::dates::{Named, Setting};
use super::letters::{EMPTY, beginnings, hash, shortened, with_character, with_word};
use super::lexicon::{Class, KOREAN, Languages, Table, Votes};
use super::words::{Gap, Kind, Word, Words};
use super::{NO_NAME, NOBODY, ROLES, script};

/// A query is read up to this length; a longer one is a text, not a question.
const MAX_WORDS: usize = 512;
const MAX_PHRASES: usize = 16_384;

/// The longest name, in words, and in characters of a script without spaces.
const MAX_NAME_WORDS: usize = 3;
const MAX_NAME_CHARACTERS: usize = 8;

/// How far after "which" the noun may be that says what is asked for, or the unit after "how".
const NOUN_WITHIN: usize = 4;
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
    /// What it asks for, if it is a question and that is clear.
    pub wants: Option<Wanted>,
    /// [`name_hash`](super::name_hash) of its words and of each run of two or three, sorted.
    pub phrases: Vec<u32>,
    /// The years, months and days that it names.
    pub date: Named,
}

impl Question {
    /// Read a query.
    pub fn read(query: &str) -> Self {
        let words: Vec<Word> = Words::new(query).take(MAX_WORDS).collect();
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

    /// Whether the query contains the name with this [`name_hash`](super::name_hash).
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
                Kind::Letters | Kind::Number { .. } => {
                    if let Some(entry) = table.get(word.hash) {
                        votes.add(entry);
                    }
                }
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
        let is = |hash| {
            let entry = self.table.get(hash);
            entry.is_some_and(|entry| entry.is(class) & self.languages != 0)
        };
        match word.kind {
            Kind::Letters => is(word.hash),
            Kind::Hangul => beginnings(self.text_of(word)).any(is),
            Kind::Number { .. } | Kind::Unspaced => false,
        }
    }

    fn text_of(&self, word: &Word) -> &'a str {
        &self.query[word.start..word.end]
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
        let [first, ..] = self.words else {
            return false;
        };
        // In these languages a question word is where its answer would be.
        if matches!(first.kind, Kind::Hangul | Kind::Unspaced) {
            return true;
        }
        // "In which city", "seit wann": the question word may follow a preposition.
        self.question_word(0).is_some()
            || self.is(first, Class::Asks)
            || self.is(first, Class::Common) && self.question_word(1).is_some()
    }

    /// A question word. One with an accent needs it unless it begins the question: "que" may ask at
    /// the beginning, but joins clauses later, where only "qué" asks.
    fn question_word(&self, at: usize) -> Option<Class> {
        let word = self.words.get(at)?;
        let class = Class::QUESTIONS
            .into_iter()
            .find(|class| self.is(word, *class))?;
        let accented = self.table.get(word.hash).map_or(0, |entry| entry.accented);
        let lacks_accent = accented & self.languages != 0 && self.text_of(word).is_ascii();
        (at < 2 || !lacks_accent).then_some(class)
    }

    /// What a question word asks for: `Some(None)` if that is unclear.
    fn asked_by(&self, at: usize, word: &Word) -> Option<Option<Wanted>> {
        match word.kind {
            Kind::Number { .. } => None,
            Kind::Letters | Kind::Hangul => self.asked_by_word(at, self.question_word(at)?),
            Kind::Unspaced => self.asked_in_run(self.text_of(word)),
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

    /// What the first question word in a run asks for. The longest word counts: "いつ" asks when,
    /// "いつも" does not.
    fn asked_in_run(&self, run: &str) -> Option<Option<Wanted>> {
        run.char_indices().find_map(|(start, _)| {
            let entries = beginnings(&run[start..]).filter_map(|hash| self.table.get(hash));
            let longest = entries.last()?;
            let asks = |class| longest.is(class) & self.languages != 0;
            [
                (Class::When, Wanted::Time),
                (Class::Place, Wanted::Name),
                (Class::Who, Wanted::Person),
            ]
            .into_iter()
            .find_map(|(class, wanted)| asks(class).then_some(Some(wanted)))
        })
    }

    fn phrases(&self) -> Vec<u32> {
        let mut phrases = Vec::new();
        for at in 0..self.words.len() {
            if phrases.len() >= MAX_PHRASES {
                break;
            }
            self.phrases_from(at, &mut phrases);
        }
        let none = ROLES.iter().chain(&NOBODY);
        let none: Vec<u32> = none.map(|name| shortened(hash(name))).collect();
        phrases.retain(|phrase| !none.contains(phrase));
        phrases.sort_unstable();
        phrases.dedup();
        phrases
    }

    fn phrases_from(&self, at: usize, phrases: &mut Vec<u32>) {
        let mut phrase = EMPTY;
        for (count, word) in self.words[at..].iter().take(MAX_NAME_WORDS).enumerate() {
            if count > 0 || !self.is_function_word(at) {
                let without_s = word.without_s.filter(|hash| *hash != EMPTY);
                let forms = without_s.into_iter().chain([word.hash]);
                phrases.extend(forms.map(|hash| shortened(with_word(phrase, hash))));
                self.parts(word, phrase, phrases);
            }
            phrase = with_word(phrase, word.hash);
        }
    }

    /// Possible names within a word with particles, or within a run without spaces.
    fn parts(&self, word: &Word, phrase: u64, phrases: &mut Vec<u32>) {
        let run = self.text_of(word);
        let starts = match word.kind {
            Kind::Letters | Kind::Number { .. } => return,
            Kind::Hangul => 1,
            Kind::Unspaced => usize::MAX,
        };
        for (start, _) in run.char_indices().take(starts) {
            if phrases.len() >= MAX_PHRASES {
                return;
            }
            let mut hash = EMPTY;
            for (count, character) in run[start..].chars().take(MAX_NAME_CHARACTERS).enumerate() {
                hash = with_character(hash, character);
                if count > 0 {
                    phrases.push(shortened(with_word(phrase, hash)));
                }
            }
        }
    }

    /// "will" is not a name unless it is capitalised.
    fn is_function_word(&self, at: usize) -> bool {
        let word = &self.words[at];
        let as_name = at > 0 && word.capital && word.before == Gap::Flows;
        let serves = [Class::Common, Class::Asks]
            .into_iter()
            .chain(Class::QUESTIONS);
        !as_name && serves.into_iter().any(|class| self.is(word, class))
    }
}
