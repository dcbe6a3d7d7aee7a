//! The sorted terms of a segment: found by binary search, read in place.

use std::collections::TryReserveError;
use std::sync::Arc;

use crate::index::mapped::{Mapped, Numbers, Refused};

/// FTS5 truncates longer tokens to this length.
const MAX_BYTES: usize = 32_768;

/// The first byte of a pair's term. No token has this byte, because UTF-8 never contains it.
const PAIR: u8 = 0xff;

/// The part of a token that is stored.
pub(crate) fn of_token(token: &str) -> &[u8] {
    &token.as_bytes()[..token.len().min(MAX_BYTES)]
}

/// The term of two adjacent tokens, if both are single characters of scripts without spaces.
///
/// In these scripts every word is searched for by its pairs of characters, so pairs have their own
/// postings; otherwise a phrase of two characters would be looked for in the rows of both. From
/// U+0E00 (Thai) on is slightly more than those scripts, but it only has to be the same in all
/// rows.
pub(crate) fn pair(left: &[u8], right: &[u8]) -> Option<Vec<u8>> {
    (is_unspaced(left) && is_unspaced(right)).then(|| [&[PAIR], left, right].concat())
}

/// Whether the term is a pair's, which has no positions.
pub(crate) fn is_pair(term: &[u8]) -> bool {
    term.first() == Some(&PAIR)
}

/// Whether a token is a single character from U+0E00 on.
pub(crate) fn is_unspaced(token: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(token) else {
        return false;
    };
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first >= '\u{e00}') && characters.next().is_none()
}

/// Terms by number, in the order of their bytes.
#[derive(Default)]
pub(crate) struct Terms {
    ends: Numbers<u64>,
    bytes: Numbers<u8>,
}

impl Terms {
    /// How many sections of a file they take.
    pub const SECTIONS: usize = 2;

    pub fn sections(&self) -> [&[u8]; Self::SECTIONS] {
        [self.ends.bytes(), self.bytes.bytes()]
    }

    /// Read from a file, starting at a section.
    pub fn open(file: &Arc<Mapped>, first: usize) -> Result<Self, Refused> {
        Ok(Self {
            ends: file.numbers(first)?,
            bytes: file.numbers(first + 1)?,
        })
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn nbytes(&self) -> usize {
        self.ends.nbytes() + self.bytes.nbytes()
    }

    /// Bytes of all terms together.
    pub fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub fn get(&self, term: usize) -> &[u8] {
        term_of(&self.ends, &self.bytes, term)
    }

    /// The number after the last term that has the first `bytes` bytes of the term `number`.
    pub fn after(&self, number: usize, bytes: usize) -> usize {
        let beginning = &self.get(number)[..bytes];
        let has = |other: usize| self.get(other).starts_with(beginning);
        // Few of them have it, mostly: steps that double find the end sooner than halves.
        let (mut low, mut step) = (number, 1);
        while low + step < self.len() && has(low + step) {
            low += step;
            step *= 2;
        }
        let mut high = self.len().min(low + step);
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if has(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// The number of a term.
    pub fn find(&self, term: &[u8]) -> Option<usize> {
        let (ends, bytes) = (&*self.ends, &*self.bytes);
        let (mut low, mut high) = (0, ends.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match term_of(ends, bytes, middle).cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

impl<'a> FromIterator<&'a [u8]> for Terms {
    /// Take terms in their order.
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(terms: I) -> Self {
        let mut writer = Writer::default();
        terms.into_iter().for_each(|term| writer.push(term));
        writer.finish()
    }
}

fn term_of<'a>(ends: &[u64], bytes: &'a [u8], term: usize) -> &'a [u8] {
    let start = if term == 0 { 0 } else { ends[term - 1] };
    &bytes[start as usize..ends[term] as usize]
}

/// Collects terms in their order.
#[derive(Default)]
pub(crate) struct Writer {
    ends: Vec<u64>,
    bytes: Vec<u8>,
}

impl Writer {
    /// Reserve memory for terms of this many bytes.
    pub fn with_room(terms: usize, bytes: usize) -> Result<Self, TryReserveError> {
        let mut writer = Self::default();
        writer.ends.try_reserve_exact(terms)?;
        writer.bytes.try_reserve_exact(bytes)?;
        Ok(writer)
    }

    pub fn push(&mut self, term: &[u8]) {
        self.bytes.extend_from_slice(term);
        self.ends.push(self.bytes.len() as u64);
    }

    pub fn finish(self) -> Terms {
        Terms {
            ends: self.ends.into(),
            bytes: self.bytes.into(),
        }
    }
}
