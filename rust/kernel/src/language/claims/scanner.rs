//! Cuts a text into words, numbers and symbols.

use super::vocabulary::{Counts, Vocabulary, is_unspaced};

/// A piece of a text, before its meaning is known.
#[derive(Debug)]
pub struct Piece {
    pub text: String,
    pub lower: String,
}

/// What a text is made of.
#[derive(Debug, Default)]
pub struct Scanned {
    pub pieces: Vec<Piece>,
    /// Sorted: each is a sign that changes the meaning.
    pub symbols: Vec<char>,
    pub asks: bool,
    /// For each quotation mark, before which piece it stands.
    pub quotes: Vec<usize>,
    /// For each comma or semicolon, before which piece it stands.
    pub breaks: Vec<usize>,
}

/// Signs that do not change the meaning of a claim.
const SILENT: &str = ".,;:!?'\"“”„‘’«»()、。，；：！？「」『』・…¿¡_/@،؛؟।॥";

/// Signs around a name. An apostrophe is none.
const QUOTES: &str = "\"“”„«»‹›「」『』";

/// Signs that may stand between the letters of one word.
const JOINING: &[char] = &['.', ':', '/', '_', '@', '-'];

/// English words before `n't` that are written differently alone.
const SHORTENED: [(&str, &str); 3] = [("ca", "can"), ("wo", "will"), ("sha", "shall")];

/// Turkish endings that an apostrophe divides from a name.
const SUFFIXES: [&str; 32] = [
    "da", "de", "ta", "te", "dan", "den", "tan", "ten", "a", "e", "ya", "ye", "ı", "i", "u", "ü",
    "yı", "yi", "yu", "yü", "ın", "in", "un", "ün", "nın", "nin", "nun", "nün", "lı", "li", "lu",
    "lü",
];

/// Cut a text; runs without blanks at the entries of the vocabulary, and at these names.
pub fn scan(text: &str, vocabulary: &Vocabulary, names: &[&str]) -> Scanned {
    let mut scanner = Scanner {
        characters: text.chars().map(ascii_digit).collect(),
        at: 0,
        vocabulary,
        names,
        found: Scanned::default(),
    };
    scanner.run();
    scanner.found.symbols.sort_unstable();
    scanner.found
}

struct Scanner<'a> {
    characters: Vec<char>,
    at: usize,
    vocabulary: &'a Vocabulary,
    names: &'a [&'a str],
    found: Scanned,
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn before(&self) -> Option<char> {
        self.at.checked_sub(1).map(|place| self.characters[place])
    }

    fn run(&mut self) {
        while let Some(character) = self.peek(0) {
            if is_unspaced(character) {
                self.unspaced();
            } else if character.is_ascii_digit() {
                self.number();
            } else if character.is_alphanumeric() {
                self.word(self.at);
            } else {
                self.sign(character);
            }
        }
    }

    fn sign(&mut self, character: char) {
        let next = self.peek(1);
        let touches = |character: char| character.is_alphanumeric();
        let alone = !self.before().is_some_and(touches);
        match character {
            // A path, such as /files.
            '/' if alone && next.is_some_and(touches) => {
                let start = self.at;
                self.at += 1;
                return self.word(start);
            }
            '-' | '−' if alone && next.is_some_and(|next| next.is_ascii_digit()) => {
                self.found.symbols.push('-');
            }
            '.' if alone && next.is_some_and(touches) && self.before() != Some('.') => {
                self.found.symbols.push('.');
            }
            '?' | '？' | '؟' => self.found.asks |= !next.is_some_and(touches),
            ',' | ';' | '，' | '；' | '、' | '،' | '؛' => {
                self.found.breaks.push(self.found.pieces.len())
            }
            _ if QUOTES.contains(character) => self.found.quotes.push(self.found.pieces.len()),
            _ => {}
        }
        let quiet = character.is_whitespace()
            || character.is_control()
            || SILENT.contains(character)
            || is_dash_or_mark(character);
        if !quiet {
            self.found.symbols.push(character);
        }
        self.at += 1;
    }

    /// Cut a run at the entries of the vocabulary; what is between them stays whole.
    fn unspaced(&mut self) {
        let start = self.at;
        while self.peek(0).is_some_and(is_unspaced) {
            self.at += 1;
        }
        let run: String = self.characters[start..self.at].iter().collect();
        let (mut unknown, mut at) = (0, 0);
        let mut counting = start > 0 && self.characters[start - 1].is_ascii_digit();
        while at < run.len() {
            let name = self.names.iter().find(|name| run[at..].starts_with(**name));
            let known =
                name.map_or_else(|| self.vocabulary.entry_at(&run[at..]), |name| name.len());
            let role = self.vocabulary.counts(&run[at..at + known]);
            let is_counted = match role {
                Some(Counts::Unit) => counting,
                Some(Counts::Number) => self.vocabulary.is_counted(&run[at + known..]),
                None => true,
            };
            counting = (counting || role == Some(Counts::Number)) && is_counted && role.is_some();
            if known == 0 || !is_counted {
                at += run[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            self.push(&run[unknown..at]);
            self.push(&run[at..at + known]);
            at += known;
            unknown = at;
        }
        self.push(&run[unknown..]);
    }

    /// Digits with the signs between them, then letters that follow at once.
    fn number(&mut self) {
        let start = self.at;
        loop {
            while self.peek(0).is_some_and(|next| next.is_ascii_digit()) {
                self.at += 1;
            }
            let is_digit = |ahead| self.peek(ahead).is_some_and(|next| next.is_ascii_digit());
            let joined = match self.peek(0) {
                Some('.' | ',' | ':' | '/' | '-') => is_digit(1),
                // 2 400, with a blank between thousands.
                Some(' ' | '\u{a0}' | '\u{202f}') => {
                    self.at - start <= 3
                        && (1..4).all(is_digit)
                        && !is_digit(4)
                        && !self.characters[start..self.at].contains(&'.')
                }
                _ => false,
            };
            if !joined {
                break;
            }
            self.at += 1;
        }
        let letters = self.characters[self.at..]
            .iter()
            .take_while(|next| next.is_alphabetic() && !is_unspaced(**next))
            .count();
        let end = self.peek(letters);
        let is_code = letters > 4
            || (letters > 0 && end.is_some_and(|c| c.is_ascii_digit()))
            || (letters > 0
                && matches!(end, Some('-' | '_' | '.'))
                && self.peek(letters + 1).is_some_and(char::is_alphanumeric));
        if is_code {
            return self.word(start);
        }
        let number: String = self.characters[start..self.at]
            .iter()
            .filter(|c| !c.is_whitespace())
            .collect();
        let suffix: String = self.characters[self.at..self.at + letters].iter().collect();
        self.push(&number);
        self.at += letters;
        if !matches!(suffix.as_str(), "st" | "nd" | "rd" | "th") {
            self.push(&suffix);
        }
    }

    fn word(&mut self, start: usize) {
        while let Some(character) = self.peek(0) {
            let joins = JOINING.contains(&character)
                && self
                    .peek(1)
                    .is_some_and(|next| next.is_alphanumeric() && !is_unspaced(next));
            let part = character.is_alphanumeric() && !is_unspaced(character);
            if !part && !joins && !is_mark(character) {
                break;
            }
            self.at += 1;
        }
        let word: String = self.characters[start..self.at].iter().collect();
        let apostrophe = matches!(self.peek(0), Some('\'' | '’' | 'ʼ'));
        if apostrophe && self.shortened(&word) {
            return;
        }
        if word.eq_ignore_ascii_case("cannot") {
            self.push("can");
            return self.push("not");
        }
        self.push(&word);
    }

    /// Read `n't` and `'s` after a word.
    fn shortened(&mut self, word: &str) -> bool {
        if self.suffix(word) {
            return true;
        }
        let ends = |ahead| !self.peek(ahead).is_some_and(char::is_alphanumeric);
        match self.peek(1).map(|next| next.to_ascii_lowercase()) {
            Some('t') if ends(2) && word.to_lowercase().ends_with('n') => {
                let bare = &word[..word.len() - 1];
                let whole = SHORTENED
                    .iter()
                    .find(|(short, _)| bare.eq_ignore_ascii_case(short));
                self.push(whole.map_or(bare, |(_, whole)| whole));
                self.push("not");
                self.at += 2;
                true
            }
            Some('s') if ends(2) => {
                self.push(word);
                self.push("'s");
                self.at += 2;
                true
            }
            _ => false,
        }
    }

    /// Read a Turkish ending after a name: İzmir'de.
    fn suffix(&mut self, word: &str) -> bool {
        let letters = self.characters[self.at + 1..].iter();
        let suffix: String = letters.take_while(|next| next.is_alphabetic()).collect();
        let is_name = word.chars().count() > 2 && word.starts_with(char::is_uppercase);
        if !is_name || !SUFFIXES.contains(&suffix.as_str()) {
            return false;
        }
        self.push(word);
        self.push(&format!("'{suffix}"));
        self.at += 1 + suffix.chars().count();
        true
    }

    fn push(&mut self, text: &str) {
        if !text.is_empty() {
            self.found.pieces.push(Piece {
                lower: text.to_lowercase(),
                text: text.to_owned(),
            });
        }
    }
}

/// A digit of another script as that of ours.
fn ascii_digit(character: char) -> char {
    let zeros = ['\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{ff10}'];
    let value = |zero: char| {
        (character as u32)
            .checked_sub(zero as u32)
            .filter(|value| *value < 10)
    };
    let digit = zeros.into_iter().find_map(value);
    digit
        .and_then(|value| char::from_digit(value, 10))
        .unwrap_or(character)
}

fn is_mark(character: char) -> bool {
    // Also the signs of Devanagari and Arabic that are no letters.
    matches!(character, '\u{300}'..='\u{36f}' | '\u{93c}' | '\u{94d}' | '\u{64b}'..='\u{65f}')
}

fn is_dash_or_mark(character: char) -> bool {
    is_mark(character)
        || matches!(character, '-' | '\u{2010}'..='\u{2015}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{30fb}')
}
