//! Texts as codes: each distinct one is held once.

use std::collections::TryReserveError;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::{BITS, place};
use crate::mapped::{Mapped, Numbers, Refused};

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
    /// A text's code, which it gets where it has none.
    pub fn code_of(&mut self, text: Option<&str>) -> Result<u32, TryReserveError> {
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
        bytes.extend_from_slice(text.as_bytes());
        ends.push(end);
        let code = ends.len() as u32;
        insert(self.slots.to_mut()?, text.as_bytes(), code);
        Ok(code)
    }

    /// A text's code, if it has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        let slots = &*self.slots;
        let mut at = start(slots, text.as_bytes())?;
        loop {
            let code = slots[at];
            if code == EMPTY {
                return None;
            }
            if self.get(code) == text.as_bytes() {
                return Some(code);
            }
            at = (at + 1) % slots.len();
        }
    }

    /// The text with this code; empty where there is none.
    pub fn get(&self, code: u32) -> &[u8] {
        let ends = &*self.ends;
        let index = code.wrapping_sub(1) as usize;
        let end = ends.get(index).map_or(0, |end| *end as usize);
        let from = if index == 0 || end == 0 {
            0
        } else {
            ends[index - 1] as usize
        };
        self.bytes.get(from..end).unwrap_or_default()
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
            insert(&mut slots, self.get(code), code);
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
}

impl Coded {
    pub fn set(&mut self, id: u32, text: Option<&str>) -> Result<(), TryReserveError> {
        let code = self.texts.code_of(text)?;
        if code != NONE || (id as usize) < self.codes.len() {
            *place(self.codes.to_mut()?, id)? = code;
        }
        Ok(())
    }

    /// Take away the ids that have not this text.
    pub fn narrow(&self, words: &mut [u64], text: &str) {
        let Some(wanted) = self.texts.find(text) else {
            words.fill(0);
            return;
        };
        let mut chunks = self.codes.chunks(BITS);
        for word in words {
            let codes = chunks.next().unwrap_or_default();
            if *word != 0 {
                let bits = codes.iter().enumerate();
                *word &= bits.fold(0, |held, (bit, code)| {
                    held | u64::from(*code == wanted) << bit
                });
            }
        }
    }

    pub fn nbytes(&self) -> usize {
        self.codes.nbytes() + self.texts.nbytes()
    }

    pub fn sections(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(self.codes.bytes()).chain(self.texts.sections())
    }

    pub fn read(file: &Arc<Mapped>, next: &mut usize) -> Result<Self, Refused> {
        let codes = file.numbers(*next)?;
        *next += 1;
        Ok(Self {
            codes,
            texts: Texts::read(file, next)?,
        })
    }
}
