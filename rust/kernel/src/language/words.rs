//! Splits a text into words, from left to right, in one pass.

use super::letters::{EMPTY, is_accent, narrow, with_character, with_letter};

/// A word, or a run of characters of a script without spaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// Of its letters, folded.
    pub hash: u64,
    /// Of its letters but the last one, if that is an s: `Alices` as `Alice`.
    pub without_s: Option<u64>,
    pub start: usize,
    pub end: usize,
    pub kind: Kind,
    /// Begins with a capital letter.
    pub capital: bool,
    /// Ends in anything but a capital letter.
    pub small: bool,
    pub before: Gap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, with digits after the first.
    Letters,
    /// Digits alone, and how many. What follows them without a gap is the next word: `7th`.
    Number { value: u32, digits: u8 },
    /// Korean, where spaces divide words together with their particles.
    Hangul,
    /// Chinese, Japanese, Thai and other scripts without spaces.
    Unspaced,
}

/// The text between a word and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// Nothing: the word before is a number, or of another kind.
    None,
    /// Spaces, an apostrophe, or a comma: the sentence goes on.
    Flows,
    /// One sign that can be part of dates and times.
    Sign(u8),
    /// The beginning, the end of a sentence, or anything else.
    Breaks,
}

/// The words of a text. The marks in the gaps are known at the end.
pub(super) struct Words<'a> {
    text: &'a str,
    at: usize,
    last: Option<Kind>,
    /// A question mark was seen.
    pub asks: bool,
    /// A quotation mark was seen.
    pub quotes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Gap,
    Letter,
    Digit,
    Hangul,
    Unspaced,
}

const ASCII: [Class; 128] = {
    let mut classes = [Class::Gap; 128];
    let mut code = 0;
    while code < 128 {
        if (code as u8).is_ascii_alphabetic() {
            classes[code] = Class::Letter;
        } else if (code as u8).is_ascii_digit() {
            classes[code] = Class::Digit;
        }
        code += 1;
    }
    classes
};

/// Letters and digits in lower case, and zero for all else.
const LETTERS: [u8; 128] = {
    let mut letters = [0; 128];
    let mut code = 0;
    while code < 128 {
        if (code as u8).is_ascii_alphanumeric() {
            letters[code] = (code as u8).to_ascii_lowercase();
        }
        code += 1;
    }
    letters
};

#[inline]
fn class(character: char) -> Class {
    match ASCII.get(character as usize) {
        Some(class) => *class,
        None => class_beyond_ascii(character),
    }
}

fn class_beyond_ascii(character: char) -> Class {
    match character {
        '\u{c0}'..='\u{24f}' if !matches!(character, '×' | '÷') => Class::Letter,
        '０'..='９' => Class::Digit,
        // Thai to Burmese, Khmer, Japanese and Chinese.
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => {
            Class::Unspaced
        }
        '々' | '〇' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | 'ー'..='ヿ' => {
            Class::Unspaced
        }
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
            Class::Unspaced
        }
        '\u{20000}'..='\u{3ffff}' => Class::Unspaced,
        '가'..='힣' | '\u{1100}'..='\u{11ff}' => Class::Hangul,
        _ if is_accent(character) || character.is_alphanumeric() => Class::Letter,
        _ => Class::Gap,
    }
}

impl<'a> Words<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            last: None,
            asks: false,
            quotes: false,
        }
    }

    fn peek(&self) -> Option<char> {
        let byte = *self.text.as_bytes().get(self.at)?;
        if byte.is_ascii() {
            Some(char::from(byte))
        } else {
            self.text[self.at..].chars().next()
        }
    }

    /// Go to the next word; returns its class and the gap before it.
    #[inline]
    fn skip_gap(&mut self) -> Option<(Class, Gap)> {
        // Nearly every gap is one space.
        if let [b' ', next, ..] = self.text.as_bytes()[self.at..]
            && self.last.is_some()
            && let Some(class @ (Class::Letter | Class::Digit)) = ASCII.get(next as usize)
        {
            self.at += 1;
            return Some((*class, Gap::Flows));
        }
        self.skip_any_gap()
    }

    fn skip_any_gap(&mut self) -> Option<(Class, Gap)> {
        let start = self.at;
        let mut flows = true;
        let mut sign = 0;
        loop {
            let character = self.peek()?;
            let class = class(character);
            if class != Class::Gap {
                let gap = match self.at - start {
                    _ if self.last.is_none() => Gap::Breaks,
                    0 => Gap::None,
                    _ if flows => Gap::Flows,
                    1 if sign != 0 => Gap::Sign(sign),
                    _ => Gap::Breaks,
                };
                return Some((class, gap));
            }
            self.at += character.len_utf8();
            match character {
                ' ' | '\t' | ',' | '\'' | '’' | '\u{a0}' | '\u{202f}' => {}
                '-' | '/' | '.' | ':' => (sign, flows) = (character as u8, false),
                '?' | '？' | '؟' | '¿' => {
                    flows = false;
                    self.asks |= self.ends_word();
                }
                '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」' | '『' | '』' => {
                    (self.quotes, flows) = (true, false);
                }
                _ => flows = false,
            }
        }
    }

    /// Whether a word ends here: the `?` of an address is not a question mark.
    fn ends_word(&self) -> bool {
        self.peek()
            .is_none_or(|next| !next.is_ascii() || class(next) == Class::Gap)
    }

    fn number(&mut self) -> (u64, Kind) {
        let (mut hash, mut value, mut digits) = (EMPTY, 0_u32, 0_u8);
        while let Some(character) = self.peek() {
            if class(character) != Class::Digit {
                break;
            }
            let digit = u32::from(narrow(character)) - u32::from('0');
            hash = with_letter(hash, u32::from('0') + digit);
            value = value.saturating_mul(10).saturating_add(digit);
            digits = digits.saturating_add(1);
            self.at += character.len_utf8();
        }
        (hash, Kind::Number { value, digits })
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        loop {
            let (first, before) = self.skip_gap()?;
            let start = self.at;
            let mut word = Word {
                hash: EMPTY,
                without_s: None,
                start,
                end: start,
                kind: Kind::Letters,
                capital: false,
                small: false,
                before,
            };
            match first {
                Class::Digit => (word.hash, word.kind) = self.number(),
                Class::Hangul | Class::Unspaced => {
                    word.kind = match first {
                        Class::Hangul => Kind::Hangul,
                        _ => Kind::Unspaced,
                    };
                    self.run(first, &mut word);
                }
                Class::Letter | Class::Gap => self.letters(&mut word),
            }
            word.end = self.at;
            self.last = Some(word.kind);
            if !self.is_possessive(&word) {
                return Some(word);
            }
        }
    }
}

impl Words<'_> {
    /// Read letters, and digits between them.
    fn letters(&mut self, word: &mut Word) {
        let bytes = self.text.as_bytes();
        let mut last = EMPTY;
        while let Some(letter) = bytes
            .get(self.at)
            .and_then(|byte| LETTERS.get(*byte as usize))
        {
            if *letter == 0 {
                break;
            }
            last = word.hash;
            word.hash = with_letter(last, u32::from(*letter));
            self.at += 1;
        }
        if bytes.get(self.at).is_some_and(|byte| !byte.is_ascii()) {
            last = self.letters_beyond_ascii(word, last);
        }
        word.capital = match bytes[word.start] {
            byte if byte.is_ascii() => byte.is_ascii_uppercase(),
            _ => self.text[word.start..].starts_with(char::is_uppercase),
        };
        word.small = !bytes[self.at - 1].is_ascii_uppercase();
        if matches!(bytes[self.at - 1], b's' | b'S') {
            word.without_s = Some(last);
        }
    }

    /// Read further letters of any script, and return the hash of all but the last.
    #[cold]
    fn letters_beyond_ascii(&mut self, word: &mut Word, mut last: u64) -> u64 {
        while let Some(character) = self.peek() {
            if !matches!(class(character), Class::Letter | Class::Digit) {
                break;
            }
            last = word.hash;
            word.hash = with_character(last, character);
            self.at += character.len_utf8();
        }
        last
    }

    /// Read characters of one class that has no case.
    fn run(&mut self, of: Class, word: &mut Word) {
        while let Some(character) = self.peek() {
            if class(character) != of && !is_accent(character) {
                break;
            }
            word.hash = with_character(word.hash, character);
            self.at += character.len_utf8();
        }
        word.small = true;
    }

    /// The s after an apostrophe belongs to the word before.
    fn is_possessive(&self, word: &Word) -> bool {
        word.end - word.start == 1
            && matches!(&self.text[word.start..word.end], "s" | "S")
            && self.text[..word.start].ends_with(['\'', '’'])
    }
}
