//! The words of all languages, in one table.
//!
//! A text has no declared language: words of all languages are looked up at once, and count for the
//! languages from which most of its words come.

mod ar;
pub(super) mod claims;
mod de;
mod en;
mod es;
mod fr;
mod hi;
mod it;
mod ja;
mod ko;
mod nl;
mod pl;
mod pt;
mod ru;
mod th;
mod tr;
mod zh;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::letters::hash;

/// The words of one language, divided by spaces. They are compared as [`super::letters`] says, so
/// accents and capitals are only for the reader.
pub(super) struct Lexicon {
    /// By ISO 639.
    pub code: &'static str,
    /// Words in nearly every question, which do not distinguish texts. For searches by words only: they
    /// are compared as they are written, with or without their accents.
    pub stop_words: &'static str,
    /// Words that identify the language and are not names.
    pub common: &'static str,
    /// In an expression of time.
    pub time: &'static str,
    /// Words for relatives, and for people by their relation to somebody.
    pub kin: &'static str,
    /// January to December, in all forms, the name first. `*` marks a form that is another word as well, and
    /// is a month with a capital letter or, where months have none, in a text of the language.
    /// `#` marks one that is a month only beside a number or after [`Self::in_month`].
    pub months: [&'static str; 12],
    /// Words before a month.
    pub in_month: &'static str,
    /// Begins a question that asks for none of the kinds below.
    pub asks: &'static str,
    /// Asks for a time, whatever follows.
    pub when: &'static str,
    /// Asks for a place.
    pub place: &'static str,
    /// Asks for a person.
    pub who: &'static str,
    /// Asks for a name or a time, depending on the next noun.
    pub which: &'static str,
    /// Asks for a time before a unit or a word like "long", for a name before "called".
    pub how: &'static str,
    /// Things with a name: after `which`.
    pub named: &'static str,
    /// After `how`.
    pub called: &'static str,
    /// Units and forms of time: after `which` and `how`.
    pub times: &'static str,
    /// What stands before nouns, but not before names, where both have a capital letter.
    pub articles: &'static str,
    /// Numbers, which any text may have.
    pub numbers: &'static str,
    /// Characters that serve the grammar, or are numbers, in scripts without words that a tokenizer can tell.
    pub particles: &'static str,
    /// Words that make a time in a question a condition, by what they say: `before: before prior_to |
    /// until: …`. A phrase has `_` between its words; `~` marks what stands after its time.
    pub conditions: &'static str,
    /// By which two claims are compared.
    pub claims: claims::Claims,
}

/// The languages; the index is a language's number. German capitalises nouns.
pub(super) const LEXICONS: [&Lexicon; 16] = [
    &en::LEXICON,
    &de::LEXICON,
    &es::LEXICON,
    &fr::LEXICON,
    &it::LEXICON,
    &pt::LEXICON,
    &nl::LEXICON,
    &zh::LEXICON,
    &ja::LEXICON,
    &ko::LEXICON,
    &ru::LEXICON,
    &ar::LEXICON,
    &hi::LEXICON,
    &tr::LEXICON,
    &pl::LEXICON,
    &th::LEXICON,
];

/// This many of them, the first, are identified by their words in questions, the others by their scripts or not at all.
const BY_WORDS: usize = 7;

/// A set of languages, one bit each.
pub(super) type Languages = u16;

pub(super) const ENGLISH: Languages = 1;
pub(super) const GERMAN: Languages = 1 << 1;
pub(super) const CHINESE: Languages = 1 << 7;
pub(super) const JAPANESE: Languages = 1 << 8;
pub(super) const KOREAN: Languages = 1 << 9;

pub(super) const RUSSIAN: Languages = 1 << 10;
pub(super) const ARABIC: Languages = 1 << 11;
pub(super) const HINDI: Languages = 1 << 12;
pub(super) const TURKISH: Languages = 1 << 13;

pub(super) const POLISH: Languages = 1 << 14;
pub(super) const THAI: Languages = 1 << 15;

/// Those that put endings to names.
pub(super) const INFLECTED: Languages = RUSSIAN | POLISH | TURKISH | KOREAN;

/// Those whose verb may stand before what a claim is about, or at its end.
pub(super) const FREE: Languages = KOREAN | ARABIC | HINDI | TURKISH;

/// Those whose scripts have no blanks between words.
pub(super) const UNSPACED: Languages = CHINESE | JAPANESE | THAI;

/// Those that capitalise months.
pub(super) const CAPITAL_MONTHS: Languages = 0b11;

/// What a word may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Common,
    Time,
    Kin,
    InMonth,
    Asks,
    When,
    Place,
    Who,
    Which,
    How,
    Named,
    Called,
    Times,
    Article,
    Count,
    Particle,
    /// A form of a month that is not another word.
    Month,
    /// One marked `*`.
    Ambiguous,
    /// One marked `#`.
    Beside,
}

const CLASSES: usize = 19;

impl Class {
    /// The classes of question words.
    pub const QUESTIONS: [Self; 5] = [Self::When, Self::Place, Self::Who, Self::Which, Self::How];

    fn asks(self) -> bool {
        Self::QUESTIONS.contains(&self)
    }
}

/// The classes of a word, with the languages of each.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    classes: [Languages; CLASSES],
    /// From one, if it is a month in any language.
    pub month: u8,
    /// The languages that write the word with an accent where it asks a question.
    pub accented: Languages,
    /// One in the byte of each language whose word it is.
    votes: u64,
}

impl Entry {
    /// The languages in which the word is this.
    pub fn is(&self, class: Class) -> Languages {
        self.classes[class as usize]
    }
}

/// Counts the words of each language in a text.
#[derive(Default)]
pub(super) struct Votes {
    words: u8,
    counts: u64,
    scripts: Languages,
}

impl Votes {
    pub fn add(&mut self, entry: &Entry) {
        // No byte may overflow; the language is clear long before that.
        if self.words < u8::MAX {
            self.words += 1;
            self.counts += entry.votes;
        }
    }

    pub fn add_script(&mut self, languages: Languages) {
        self.scripts |= languages;
    }

    /// Whether any word was of a known language.
    pub fn any(&self) -> bool {
        self.counts != 0
    }

    /// The languages with the most words, and those of the scripts; all if there was no word.
    pub fn languages(&self) -> Languages {
        let counts = &self.counts.to_le_bytes()[..BY_WORDS];
        let most = counts.iter().max().copied().unwrap_or_default();
        let by_words = counts
            .iter()
            .enumerate()
            .fold(0, |held, (language, count)| {
                held | Languages::from(*count == most) << language
            });
        // Chinese characters together with kana are Japanese.
        let scripts = match self.scripts & JAPANESE {
            0 => self.scripts,
            _ => self.scripts & !CHINESE,
        };
        by_words | scripts
    }
}

/// The words of all languages.
pub(super) struct Table {
    /// Places of entries from one on, a power of two long; zero is no entry.
    slots: Vec<u16>,
    hashes: Vec<u64>,
    entries: Vec<Entry>,
    shift: u32,
}

impl Table {
    /// The shared table, made on first use.
    pub fn shared() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(Self::new)
    }

    /// The entry of the word with this hash.
    #[inline]
    pub fn get(&self, hash: u64) -> Option<&Entry> {
        let mut slot = (hash >> self.shift) as usize;
        loop {
            let place = self.slots[slot] as usize;
            if place == 0 {
                return None;
            }
            if self.hashes[place - 1] == hash {
                return Some(&self.entries[place - 1]);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn new() -> Self {
        let mut entries = HashMap::<u64, Entry>::new();
        for (language, lexicon) in LEXICONS.iter().enumerate() {
            for (class, words) in lexicon.by_class() {
                for word in words.split_ascii_whitespace() {
                    add(&mut entries, language, class, word);
                }
            }
            for (month, forms) in (1..).zip(lexicon.months) {
                for form in forms.split_ascii_whitespace() {
                    let (class, word) = match form.as_bytes()[0] {
                        b'*' => (Class::Ambiguous, &form[1..]),
                        b'#' => (Class::Beside, &form[1..]),
                        _ => (Class::Month, form),
                    };
                    add(&mut entries, language, class, word).month = month;
                }
            }
        }
        let bits = (4 * entries.len()).next_power_of_two().ilog2();
        let mut table = Self {
            slots: vec![0; 1 << bits],
            hashes: Vec::with_capacity(entries.len()),
            entries: Vec::with_capacity(entries.len()),
            shift: u64::BITS - bits,
        };
        for (hash, entry) in entries {
            table.insert(hash, entry);
        }
        table
    }

    fn insert(&mut self, hash: u64, entry: Entry) {
        let mut slot = (hash >> self.shift) as usize;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.hashes.push(hash);
        self.entries.push(entry);
        self.slots[slot] = self.entries.len() as u16;
    }
}

fn add<'a>(
    entries: &'a mut HashMap<u64, Entry>,
    language: usize,
    class: Class,
    word: &str,
) -> &'a mut Entry {
    let entry = entries.entry(hash(word)).or_default();
    entry.classes[class as usize] |= 1 << language;
    if class.asks() && language < BY_WORDS && !word.is_ascii() {
        entry.accented |= 1 << language;
    }
    // Forms that are also other words do not identify the language.
    if language < BY_WORDS && !matches!(class, Class::Ambiguous | Class::Beside | Class::Count) {
        entry.votes |= 1 << (8 * language);
    }
    entry
}

impl Lexicon {
    /// The words of a language.
    pub fn of(code: &str) -> Option<&'static Self> {
        LEXICONS.into_iter().find(|lexicon| lexicon.code == code)
    }

    /// What a language without such words leaves out.
    const NOTHING: Self = Self {
        code: "",
        stop_words: "",
        common: "",
        time: "",
        kin: "",
        months: [""; 12],
        in_month: "",
        asks: "",
        when: "",
        place: "",
        who: "",
        which: "",
        how: "",
        named: "",
        called: "",
        times: "",
        articles: "",
        numbers: "",
        particles: "",
        conditions: "",
        claims: claims::Claims::NOTHING,
    };

    fn by_class(&self) -> [(Class, &'static str); 16] {
        [
            (Class::Common, self.common),
            (Class::Time, self.time),
            (Class::Kin, self.kin),
            (Class::InMonth, self.in_month),
            (Class::Asks, self.asks),
            (Class::When, self.when),
            (Class::Place, self.place),
            (Class::Who, self.who),
            (Class::Which, self.which),
            (Class::How, self.how),
            (Class::Named, self.named),
            (Class::Called, self.called),
            (Class::Times, self.times),
            (Class::Article, self.articles),
            (Class::Count, self.numbers),
            (Class::Particle, self.particles),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::letters::EMPTY;
    use super::super::words::Words;
    use super::*;

    #[test]
    fn each_word_of_a_lexicon_is_one_word_of_a_text() {
        for lexicon in LEXICONS {
            let words = lexicon.by_class().map(|(_, words)| words);
            for word in words
                .iter()
                .chain(&lexicon.months)
                .flat_map(|words| words.split(' '))
            {
                let word = word.trim_start_matches(['*', '#']);
                let found: Vec<u64> = Words::new(word).map(|found| found.hash).collect();
                let is_one = found == [hash(word)] || found == [EMPTY];
                assert!(word.is_empty() || is_one, "{word}");
            }
        }
    }

    #[test]
    fn a_form_is_the_same_month_in_all_languages() {
        let mut known = HashMap::new();
        for lexicon in LEXICONS {
            for (month, forms) in lexicon.months.iter().enumerate() {
                for form in forms.split_ascii_whitespace() {
                    let of_form = hash(form.trim_start_matches(['*', '#']));
                    assert_eq!(*known.entry(of_form).or_insert(month), month, "{form}");
                }
            }
        }
    }

    #[test]
    fn states_and_families_fit_into_their_bits() {
        assert!(claims::FAMILIES.len() <= 64);
        for lexicon in LEXICONS {
            assert!(
                lexicon.claims.states.split('|').count() <= 64,
                "{}",
                lexicon.code
            );
        }
    }

    #[test]
    fn languages_of_claims_have_words_for_every_family() {
        for lexicon in LEXICONS
            .iter()
            .filter(|lexicon| !lexicon.claims.families.is_empty())
        {
            let names: Vec<&str> = lexicon
                .claims
                .families
                .split('|')
                .filter_map(|list| Some(list.split_once(':')?.0.trim()))
                .collect();
            assert_eq!(names, claims::FAMILIES, "{}", lexicon.code);
        }
    }
}
