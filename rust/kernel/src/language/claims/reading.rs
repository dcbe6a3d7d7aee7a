//! A claim as its words, each with what it does.

use super::holder;
use super::roles::*;
use super::scanner::{Scanned, scan};
use super::vocabulary::{self, Meaning, Part, Phrase, Tenses, Vocabulary, is_unspaced};
use crate::language::letters;
use crate::language::lexicon::{
    ARABIC, CHINESE, Class, ENGLISH, FREE, GERMAN, HINDI, INFLECTED, JAPANESE, KOREAN, LEXICONS,
    Languages, RUSSIAN, THAI, Table, UNSPACED,
};

/// The characters of a text that are read. Longer texts are rarely one claim.
pub const MAX_CHARACTERS: usize = 400;

/// What a word is written like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Letters.
    Word,
    /// With a capital letter inside a sentence, where other words have none.
    Name,
    /// A quantity.
    Number,
    /// A date, a time of day, a day, a month, a season, or a number beside one.
    Date,
    /// Numbers with full stops between them.
    Version,
    /// Letters and digits, or a path.
    Code,
    /// Of a script without blanks, and in no list.
    Unspaced,
}

/// One word of a claim.
#[derive(Clone, Debug)]
pub struct Word {
    /// As it is written.
    pub text: String,
    /// In lower case, without a final s; digits without signs.
    pub stem: String,
    /// Equal for words that count as one: of the stem, or of a class such as "is".
    pub key: u64,
    /// What it is written like.
    pub kind: Kind,
    /// What it may do.
    pub roles: Roles,
    /// The groups of states that it belongs to, a bit each.
    pub groups: u64,
    /// The families of attributes that it belongs to, a bit each.
    pub families: u64,
    /// It carries meaning by itself. Others are aligned, but tell nothing.
    pub is_telling: bool,
    /// It is left out of the alignment.
    pub is_dropped: bool,
    /// It begins with a capital letter.
    pub is_capital: bool,
    /// The key of the word after a number.
    pub unit: u64,
    /// It stands for the subject, with another ending.
    pub(super) is_inflected: bool,
    /// It stands between quotation marks.
    pub(super) is_quoted: bool,
    /// Its place in a phrase of the lists, if it belongs to one.
    pub(super) in_phrase: Option<Part>,
}

/// A text as its words.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// In the order of the text.
    pub words: Vec<Word>,
    /// Of all words.
    pub roles: Roles,
    /// How many words come before the first verb: the claim is about what they name.
    pub head: usize,
    /// A verb that a list has follows the head.
    pub has_verb: bool,
    /// The groups of states of all words.
    pub groups: u64,
    /// The families of attributes of all words.
    pub families: u64,
    /// How many words tell something.
    pub size: usize,
    /// A word before the first verb stands for the subject.
    pub is_about_subject: bool,
    /// The signs that change the meaning, sorted.
    pub symbols: Vec<char>,
    /// It asks something.
    pub asks: bool,
    /// It was cut at [`MAX_CHARACTERS`].
    pub is_cut: bool,
    /// Before which words there is a comma.
    pub breaks: Vec<usize>,
    /// It is in a script without blanks.
    pub is_unspaced: bool,
    /// How many words may come before the verb at most: names may be verbs, too.
    pub(super) reach: usize,
    /// Those that most of its words belong to.
    pub(super) languages: Languages,
}

/// The keys of classes whose words count as one.
const SAME_BE: u64 = 1;
const SAME_HAVE: u64 = 2;
const SAME_SUBJECT: u64 = 3;

/// Roles of words that are left out of an alignment.
const DROPPED: Roles = FUNCTION | OWNER | INDEFINITE | NOW | CORRECTS | DENIES;

/// Roles of words that are aligned but tell nothing.
const LIGHT: Roles = USER | BE | HAVE | PREPOSITION | DROPPED | TITLE;

/// Roles that tell something, whatever else a word may be.
const TELLING: Roles = STATE | ATTRIBUTE | ONE | KIN | DAY | MONTH | UNIT | NUMBER;

impl Reading {
    /// Read a text about a subject. Both should be in Unicode's form NFKC.
    pub fn new(text: &str, subject: &str) -> Self {
        let end = text.char_indices().nth(MAX_CHARACTERS).map(|(end, _)| end);
        let vocabulary = Vocabulary::shared();
        let subjects: Vec<String> = scan(&text_of(subject, MAX_CHARACTERS), vocabulary, &[])
            .pieces
            .into_iter()
            .map(|piece| piece.lower)
            .collect();
        let whole = subject.to_lowercase();
        let cut_at: Vec<&str> = std::iter::once(whole.as_str())
            .filter(|name| name.starts_with(is_unspaced))
            .collect();
        let scanned = scan(&text[..end.unwrap_or(text.len())], vocabulary, &cut_at);
        let mut reading = read(scanned, &subjects, &whole, vocabulary);
        reading.is_cut = end.is_some();
        reading
    }
}

impl Reading {
    /// The same text, read so that its verb comes as late as it may.
    #[must_use]
    pub fn widest(&self) -> Self {
        let mut reading = self.clone();
        if !self.is_free() {
            reading.set_head(self.reach);
        }
        reading
    }

    /// Whether its verb may stand before what it is about, or at its end.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.languages & FREE == self.languages
    }

    fn set_head(&mut self, head: usize) {
        let verb = self.words.get(head);
        self.has_verb = verb.is_some_and(|word| word.roles & PREDICATE != 0);
        self.is_about_subject = self.words[..head].iter().any(|word| word.roles & USER != 0);
        self.head = head;
    }
}

fn text_of(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

fn read(scanned: Scanned, subjects: &[String], whole: &str, vocabulary: &Vocabulary) -> Reading {
    let pieces = scanned.pieces.into_iter();
    let (texts, lower): (Vec<String>, Vec<String>) =
        pieces.map(|piece| (piece.text, piece.lower)).unzip();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let entries: Vec<&[Phrase]> = lower.iter().map(|word| vocabulary.entries(word)).collect();
    let languages = languages(&lower, &entries);
    let meanings = meanings(&lower, &entries, languages, vocabulary);
    let subjects: Vec<String> = subjects.iter().map(|word| stem(word)).collect();
    let mut words: Vec<Word> = Vec::with_capacity(lower.len());
    for (place, (text, meaning)) in texts.into_iter().zip(&meanings).enumerate() {
        let lower = lower[place];
        let mut word = Word {
            stem: stem(lower),
            key: 0,
            kind: Kind::Word,
            roles: meaning.roles,
            groups: meaning.groups,
            families: meaning.families,
            is_telling: false,
            is_dropped: false,
            is_capital: text.starts_with(char::is_uppercase),
            unit: 0,
            is_inflected: false,
            is_quoted: scanned
                .quotes
                .chunks_exact(2)
                .any(|quotes| (quotes[0]..quotes[1]).contains(&place)),
            in_phrase: meaning.in_phrase,
            text,
        };
        word.kind = kind(&word.text, lower, meaning, place, languages);
        if word.kind == Kind::Unspaced && is_region(lower) {
            word.roles |= REGION;
        }
        if word.kind == Kind::Number {
            word.stem = number(lower, meaning.number);
        }
        if (subjects.contains(&word.stem) && word.roles & (FUNCTION | PREPOSITION) == 0)
            || lower == whole
        {
            word.roles |= USER;
        } else if languages & INFLECTED == languages && word.roles & (FUNCTION | PREPOSITION) == 0 {
            word.is_inflected = subjects
                .iter()
                .any(|subject| is_inflected(subject, &word.stem));
            word.roles |= if word.is_inflected { USER } else { 0 };
        }
        words.push(word);
    }
    mark_months(&mut words);
    mark_dates(&mut words);
    unmark_denied(&mut words);
    mark_past(&mut words, &lower, languages, vocabulary);
    settle(&mut words, languages);
    let is_unspaced = words.iter().any(|word| word.text.starts_with(is_unspaced));
    let head = holder::head(&words, languages);
    let reach = holder::reach(&words, &scanned.breaks, head, languages);
    let mut reading = Reading {
        roles: words.iter().fold(0, |all, word| all | word.roles),
        groups: words.iter().fold(0, |all, word| all | word.groups),
        families: words.iter().fold(0, |all, word| all | word.families),
        size: words.iter().filter(|word| word.is_telling).count(),
        symbols: scanned.symbols,
        asks: scanned.asks,
        breaks: scanned.breaks,
        is_unspaced,
        languages,
        reach,
        words,
        ..Reading::default()
    };
    reading.set_head(head);
    reading
}

/// The languages from which most of the words come; all of them if no word is known.
fn languages(lower: &[&str], entries: &[&[Phrase]]) -> Languages {
    if lower.iter().any(|word| word.starts_with(is_unspaced)) {
        let kana = |character| matches!(character, '\u{3041}'..='\u{30ff}');
        let thai = |character| matches!(character, '\u{e01}'..='\u{e4e}');
        let is_japanese = lower.iter().any(|word| word.contains(kana));
        let is_thai = lower.iter().any(|word| word.contains(thai));
        return match (is_japanese, is_thai) {
            (true, _) => JAPANESE,
            (_, true) => THAI,
            _ => CHINESE,
        };
    }
    let scripts = lower.iter().filter_map(|word| script(word)).next();
    if let Some(language) = scripts {
        return language;
    }
    let mut counts = [0_u32; LEXICONS.len()];
    for (word, entries) in lower.iter().zip(entries) {
        let common = Table::shared().get(letters::hash(word));
        let of = vocabulary::languages(entries) | common.map_or(0, |entry| entry.is(Class::Common));
        for (language, count) in counts.iter_mut().enumerate() {
            *count += u32::from(of >> language & 1);
        }
    }
    let most = counts.iter().max().copied().unwrap_or_default();
    let numbers = counts.iter().enumerate();
    numbers.fold(0, |all, (language, count)| {
        all | Languages::from(*count == most) << language
    })
}

/// The language of a script that has one language here.
fn script(word: &str) -> Option<Languages> {
    match word.chars().next()? {
        '\u{400}'..='\u{52f}' => Some(RUSSIAN),
        '\u{600}'..='\u{6ff}' => Some(ARABIC),
        '\u{900}'..='\u{97f}' => Some(HINDI),
        '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7af}' => Some(KOREAN),
        _ => None,
    }
}

/// What each word means; a phrase hides what its words mean alone.
fn meanings(
    lower: &[&str],
    entries: &[&[Phrase]],
    languages: Languages,
    vocabulary: &Vocabulary,
) -> Vec<Meaning> {
    let mut found = vec![Meaning::default(); lower.len()];
    let mut in_phrase = vec![false; lower.len()];
    for at in 0..lower.len() {
        let Some(phrase) = vocabulary.phrase_at(lower, at, entries[at], languages) else {
            continue;
        };
        let is_phrase = phrase.places.len() > 1;
        let hides = is_phrase && phrase.meaning.roles & MARKS != 0;
        if is_phrase && !hides && !in_phrase[at] {
            found[at].add(vocabulary::meaning(entries[at], languages));
        }
        if !is_phrase && in_phrase[at] {
            continue;
        }
        for (part, place) in phrase.places.into_iter().enumerate() {
            if hides && !in_phrase[place] {
                let alone = vocabulary::meaning(entries[place], languages);
                found[place] = Meaning {
                    roles: alone.roles & TOPICS,
                    families: alone.families,
                    ..Meaning::default()
                };
                in_phrase[place] = true;
            }
            found[place].add(phrase.meaning);
            if is_phrase && phrase.meaning.roles != 0 {
                let part = if part == 0 { Part::First } else { Part::Later };
                found[place].in_phrase.get_or_insert(part);
            }
        }
    }
    found
}

fn kind(text: &str, lower: &str, meaning: &Meaning, place: usize, languages: Languages) -> Kind {
    let first = lower.chars().next().unwrap_or_default();
    if meaning.roles & (DAY | MONTH | SEASON) != 0 {
        return Kind::Date;
    }
    if first.is_ascii_digit() {
        return kind_of_digits(lower);
    }
    if meaning.number > 0 {
        return Kind::Number;
    }
    if is_unspaced(first) {
        return if meaning.roles == 0 {
            Kind::Unspaced
        } else {
            Kind::Word
        };
    }
    if lower.contains(|c: char| c.is_ascii_digit()) || first == '/' {
        let is_version = first == 'v' && lower[1..].chars().all(|c| c.is_ascii_digit() || c == '.');
        return if is_version {
            Kind::Version
        } else {
            Kind::Code
        };
    }
    let shouts = text.chars().skip(1).any(char::is_uppercase);
    let is_name = text.starts_with(char::is_uppercase) && languages != GERMAN;
    if shouts || (place > 0 && is_name) {
        Kind::Name
    } else {
        Kind::Word
    }
}

/// Whether a name of a script without blanks says that it is a region: 長野県.
fn is_region(name: &str) -> bool {
    name.chars().count() > 2 && name.ends_with(['県', '省', '州'])
}

fn kind_of_digits(lower: &str) -> Kind {
    if lower.contains(|c: char| c.is_alphabetic() || c == '/' || c == '_') {
        return Kind::Code;
    }
    if lower.contains(':') {
        return Kind::Date;
    }
    let parts: Vec<&str> = lower.split(['.', '-']).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    if lower.contains('-') {
        return if matches!(lengths[..], [4, 1..=2, 1..=2]) {
            Kind::Date
        } else {
            Kind::Code
        };
    }
    match lengths[..] {
        [1..=2, 1..=2, 4] => Kind::Date,
        [4] if lower.starts_with("19") || lower.starts_with("20") => Kind::Date,
        [_] => Kind::Number,
        [1..=3, ..] if lengths[1..].iter().all(|length| *length == 3) => Kind::Number,
        _ => Kind::Version,
    }
}

fn number(lower: &str, named: u8) -> String {
    if named > 0 {
        return named.to_string();
    }
    let digits: String = lower.chars().filter(char::is_ascii_digit).collect();
    let bare = digits.trim_start_matches('0');
    if bare.is_empty() {
        "0".to_owned()
    } else {
        bare.to_owned()
    }
}

/// A word in lower case without a final s, a Korean particle, or an Arabic article.
fn stem(lower: &str) -> String {
    let length = lower.chars().count();
    match script(lower) {
        Some(KOREAN) if length > 2 => {
            let particles = ['은', '는', '이', '가', '을', '를', '의', '에'];
            return lower.strip_suffix(particles).unwrap_or(lower).to_owned();
        }
        Some(ARABIC) if length > 4 => {
            return lower.strip_prefix("ال").unwrap_or(lower).to_owned();
        }
        _ => {}
    }
    let bytes = lower.as_bytes();
    let plain = lower.is_ascii() && bytes.len() > 3 && bytes[bytes.len() - 1] == b's';
    if plain && !matches!(bytes[bytes.len() - 2], b's' | b'u' | b'i') {
        lower[..lower.len() - 1].to_owned()
    } else {
        lower.to_owned()
    }
}

/// Whether a word may be a subject with another ending: проект, проекта.
fn is_inflected(subject: &str, word: &str) -> bool {
    let same = (subject.chars().zip(word.chars()))
        .take_while(|(a, b)| a == b)
        .count();
    let rest = |text: &str| text.chars().count() - same;
    same >= 3 && rest(subject) <= 1 && rest(word) <= 2
}

/// May is a month with a capital letter inside a sentence, or beside a number.
fn mark_months(words: &mut [Word]) {
    for place in 0..words.len() {
        if words[place].roles & MONTH == 0 || words[place].roles & HEDGES == 0 {
            continue;
        }
        let counted = |word: Option<&Word>| word.is_some_and(|word| word.kind == Kind::Number);
        let beside = counted(words.get(place + 1)) || (place > 0 && counted(words.get(place - 1)));
        if beside || (place > 0 && words[place].is_capital) {
            words[place].roles = MONTH;
        } else {
            words[place].roles &= !MONTH;
            words[place].kind = Kind::Word;
        }
    }
}

/// Turn numbers beside a month, an hour or a word for a day into dates: 3 May, 6 pm, 3月.
fn mark_dates(words: &mut [Word]) {
    const HOURS: [&str; 11] = [
        "am", "pm", "uhr", "h", "月", "日", "点", "時", "号", "heure", "o'clock",
    ];
    for place in 0..words.len() {
        let near = |word: &Word| word.roles & MONTH != 0 || HOURS.contains(&word.stem.as_str());
        let beside = (place > 0 && words[place - 1].roles & MONTH != 0)
            || words.get(place + 1).is_some_and(near)
            // el 15 de mayo
            || (words.get(place + 1).is_some_and(|word| word.stem == "de")
                && words.get(place + 2).is_some_and(|word| word.roles & MONTH != 0));
        if beside && words[place].kind == Kind::Number {
            words[place].kind = Kind::Date;
        }
    }
}

/// "Not to give up" ends nothing.
fn unmark_denied(words: &mut [Word]) {
    const OVER: Roles = ENDS | DISPOSES | CLOSES | LEAVES;
    for place in 0..words.len() {
        let before = &words[place.saturating_sub(3)..place];
        if before
            .iter()
            .any(|word| word.roles & DENIES != 0 && word.roles & ENDS == 0)
        {
            words[place].roles &= !OVER;
        }
    }
}

/// Mark verbs in a tense of events that no list has.
fn mark_past(words: &mut [Word], lower: &[&str], languages: Languages, vocabulary: &Vocabulary) {
    let known = ATTRIBUTE | STATE | ONE | MEASURES | KIN | TITLE | UNIQUE | PREPOSITION | FUNCTION;
    let tenses: Vec<&Tenses> = vocabulary.tenses(languages).collect();
    let roles_at = |words: &[Word], place: usize| words.get(place).map_or(0, |word| word.roles);
    for place in 0..words.len() {
        let before = place.checked_sub(1).map_or(0, |before| words[before].roles);
        let is_after_be = before & BE != 0 && before & PAST == 0;
        // "is kept" is a state.
        if languages & ENGLISH != 0 && is_after_be && words[place].roles & BE == 0 {
            words[place].roles &= !PAST;
        }
        let word = &words[place];
        let begins = place == 0 && languages & ENGLISH != 0 && words.len() > 1;
        if word.kind == Kind::Name || word.kind == Kind::Number || word.roles & FUNCTION != 0 {
            continue;
        }
        // "The embedded database is", "handles nested quotes".
        let next = (place + 1..place + 4).fold(0, |all, next| all | roles_at(words, next));
        let is_state = before & (INDEFINITE | OWNER | ONE | MEASURES | MANY) != 0
            || (languages & UNSPACED == 0 && (is_after_be || next & BE != 0));
        let last = place + 1 == words.len();
        let may_tell = !is_state && (begins || word.roles & known == 0);
        let may_follow = word.roles & known & !STATE == 0;
        let is_past = tenses.iter().any(|tenses| {
            let has = |before: &[&str]| before.iter().any(|word| tenses.is_auxiliary(word));
            let near = || has(&lower[place.saturating_sub(2)..place]);
            let far = || last && tenses.participle_last && has(&lower[..place]);
            (may_tell && tenses.is_past(lower[place]))
                || (may_follow && tenses.is_participle(lower[place]) && (near() || far()))
        });
        if is_past {
            words[place].roles |= PAST;
        }
    }
}

/// Decide which words tell something, and give each its key.
fn settle(words: &mut [Word], languages: Languages) {
    for place in 0..words.len() {
        let told = |word: &&Word| word.roles & DENIES == 0;
        let before = words[..place]
            .iter()
            .rev()
            .find(told)
            .map_or(0, |word| word.roles);
        let after = words
            .get(place + 1)
            .map_or(PREPOSITION, |after| after.roles);
        let word = &mut words[place];
        // US, IT; in English also The Who.
        let shouts = word.text.len() > 1 && place > 0 && word.text.chars().all(char::is_uppercase);
        let is_named = shouts
            || (word.kind == Kind::Name
                && languages & ENGLISH != 0
                && word.roles & USER == 0
                && word.roles & (FUNCTION | PREPOSITION) != 0);
        if is_named && word.roles & (FUNCTION | PREPOSITION | OWNER) != 0 {
            word.roles = 0;
            word.stem = word.text.clone();
        }
        let roles = word.roles;
        // "is on", but not "is on the table".
        let is_state = roles & STATE != 0
            && (roles & PREPOSITION == 0 || (before & BE != 0 && after & PREPOSITION != 0));
        word.is_dropped = roles & DROPPED != 0
            && roles & (BE | HAVE | PREPOSITION | USER | NUMBER | KIN) == 0
            && !is_state
            || word.text == "'s";
        word.is_telling = !word.is_dropped
            && (is_state
                || (roles & LIGHT == 0 && (roles & MARKS == 0 || roles & TELLING != 0))
                || (roles & NUMBER != 0
                    && roles & (INDEFINITE | FUNCTION) == 0
                    && roles & USER == 0));
        word.key = match roles {
            _ if is_state => hash(&word.stem),
            _ if roles & USER != 0 => SAME_SUBJECT,
            _ if roles & BE != 0 => SAME_BE,
            _ if roles & HAVE != 0 && !word.is_telling => SAME_HAVE,
            _ => hash(&word.stem),
        };
    }
    for place in 0..words.len() {
        if words[place].stem.bytes().all(|byte| byte.is_ascii_digit()) {
            words[place].unit = words[place + 1..]
                .iter()
                .find(|next| !next.is_dropped)
                .filter(|next| next.roles & PREPOSITION == 0)
                .filter(|next| matches!(next.kind, Kind::Word | Kind::Unspaced))
                .map_or(0, |next| next.key);
        }
    }
}

/// FNV-1a, with the small numbers left to the classes.
fn hash(text: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(start, step) | 16
}
