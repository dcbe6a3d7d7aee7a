//! The words by which claims are compared, of all languages, in one table.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

use super::roles::*;
use crate::language::lexicon::claims::{Claims, FAMILIES};
use crate::language::lexicon::{LEXICONS, Languages, Lexicon};

/// How many words `…` stands for at most.
const MAX_GAP: usize = 5;

/// The beginnings of words that are looked up for entries with any ending, in characters.
const BEGINNINGS: std::ops::RangeInclusive<usize> = 2..=14;

/// A map whose keys are hashed quickly: they are words of our lists, not chosen by anybody.
type Map<K, V> = HashMap<K, V, BuildHasherDefault<WordHasher>>;

/// Hashes a word, eight bytes at a time.
#[derive(Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for eight in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..eight.len()].copy_from_slice(eight);
            self.write_u64(u64::from_le_bytes(word) ^ (eight.len() as u64) << 56);
        }
    }

    /// The end of a text.
    fn write_u8(&mut self, _: u8) {}

    fn write_u32(&mut self, character: u32) {
        self.write_u64(u64::from(character));
    }

    fn write_u64(&mut self, word: u64) {
        // The high half folded back in mixes the low bits, which choose the bucket.
        let product = u128::from(self.0.rotate_left(5) ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Nearly as many as there are, so that the table does not grow entry by entry.
const ENTRIES: usize = 1 << 14;

/// The bit of all beginnings beyond those lengths.
const BEYOND: usize = *BEGINNINGS.end() + 1;

/// What a word or a phrase means in one language.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meaning {
    pub roles: Roles,
    /// The groups of states that it belongs to, a bit each.
    pub groups: u64,
    /// The families of attributes that it belongs to, a bit each.
    pub families: u64,
    /// The number that it is, or zero.
    pub number: u8,
    /// Its place in a phrase, if it belongs to one.
    pub in_phrase: Option<Part>,
}

/// Where in a phrase a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    First,
    Later,
}

impl Meaning {
    pub fn add(&mut self, other: Self) {
        self.roles |= other.roles;
        self.groups |= other.groups;
        self.families |= other.families;
        self.number = self.number.max(other.number);
        self.in_phrase = self.in_phrase.or(other.in_phrase);
    }
}

/// A word or a phrase, without its first word.
#[derive(Debug)]
pub struct Phrase {
    rest: Vec<Piece>,
    meanings: Vec<(Languages, Meaning)>,
}

impl Phrase {
    /// What it means in any of the languages, if one has it.
    fn meaning(&self, languages: Languages) -> Option<Meaning> {
        let of = self.meanings.iter().filter(|(of, _)| of & languages != 0);
        of.fold(None, |found, (_, meaning)| {
            let mut all: Meaning = found.unwrap_or_default();
            all.add(*meaning);
            Some(all)
        })
    }
}

/// The languages that have a word, given its entries.
pub fn languages(entries: &[Phrase]) -> Languages {
    let meanings = alone(entries).flat_map(|phrase| &phrase.meanings);
    meanings.fold(0, |all, (language, _)| all | language)
}

/// What a word means alone, in any of the languages, given its entries.
pub fn meaning(entries: &[Phrase], languages: Languages) -> Meaning {
    let mut found = Meaning::default();
    for meaning in alone(entries).filter_map(|phrase| phrase.meaning(languages)) {
        found.add(meaning);
    }
    found
}

/// The entries that are one word.
fn alone(entries: &[Phrase]) -> impl Iterator<Item = &Phrase> {
    entries.iter().filter(|phrase| phrase.rest.is_empty())
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    text: String,
    /// Up to [`MAX_GAP`] words may stand before it.
    after_gap: bool,
    any_ending: bool,
    any_beginning: bool,
}

impl Piece {
    fn is(&self, word: &str) -> bool {
        if self.any_beginning {
            word.ends_with(&self.text)
        } else if self.any_ending {
            word.starts_with(&self.text)
        } else {
            word == self.text
        }
    }
}

/// A phrase that was found: the words that belong to it, and what it means.
#[derive(Debug)]
pub struct Found {
    pub places: Vec<usize>,
    pub meaning: Meaning,
}

/// What a single character of a script without blanks counts, which is cut only beside a number: 日 in
/// 3月2日, but not in 日语.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    Unit,
    Number,
}

/// The words of all languages.
pub struct Vocabulary {
    /// Longest first.
    by_first: Map<String, Vec<Phrase>>,
    by_beginning: Map<String, Vec<Phrase>>,
    /// By the first two characters of those beginnings, a bit for each of their lengths.
    lengths: Map<(char, char), u32>,
    /// Of scripts without blanks: the length of the longest entry that begins with a character.
    longest: Map<char, usize>,
    /// Past tenses of each language.
    tenses: Vec<(Languages, Tenses)>,
}

/// How a language forms the tenses of events.
#[derive(Debug)]
pub struct Tenses {
    endings: Vec<&'static str>,
    auxiliaries: Vec<&'static str>,
    participles: Vec<(&'static str, &'static str)>,
    /// The participle may stand at the end, far from its auxiliary.
    pub participle_last: bool,
}

impl Tenses {
    pub fn is_past(&self, word: &str) -> bool {
        self.endings
            .iter()
            .any(|ending| word.ends_with(ending) && word.len() > ending.len() + 2)
            && !word.ends_with("eed")
    }

    pub fn is_auxiliary(&self, word: &str) -> bool {
        self.auxiliaries.contains(&word)
    }

    pub fn is_participle(&self, word: &str) -> bool {
        self.participles.iter().any(|(first, last)| {
            word.len() > first.len() + last.len() + 1
                && word.starts_with(first)
                && word.ends_with(last)
        })
    }
}

/// Whether a character belongs to a script without blanks.
pub fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{e01}'..='\u{e4e}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

impl Vocabulary {
    /// The shared vocabulary, made on first use.
    pub fn shared() -> &'static Self {
        static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
        VOCABULARY.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut vocabulary = Self {
            by_first: Map::default(),
            by_beginning: Map::default(),
            lengths: Map::default(),
            longest: Map::default(),
            tenses: Vec::new(),
        };
        vocabulary.by_first.reserve(ENTRIES);
        for (number, lexicon) in LEXICONS.iter().enumerate() {
            vocabulary.add_language(1 << number, lexicon);
        }
        for beginning in vocabulary.by_beginning.keys() {
            let of = vocabulary.lengths.entry(first_two(beginning)).or_default();
            *of |= 1 << beginning.chars().count().min(BEYOND);
        }
        for phrases in vocabulary.by_first.values_mut() {
            phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.rest.len()));
        }
        for phrases in vocabulary.by_beginning.values_mut() {
            phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.rest.len()));
        }
        vocabulary
    }

    fn add_language(&mut self, language: Languages, lexicon: &Lexicon) {
        let claims = &lexicon.claims;
        for (roles, words) in by_role(claims) {
            for word in words.split_ascii_whitespace() {
                let meaning = Meaning {
                    roles,
                    ..Meaning::default()
                };
                self.add(word, language, meaning);
            }
        }
        let one_has_one: Vec<&str> = claims.not_kin.split_ascii_whitespace().collect();
        for word in lexicon.kin.split_ascii_whitespace() {
            if !one_has_one.contains(&word) {
                self.add_role(word, language, KIN);
            }
        }
        for form in lexicon.months.iter().flat_map(|forms| forms.split(' ')) {
            let word = form.trim_start_matches(['*', '#']);
            if !word.is_empty() {
                self.add_role(word, language, MONTH);
            }
        }
        for (group, words) in claims.states.split('|').enumerate() {
            for word in words.split_ascii_whitespace() {
                let meaning = Meaning {
                    roles: STATE,
                    groups: 1 << group,
                    ..Meaning::default()
                };
                self.add(word, language, meaning);
            }
        }
        for (family, words) in families(claims.families) {
            for word in words.split_ascii_whitespace() {
                let meaning = Meaning {
                    families: 1 << family,
                    ..Meaning::default()
                };
                self.add(word, language, meaning);
            }
        }
        for (number, forms) in (1..).zip(claims.counting.split_ascii_whitespace()) {
            for word in forms.split('/').filter(|word| *word != "_") {
                let meaning = Meaning {
                    roles: NUMBER,
                    number,
                    ..Meaning::default()
                };
                self.add(word, language, meaning);
            }
        }
        let words = |list: &'static str| list.split_ascii_whitespace().collect();
        let parts = claims.participles.split_ascii_whitespace();
        self.tenses.push((
            language,
            Tenses {
                endings: words(claims.past_endings),
                auxiliaries: words(claims.auxiliaries),
                participle_last: claims.participle_last,
                participles: parts.filter_map(|form| form.split_once('*')).collect(),
            },
        ));
    }

    fn add_role(&mut self, word: &str, language: Languages, roles: Roles) {
        let meaning = Meaning {
            roles,
            ..Meaning::default()
        };
        self.add(word, language, meaning);
    }

    /// Add an entry of a list with all its forms.
    fn add(&mut self, entry: &str, language: Languages, meaning: Meaning) {
        let (before, after) = match entry.split_once('+') {
            Some((stem, endings)) => (stem, endings),
            None => (entry, ""),
        };
        // `work+s_at`: endings of the first word of a phrase, or of the last.
        let (endings, tail) = match after.split_once('_') {
            Some((endings, tail)) => (endings, format!("_{tail}")),
            None => (after, String::new()),
        };
        self.add_form(&format!("{before}{tail}"), language, meaning);
        for ending in endings.split('+').filter(|ending| !ending.is_empty()) {
            self.add_form(&format!("{before}{ending}{tail}"), language, meaning);
        }
    }

    fn add_form(&mut self, form: &str, language: Languages, meaning: Meaning) {
        let mut pieces = pieces(form).into_iter();
        let Some(first) = pieces.next() else {
            return;
        };
        let rest: Vec<Piece> = pieces.collect();
        if let Some(character) = first.text.chars().next().filter(|c| is_unspaced(*c)) {
            for piece in std::iter::once(&first).chain(&rest) {
                let length = piece.text.chars().count();
                let first = piece.text.chars().next().unwrap_or(character);
                let longest = self.longest.entry(first).or_default();
                *longest = (*longest).max(length);
            }
        }
        for piece in rest
            .iter()
            .filter(|piece| piece.text.starts_with(is_unspaced))
        {
            // So that a run is cut at it.
            self.by_first.entry(piece.text.clone()).or_default();
        }
        let table = if first.any_ending {
            &mut self.by_beginning
        } else {
            &mut self.by_first
        };
        let phrases = table.entry(first.text).or_default();
        let known = phrases.iter_mut().find(|phrase| phrase.rest == rest);
        let phrase = match known {
            Some(phrase) => phrase,
            None => {
                phrases.push(Phrase {
                    rest,
                    meanings: Vec::with_capacity(1),
                });
                phrases.last_mut().expect("one was added")
            }
        };
        match phrase.meanings.iter_mut().find(|(of, _)| *of == language) {
            Some((_, known)) => known.add(meaning),
            None => phrase.meanings.push((language, meaning)),
        }
    }

    /// How many characters at the beginning of a run are an entry; zero if none are.
    pub fn entry_at(&self, run: &str) -> usize {
        let Some(longest) = run
            .chars()
            .next()
            .and_then(|first| self.longest.get(&first))
        else {
            return 0;
        };
        let mut ends: Vec<usize> = run
            .char_indices()
            .map(|(start, character)| start + character.len_utf8())
            .take(*longest)
            .collect();
        while let Some(end) = ends.pop() {
            if self.by_first.contains_key(&run[..end]) {
                return end;
            }
        }
        0
    }

    /// Whether an entry is a single character that counts something, and does nothing else.
    pub fn counts(&self, entry: &str) -> Option<Counts> {
        let mut characters = entry.chars();
        characters.next().filter(|first| is_unspaced(*first))?;
        if characters.next().is_some() {
            return None;
        }
        let phrases = self.by_first.get(entry)?.iter();
        let single = phrases.filter(|phrase| phrase.rest.is_empty());
        let meanings = single.flat_map(|phrase| &phrase.meanings);
        match meanings.fold(0, |all, (_, meaning)| all | meaning.roles) {
            UNIT => Some(Counts::Unit),
            roles if roles & NUMBER != 0 => Some(Counts::Number),
            _ => None,
        }
    }

    /// Whether a run begins with a unit, or with a further number.
    pub fn is_counted(&self, run: &str) -> bool {
        let Some(first) = run.chars().next() else {
            return false;
        };
        let beginning = &run[..first.len_utf8()];
        let known = self.entry_at(run);
        let units = self.by_first.get(&run[..known]).into_iter().flatten();
        let is_unit = |phrase: &Phrase| phrase.meanings.iter().any(|(_, m)| m.roles & UNIT != 0);
        self.counts(beginning).is_some()
            || units.filter(|phrase| phrase.rest.is_empty()).any(is_unit)
    }

    /// The entries whose first word is this one.
    pub fn entries(&self, word: &str) -> &[Phrase] {
        self.by_first.get(word).map_or(&[], Vec::as_slice)
    }

    /// The longest phrase that begins at a word, in any of the languages, given the word's entries.
    pub fn phrase_at(
        &self,
        words: &[&str],
        at: usize,
        entries: &[Phrase],
        languages: Languages,
    ) -> Option<Found> {
        let mut best: Option<Found> = None;
        for phrase in entries.iter().chain(self.beginning_of(words[at])) {
            let length = phrase.rest.len() + 1;
            if best.as_ref().is_some_and(|best| best.places.len() > length) {
                continue;
            }
            let Some(meaning) = phrase.meaning(languages) else {
                continue;
            };
            let Some(places) = places(&phrase.rest, words, at) else {
                continue;
            };
            match &mut best {
                Some(best) if best.places.len() == places.len() && best.places == places => {
                    best.meaning.add(meaning);
                }
                Some(best) if best.places.len() >= places.len() => {}
                _ => best = Some(Found { places, meaning }),
            }
        }
        best
    }

    /// The entries with any ending that a word begins with, the shortest beginning first.
    fn beginning_of(&self, word: &str) -> impl Iterator<Item = &Phrase> {
        let lengths = self.lengths.get(&first_two(word)).copied().unwrap_or(0);
        let count = if lengths == 0 {
            0
        } else {
            word.chars().count()
        };
        let ends = BEGINNINGS.filter_map(move |length| {
            if lengths >> length & 1 == 0 {
                return None;
            }
            let (end, _) = word.char_indices().nth(length)?;
            self.by_beginning.get(&word[..end])
        });
        let whole = (lengths >> count.min(BEYOND) & 1 == 1).then(|| self.by_beginning.get(word));
        ends.chain(whole.flatten()).flatten()
    }

    /// The tenses of the languages.
    pub fn tenses(&self, languages: Languages) -> impl Iterator<Item = &Tenses> {
        let of = move |(language, tenses)| (languages & language != 0).then_some(tenses);
        self.tenses.iter().map(|(l, t)| (*l, t)).filter_map(of)
    }
}

/// Where a phrase stands, given its words after the first.
fn places(rest: &[Piece], words: &[&str], at: usize) -> Option<Vec<usize>> {
    let find = |piece: &Piece, from: usize| {
        let reach = if piece.after_gap { MAX_GAP + 1 } else { 1 };
        (from..words.len().min(from + reach)).find(|place| piece.is(words[*place]))
    };
    // Most phrases end here.
    let second = match rest.first() {
        Some(piece) => Some(find(piece, at + 1)?),
        None => None,
    };
    let mut places = Vec::with_capacity(rest.len() + 1);
    places.push(at);
    places.extend(second);
    for piece in rest.iter().skip(1) {
        let last = places[places.len() - 1];
        places.push(find(piece, last + 1)?);
    }
    Some(places)
}

/// The first two characters of a word.
fn first_two(word: &str) -> (char, char) {
    let mut characters = word.chars();
    let mut next = || characters.next().unwrap_or_default();
    (next(), next())
}

fn pieces(form: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for (stretch, part) in form.split('…').enumerate() {
        for (place, text) in part.split('_').enumerate() {
            if text.is_empty() {
                continue;
            }
            let bare = text.trim_matches('*');
            found.push(Piece {
                text: bare.to_lowercase(),
                after_gap: stretch > 0 && place == 0,
                any_ending: text.ends_with('*'),
                any_beginning: text.starts_with('*'),
            });
        }
    }
    found
}

/// The words of each family, by its place in [`FAMILIES`].
fn families(lists: &'static str) -> impl Iterator<Item = (usize, &'static str)> {
    lists
        .split('|')
        .filter_map(|list| list.split_once(':'))
        .map(|(name, words)| {
            let place = FAMILIES.iter().position(|known| *known == name.trim());
            (place.expect("a family is in the list"), words)
        })
}

fn by_role(claims: &Claims) -> [(Roles, &'static str); 60] {
    [
        (NOW, claims.now),
        (ENDS, claims.ends),
        (DISPOSES, claims.disposes),
        (CLOSES, claims.closes),
        (CHANGES, claims.changes),
        (BEGINS, claims.begins),
        (LEAVES, claims.leaves),
        (CORRECTS, claims.corrects),
        (REPLACES, claims.replaces),
        (CONTRASTS, claims.contrasts),
        (ADDS, claims.adds),
        (HEDGES, claims.hedges),
        (TEMPORARY, claims.temporary),
        (PARTLY, claims.partly),
        (DENIES, claims.denies),
        (FROM, claims.from),
        (TO, claims.to),
        (USER, claims.user),
        (BE, claims.be),
        (HAVE, claims.have),
        (PREPOSITION, claims.prepositions),
        (FUNCTION, claims.function),
        (OWNER, claims.owners),
        (INDEFINITE, claims.indefinite),
        (KIN, claims.kin),
        (MANY, claims.many),
        (ONE, claims.one),
        (MEASURES, claims.measures),
        (ONE | USES, claims.uses),
        (ATTRIBUTE, claims.attributes),
        (ATTRIBUTE | PERSONAL, claims.personal),
        (ATTRIBUTE | OF_THINGS, claims.of_things),
        (UNIQUE, claims.unique),
        (FORMER, claims.former),
        (SEVERAL, claims.several),
        (UNIT, claims.units),
        (DAY, claims.days),
        (SEASON, claims.seasons),
        (PAST, claims.past),
        (QUALIFIER, claims.qualifiers),
        (REGION, claims.regions),
        (VERB, claims.verbs),
        (TITLE, claims.titles),
        (IDIOM, claims.idioms),
        (0, claims.whole),
        (HOME, claims.home),
        (WORK, claims.work),
        (MARRIAGE, claims.marriage),
        (DIET, claims.diet),
        (HEALTH, claims.health),
        (AGE, claims.age),
        (FEELS, claims.feels),
        (AWAITS, claims.awaits),
        (AT_LAST, claims.at_last),
        (RECENT, claims.recent),
        (ARTICLE, claims.articles),
        (FINITE, claims.finite),
        (NUMBERED, claims.numbered),
        (CHANGES | RENAMES, claims.renames),
        (JOINS, claims.joins),
    ]
}
