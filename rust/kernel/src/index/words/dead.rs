//! Rows of a segment that were dropped or replaced.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::cursor::Cursor;
use super::postings::Postings;

const BITS: usize = u64::BITS as usize;

/// Terms whose counts are cached; beyond this, the cache is cleared.
const MAX_COUNTED: usize = 10_000;

/// A growing set of rows, with a cache of how many of them have a term.
#[derive(Default)]
pub(crate) struct Dead {
    words: Vec<u64>,
    order: Vec<u32>,
    counted: Mutex<HashMap<TermUntil, Counted>>,
}

/// A term, and the last id that counts.
type TermUntil = (Box<[u8]>, u32);

/// How many of the dead rows were checked, and how many of those have a term.
#[derive(Clone, Copy, Default)]
struct Counted {
    looked_at: usize,
    have: usize,
}

impl Dead {
    pub fn insert(&mut self, id: u32) {
        let (word, bit) = (id as usize / BITS, 1 << (id as usize % BITS));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if self.words[word] & bit == 0 {
            self.words[word] |= bit;
            self.order.push(id);
        }
    }

    pub fn contains(&self, id: u32) -> bool {
        self.words
            .get(id as usize / BITS)
            .is_some_and(|word| word >> (id as usize % BITS) & 1 == 1)
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// How many of the rows of a term up to an id are dead.
    ///
    /// Rows that died since the last call are looked up one by one, because their text is no longer
    /// known.
    pub fn among(&self, term: &[u8], postings: &Postings<'_>, until: u32) -> usize {
        if self.order.is_empty() {
            return 0;
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (term.into(), until);
        let Counted { looked_at, have } = counted.get(&key).copied().unwrap_or_default();
        let fresh = &self.order[looked_at..];
        if fresh.is_empty() {
            return have;
        }
        let mut ids: Vec<u32> = fresh.iter().copied().filter(|id| *id <= until).collect();
        ids.sort_unstable();
        let mut cursor = Cursor::anywhere(*postings);
        let more = ids.into_iter().filter(|id| cursor.count(*id) > 0).count();
        if counted.len() >= MAX_COUNTED {
            counted.clear();
        }
        let now = Counted {
            looked_at: self.order.len(),
            have: have + more,
        };
        counted.insert(key, now);
        now.have
    }
}
