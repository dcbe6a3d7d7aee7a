//! Features of a text without a model: whether it has a time or a name, and what a question asks
//! for.
//!
//! [`features`] are computed when a text is written, [`Question::read`] for each query; the ranking
//! compares the two. Both read the words once, and look each up in a table of the words of ten
//! languages. Nothing is guessed: German, which capitalises every noun, has no names here.

mod calendar;
pub mod claims;
mod dates;
mod letters;
mod lexicon;
mod names;
mod question;
pub mod segments;
mod words;

pub(crate) use calendar::days;
pub use calendar::{Calendar, Day};
pub use dates::Named;
pub(crate) use names::{has_name, names};
pub use question::{Question, Wanted};

use letters::{EMPTY, beginnings, shortened, with_word};
use lexicon::{CHINESE, Class, GERMAN, JAPANESE, KOREAN, Languages, Lexicon, Table, Votes};
use words::{Gap, Kind, Word, Words};

/// The text asks a question.
pub const ASKS: u8 = 1;
/// It has an expression of time.
pub const TIME: u8 = 2;
/// It has a word for a relative or for a person by their relation to somebody.
pub const KIN: u8 = 4;
/// It has a quotation mark.
pub const QUOTE: u8 = 8;

/// The hash of nobody's name.
pub const NO_NAME: u32 = 0;

/// The most names stored for a text.
pub const MAX_NAMES: usize = 4;

/// The roles in a conversation with a program.
const ROLES: [&str; 4] = ["user", "assistant", "system", "tool"];
/// The subjects that are nobody.
const NOBODY: [&str; 2] = ["note", "todo"];

/// The features of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// [`ASKS`], [`TIME`], [`KIN`] and [`QUOTE`].
    pub flags: u8,
    /// [`name_hash`] of the first distinct words with a capital letter inside a sentence, other
    /// than the speaker's name; [`NO_NAME`] fills the rest.
    pub names: [u32; MAX_NAMES],
}

/// The stop words of a language, by its ISO 639 code; `None` if it is not one of the ten.
///
/// Words in nearly every question, which do not distinguish texts.
pub fn stop_words(code: &str) -> Option<impl Iterator<Item = &'static str>> {
    Some(Lexicon::of(code)?.stop_words.split_ascii_whitespace())
}

/// The names of the months in a language, January first; none in those that count them.
pub fn months(code: &str) -> Option<impl Iterator<Item = &'static str>> {
    let names = Lexicon::of(code)?.months.into_iter();
    let names = names.filter_map(|forms| forms.split_ascii_whitespace().next());
    Some(names.map(|name| name.trim_start_matches(['*', '#'])))
}

/// The words of a language that make a time in a question a condition, by what they say; a phrase has `_`
/// between its words, and `~` before it if it stands after its time.
pub fn conditions(code: &str) -> Option<impl Iterator<Item = (&'static str, Vec<&'static str>)>> {
    let kinds = Lexicon::of(code)?.conditions.split('|');
    let kinds = kinds.filter_map(|kind| kind.split_once(':'));
    Some(kinds.map(|(name, words)| (name.trim(), words.split_ascii_whitespace().collect())))
}

/// The features of a text that `speaker` said.
pub fn features(text: &str, speaker: Option<&str>) -> Features {
    let mut reader = Reader::new(speaker.unwrap_or_default());
    let mut words = Words::new(text);
    for word in words.by_ref() {
        reader.read(text, &word);
    }
    reader.features(&words)
}

/// The hash by which names are compared: of subjects, speakers and the words of a text.
///
/// Case, accents, width and punctuation between the words do not count, nor does a possessive `'s`.
/// [`NO_NAME`] for a text without words, and for `note` and `todo`. `user`, `assistant`, `system` and
/// `tool` have hashes to tell them apart, but no query names them.
pub fn name_hash(name: &str) -> u32 {
    let hash = Words::new(name).fold(EMPTY, |phrase, word| with_word(phrase, word.hash));
    if hash == EMPTY || NOBODY.iter().any(|none| letters::hash(none) == hash) {
        NO_NAME
    } else {
        shortened(hash)
    }
}

/// Whether a [`name_hash`] is that of nobody, or of a role in a conversation with a program.
pub(crate) fn is_role(name: u32) -> bool {
    let of = |role: &&str| shortened(letters::hash(role)) == name;
    name == NO_NAME || ROLES.iter().any(of)
}

/// The hashes of a text's words, without a final s. In scripts without spaces, and in Korean, each
/// character is a word.
#[cfg(not(feature = "model"))]
pub(crate) fn word_hashes(text: &str) -> impl Iterator<Item = u64> {
    Words::new(text).flat_map(move |word| {
        let is_run = matches!(word.kind, Kind::Hangul | Kind::Unspaced);
        let run = if is_run {
            &text[word.start..word.end]
        } else {
            ""
        };
        let whole = (!is_run).then(|| word.without_s.unwrap_or(word.hash));
        let single = |character| letters::with_character(EMPTY, character);
        whole.into_iter().chain(run.chars().map(single))
    })
}

/// Whether a word serves the grammar of one of the languages, or asks a question.
pub fn is_function_word(word: &str) -> bool {
    let classes = [Class::Common, Class::Asks].into_iter();
    let entry = Table::shared().get(letters::hash(word));
    entry.is_some_and(|entry| {
        let mut classes = classes.chain(Class::QUESTIONS);
        classes.any(|class| entry.is(class) != 0)
    })
}

/// Whether a word is a number in one of the languages: "two", "zwei".
pub(crate) fn is_number(word: &str) -> bool {
    let entry = Table::shared().get(letters::hash(word));
    entry.is_some_and(|entry| entry.is(Class::Count) != 0)
}

/// How many characters of a text serve the grammar of a language written without spaces, or with its
/// particles attached. Hiragana does: Japanese writes most other words with other characters.
pub(crate) fn particles(text: &str) -> usize {
    let serves = |letter: &char| {
        let entry = Table::shared().get(letters::with_character(EMPTY, *letter));
        matches!(letter, '\u{3041}'..='\u{309f}')
            || entry.is_some_and(|entry| entry.is(Class::Particle) != 0)
    };
    text.chars().filter(serves).count()
}

struct Reader {
    table: &'static Table,
    speaker: [u32; MAX_NAMES],
    /// The kind of the previous word, and whether it ended in a small letter.
    previous: Option<Kind>,
    small: bool,
    votes: Votes,
    /// The languages in which the text has a time, or a word for a relative.
    time: Languages,
    kin: Languages,
    dated: bool,
    names: [u32; MAX_NAMES],
    named: usize,
}

impl Reader {
    fn new(speaker: &str) -> Self {
        let mut of_speaker = [NO_NAME; MAX_NAMES];
        for (name, word) in of_speaker.iter_mut().zip(Words::new(speaker)) {
            *name = shortened(word.hash);
        }
        Self {
            table: Table::shared(),
            speaker: of_speaker,
            previous: None,
            small: false,
            votes: Votes::default(),
            time: 0,
            kin: 0,
            dated: false,
            names: [NO_NAME; MAX_NAMES],
            named: 0,
        }
    }

    #[inline]
    fn read(&mut self, text: &str, word: &Word) {
        match word.kind {
            Kind::Letters => {
                self.look_up(word.hash, word.capital);
                if word.capital {
                    self.name(word);
                }
            }
            Kind::Number { .. } => {}
            Kind::Hangul => {
                self.votes.add_script(KOREAN);
                self.look_up_in(&text[word.start..word.end], 1);
            }
            Kind::Unspaced => {
                let run = &text[word.start..word.end];
                self.votes.add_script(script(run));
                self.look_up_in(run, usize::MAX);
            }
        }
        let counted = matches!(self.previous, Some(Kind::Number { .. }));
        self.dated |= dates::is_time(text, counted, word);
        (self.previous, self.small) = (Some(word.kind), word.small);
    }

    #[inline]
    fn look_up(&mut self, hash: u64, capital: bool) {
        let Some(entry) = self.table.get(hash) else {
            return;
        };
        self.votes.add(entry);
        self.time |= entry.is(Class::Time) | entry.is(Class::Month);
        if capital {
            self.time |= entry.is(Class::Ambiguous);
        }
        self.kin |= entry.is(Class::Kin);
    }

    /// Look up the words that begin at the first characters of a run without spaces.
    fn look_up_in(&mut self, run: &str, starts: usize) {
        for (start, _) in run.char_indices().take(starts) {
            for hash in beginnings(&run[start..]) {
                self.look_up(hash, false);
            }
        }
    }

    fn name(&mut self, word: &Word) {
        let inside = match word.before {
            Gap::Flows => true,
            Gap::None => !matches!(self.previous, Some(Kind::Letters)),
            _ => false,
        };
        let name = shortened(word.hash);
        let known = self.speaker.contains(&name) || self.names.contains(&name);
        if inside && self.small && word.small && self.named < MAX_NAMES && !known {
            self.names[self.named] = name;
            self.named += 1;
        }
    }

    fn features(self, words: &Words<'_>) -> Features {
        let languages = self.votes.languages();
        let mut flags = 0;
        for (flag, holds) in [
            (ASKS, words.asks),
            (TIME, self.dated || self.time & languages != 0),
            (KIN, self.kin & languages != 0),
            (QUOTE, words.quotes),
        ] {
            flags |= if holds { flag } else { 0 };
        }
        let names = if languages == GERMAN {
            [NO_NAME; MAX_NAMES]
        } else {
            self.names
        };
        Features { flags, names }
    }
}

/// The languages that a run without spaces may be of.
fn script(run: &str) -> Languages {
    let is_kana = |character| matches!(character, '\u{3041}'..='\u{30ff}');
    let is_thai = |character| matches!(character, '\u{e00}'..='\u{17ff}');
    if run.contains(is_kana) {
        JAPANESE
    } else if run.contains(is_thai) {
        0
    } else {
        CHINESE
    }
}
