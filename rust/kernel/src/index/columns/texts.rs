//! Texts as codes: each distinct one is stored once.

use std::cmp::Reverse;
use std::collections::TryReserveError;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::{BITS, Count, Counts, Page, each, marks, place};
use crate::index::ids::Ids;
use crate::index::mapped::{Mapped, Numbers, Refused};

/// The code of no text.
pub(super) const NONE: u32 = 0;

/// A slot of the table that no text has.
const EMPTY: u32 = 0;

/// Distinct texts, numbered from one in the order in which they came.
#[derive(Default)]
pub(super) struct Texts {
    bytes: Numbers<u8>,
    /// Where each text ends.
    ends: Numbers<u64>,
    /// A hash table of codes, a power of two long and at most half full.
    slots: Numbers<u32>,
}

impl Texts {
    /// A text's code; a new one if it has none yet.
    pub fn code_of(&mut self, text: Option<&[u8]>) -> Result<u32, TryReserveError> {
        let Some(text) = text else { return Ok(NONE) };
        if let Some(code) = self.find(text) {
            return Ok(code);
        }
        if 2 * (self.ends.len() + 1) > self.slots.len() {
            self.grow()?;
        }
        let bytes = self.bytes.to_mut()?;
        bytes.try_reserve(text.len())?;
        let end = (bytes.len() + text.len()) as u64;
        let ends = self.ends.to_mut()?;
        ends.try_reserve(1)?;
        bytes.extend_from_slice(text);
        ends.push(end);
        let code = ends.len() as u32;
        insert(self.slots.to_mut()?, text, code);
        Ok(code)
    }

    /// A text's code, if it has one.
    pub fn find(&self, text: &[u8]) -> Option<u32> {
        let slots = &*self.slots;
        let mut at = start(slots, text)?;
        loop {
            let code = slots[at];
            if code == EMPTY {
                return None;
            }
            if self.get(code) == Some(text) {
                return Some(code);
            }
            at = (at + 1) % slots.len();
        }
    }

    /// The text with this code.
    pub fn get(&self, code: u32) -> Option<&[u8]> {
        let ends = &*self.ends;
        let index = code.checked_sub(1)? as usize;
        let end = *ends.get(index)? as usize;
        let from = index
            .checked_sub(1)
            .map_or(0, |before| ends[before] as usize);
        self.bytes.get(from..end)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    fn grow(&mut self) -> Result<(), TryReserveError> {
        let length = (4 * (self.ends.len() + 1)).next_power_of_two();
        let mut slots = Vec::new();
        slots.try_reserve_exact(length)?;
        slots.resize(length, EMPTY);
        for code in 1..=self.ends.len() as u32 {
            insert(&mut slots, self.get(code).unwrap_or_default(), code);
        }
        self.slots = slots.into();
        Ok(())
    }

    pub fn nbytes(&self) -> usize {
        self.bytes.nbytes() + self.ends.nbytes() + self.slots.nbytes()
    }

    pub fn sections(&self) -> [&[u8]; 3] {
        [self.bytes.bytes(), self.ends.bytes(), self.slots.bytes()]
    }

    pub fn read(file: &Arc<Mapped>, next: &mut usize) -> Result<Self, Refused> {
        let texts = Self {
            bytes: file.numbers(*next)?,
            ends: file.numbers(*next + 1)?,
            slots: file.numbers(*next + 2)?,
        };
        *next += 3;
        let is_table = texts.slots.is_empty() || texts.slots.len().is_power_of_two();
        if is_table && 2 * texts.len() <= texts.slots.len() {
            Ok(texts)
        } else {
            Err(Refused::Damaged)
        }
    }
}

fn start(slots: &[u32], text: &[u8]) -> Option<usize> {
    let mask = slots.len().checked_sub(1)?;
    Some(xxh3_64(text) as usize & mask)
}

fn insert(slots: &mut [u32], text: &[u8], code: u32) {
    let mut at = start(slots, text).expect("there is room");
    while slots[at] != EMPTY {
        at = (at + 1) % slots.len();
    }
    slots[at] = code;
}

/// A column of texts by row id.
#[derive(Default)]
pub(super) struct Coded {
    codes: Numbers<u32>,
    texts: Texts,
    /// `None` before the column is saved, and after many changes.
    saved: Option<Holders>,
    /// Rows that got another text since the column was saved.
    fresh: Vec<u32>,
}

/// The rows of each text, as they were when the column was saved.
#[derive(Default)]
struct Holders {
    /// Row ids by code, then by id.
    ids: Numbers<u32>,
    /// Where those of each code end, from [`NONE`] on, which has none.
    ends: Numbers<u32>,
}

impl Holders {
    fn of(codes: &[u32], texts: usize) -> Result<Self, TryReserveError> {
        let mut ends: Vec<u32> = Vec::new();
        ends.try_reserve_exact(texts + 1)?;
        ends.resize(texts + 1, 0);
        for code in codes.iter().filter(|code| **code != NONE) {
            ends[*code as usize] += 1;
        }
        let mut all = 0;
        for end in &mut ends {
            (*end, all) = (all, all + *end);
        }
        let mut ids = Vec::new();
        ids.try_reserve_exact(all as usize)?;
        ids.resize(all as usize, 0);
        for (id, code) in (0..).zip(codes).filter(|row| *row.1 != NONE) {
            let end = &mut ends[*code as usize];
            ids[*end as usize] = id;
            *end += 1;
        }
        Ok(Self {
            ids: ids.into(),
            ends: ends.into(),
        })
    }

    /// The rows that had a code; none if it is newer.
    fn get(&self, code: u32) -> &[u32] {
        let end = |code: u32| self.ends.get(code as usize).map(|end| *end as usize);
        let range = code.checked_sub(1).and_then(end).zip(end(code));
        range
            .and_then(|(from, to)| self.ids.get(from..to))
            .unwrap_or_default()
    }
}

impl Coded {
    pub fn set(&mut self, id: u32, text: Option<&str>) -> Result<(), TryReserveError> {
        let code = self.texts.code_of(text.map(str::as_bytes))?;
        if self.codes.get(id as usize).copied().unwrap_or(NONE) == code {
            return Ok(());
        }
        self.fresh.try_reserve(1)?;
        *place(self.codes.to_mut()?, id)? = code;
        if self.fresh.len() >= self.few() {
            (self.saved, self.fresh) = (None, Vec::new());
        } else if self.saved.is_some() {
            self.fresh.push(id);
        }
        Ok(())
    }

    /// The rows that may have a text, among them all that do; `None` if that may be many.
    pub fn holders(&self, text: &str) -> Option<Vec<u32>> {
        let code = self.texts.find(text.as_bytes()).unwrap_or(NONE);
        let rows = [self.saved.as_ref()?.get(code), &self.fresh];
        (rows[0].len() + rows[1].len() <= self.few()).then(|| rows.concat())
    }

    /// Up to how many rows are looked at one by one more quickly than all are.
    fn few(&self) -> usize {
        self.codes.len() / BITS
    }

    /// Remove the ids that do not have this text.
    pub fn narrow(&self, words: &mut [u64], text: &str) {
        let Some(wanted) = self.texts.find(text.as_bytes()) else {
            words.fill(0);
            return;
        };
        let mut chunks = self.codes.chunks(BITS);
        for word in words {
            let codes = chunks.next().unwrap_or_default();
            if *word != 0 {
                *word &= marks(codes, &[wanted]);
            }
        }
    }

    /// Of these rows, how many have each text and which one is the last: by the texts' codes.
    fn numbers(&self, among: &Ids) -> Result<Vec<(u32, u32)>, TryReserveError> {
        let mut numbers = Vec::new();
        numbers.try_reserve_exact(self.texts.len() + 1)?;
        numbers.resize(self.texts.len() + 1, (0, 0));
        let words = (0..).step_by(BITS).zip(among.words());
        for (codes, (first, word)) in self.codes.chunks(BITS).zip(words) {
            each(*word, |bit| {
                if let Some(code) = codes.get(bit) {
                    let (number, last) = &mut numbers[*code as usize];
                    (*number, *last) = (*number + 1, first + bit as u32);
                }
            });
        }
        Ok(numbers)
    }

    /// See [`super::Columns::counts`].
    pub fn counts(&self, among: &Ids, page: &Page<'_>) -> Result<Counts, TryReserveError> {
        let numbers = self.numbers(among)?;
        let held = (1..).zip(&numbers[1..]).filter(|one| one.1.0 > 0);
        let mut counts = Counts {
            texts: held.clone().count(),
            first: Vec::new(),
        };
        let place = |number: u32, text| match page.by_number {
            true => (Reverse(number), text),
            false => (Reverse(0), text),
        };
        let after = page
            .after
            .map(|(text, number)| place(number, text.as_bytes()));
        let mut found = Vec::new();
        found.try_reserve_exact(counts.texts)?;
        found.extend(
            held.filter_map(|(code, (number, last))| {
                let text = self.texts.get(code)?;
                let is_meant = text.starts_with(page.prefix.as_bytes());
                is_meant.then_some((place(*number, text), *number, *last))
            })
            .filter(|one| after.is_none_or(|after| one.0 > after)),
        );
        if page.limit < found.len() {
            found.select_nth_unstable(page.limit);
            found.truncate(page.limit);
        }
        found.sort_unstable();
        counts.first.try_reserve_exact(found.len())?;
        counts
            .first
            .extend(found.into_iter().map(|((_, text), number, last)| Count {
                text: String::from_utf8_lossy(text).into_owned(),
                number,
                last,
            }));
        Ok(counts)
    }

    /// The same column with the texts of these rows alone.
    pub fn compacted(&self, is_row: impl Fn(usize) -> bool) -> Result<Self, TryReserveError> {
        let mut texts = Texts::default();
        let mut known = vec![NONE; self.texts.len() + 1];
        let mut codes = Vec::new();
        codes.try_reserve_exact(self.codes.len())?;
        for (id, code) in self.codes.iter().enumerate() {
            let old = if is_row(id) { *code } else { NONE };
            if old != NONE && known[old as usize] == NONE {
                known[old as usize] = texts.code_of(self.texts.get(old))?;
            }
            codes.push(known[old as usize]);
        }
        Ok(Self {
            saved: Some(Holders::of(&codes, texts.len())?),
            codes: codes.into(),
            texts,
            fresh: Vec::new(),
        })
    }

    pub fn nbytes(&self) -> usize {
        self.codes.nbytes() + self.texts.nbytes() + self.fresh.capacity() * size_of::<u32>()
    }

    /// The sections of a compacted column.
    pub fn sections(&self) -> impl Iterator<Item = &[u8]> {
        let saved = self.saved.iter();
        let holders = saved.flat_map(|saved| [saved.ids.bytes(), saved.ends.bytes()]);
        std::iter::once(self.codes.bytes())
            .chain(holders)
            .chain(self.texts.sections())
    }

    pub fn read(file: &Arc<Mapped>, next: &mut usize) -> Result<Self, Refused> {
        let codes = file.numbers::<u32>(*next)?;
        let saved = Holders {
            ids: file.numbers(*next + 1)?,
            ends: file.numbers(*next + 2)?,
        };
        *next += 3;
        let texts = Texts::read(file, next)?;
        if codes.iter().any(|code| *code as usize > texts.len()) {
            return Err(Refused::Damaged);
        }
        Ok(Self {
            codes,
            texts,
            saved: Some(saved),
            fresh: Vec::new(),
        })
    }
}
