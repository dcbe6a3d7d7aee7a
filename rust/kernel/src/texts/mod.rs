//! The data of each row for the second stage of a search: the ids of its pieces, features of its
//! text, and its place in a conversation. Pieces are those of the embedded model's vocabulary;
//! without the feature `model`, they are words.
//!
//! Saved rows are mapped; later changes are in memory and take precedence. The number of rows, and
//! of rows with each piece, is always exact.

mod bearing;
mod fresh;
mod layer;
mod moment;
#[cfg(feature = "model")]
mod nearest;
#[cfg_attr(not(feature = "model"), path = "whole_words.rs")]
mod pieces;
mod query;
mod rank;
mod record;
mod similar;

use std::collections::TryReserveError;
use std::io;
use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::id_hash::IdMap;
use crate::ids::Ids;
use crate::language;
use crate::mapped::{self, Mapped, Tag};
use fresh::Fresh;
use layer::Layer;
use record::{Place, Record};

pub use bearing::{Bearing, Exactly, Term, named};
pub use query::Query;
pub use rank::{Asked, Candidate, Parts, Ranked};
pub use record::Row;

/// Identifies files of this structure in their [`Tag`].
pub const KIND: [u8; 8] = *b"texts   ";
/// See [`KIND`].
pub const VERSION: u64 = 2;

/// Relevance is computed as if there were at least this many rows: among fewer, a word that some
/// have would look common compared with one that none has.
const FEW_ROWS: usize = 100;

/// The most invisible rows of a thread that are skipped when looking for a row's neighbours.
const FAR: usize = 64;

/// A processed row, ready to be put; made without the lock, because that is most of the work.
pub struct Entry {
    record: Record,
    /// Its pieces and the hashes of its names.
    numbers: Vec<u16>,
}

/// A stored row.
#[derive(Clone, Copy)]
struct Held<'a> {
    record: &'a Record,
    numbers: &'a [u16],
}

impl<'a> Held<'a> {
    /// Its pieces, sorted, with repetitions.
    fn pieces(&self) -> &'a [u16] {
        &self.numbers[..self.record.pieces as usize]
    }

    /// Its pieces, each once.
    fn distinct(&self) -> impl Iterator<Item = u16> + 'a {
        self.pieces().chunk_by(u16::eq).map(|equal| equal[0])
    }

    /// Whether it says nearly the same about the same subject: the other row has at least two
    /// thirds of the pieces of the shorter one.
    fn is_alike(&self, other: &Self) -> bool {
        if self.record.speaker != other.record.speaker {
            return false;
        }
        let (mut own, mut others, mut both) = (0, 0, 0);
        let mut of_other = other.distinct().peekable();
        for piece in self.distinct() {
            own += 1;
            while of_other.next_if(|other| *other < piece).is_some() {
                others += 1;
            }
            if of_other.next_if_eq(&piece).is_some() {
                others += 1;
                both += 1;
            }
        }
        others += of_other.count();
        3 * both >= 2 * own.min(others)
    }

    /// The hashes of its names.
    fn names(&self) -> impl Iterator<Item = u32> + 'a {
        let (pairs, _) = self.numbers[self.record.pieces as usize..].as_chunks();
        pairs
            .iter()
            .map(|[high, low]| u32::from(*high) << 16 | u32::from(*low))
    }
}

/// The rows.
pub struct Texts {
    base: Layer,
    fresh: Fresh,
    /// How many rows have each piece.
    frequencies: Vec<u32>,
    rows: u64,
    words: u64,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            base: Layer::default(),
            fresh: Fresh::default(),
            frequencies: vec![0; pieces::count()],
            rows: 0,
            words: 0,
        }
    }
}

/// Read a row.
///
/// # Errors
/// There is no memory for it.
pub fn read(row: &Row<'_>) -> Result<Entry, TryReserveError> {
    let mut numbers = pieces::of(row.text)?;
    numbers.sort_unstable();
    let features = language::features(row.text, row.speaker);
    let names = features.names.split(|name| *name == language::NO_NAME);
    let names = names.into_iter().next().unwrap_or_default();
    let valid = row.valid.and_then(moment::read);
    let created = row.created.and_then(moment::read);
    let said = valid.or(created).unwrap_or_default();
    let confirmed = row.confirmed.and_then(micros);
    let later = |micros: i64| confirmed.map_or(micros, |confirmed| confirmed.max(micros));
    let record = Record {
        thread: row
            .thread
            .map_or(0, |thread| xxh3_64(thread.as_bytes()).max(1)),
        seq: row.seq,
        known: later(created.unwrap_or_default().micros),
        said: later(said.micros),
        norm: pieces::norm(&numbers),
        pieces: numbers.len() as u32,
        words: words(row.text),
        speaker: row.speaker.map_or(0, language::name_hash),
        ages_as: row.ages_as.map_or(0, hash),
        year: said.year,
        month: said.month,
        day: said.day,
        flags: features.flags,
        names: names.len() as u8,
        is_row: 1,
        ..Record::default()
    };
    numbers.extend(
        names
            .iter()
            .flat_map(|name| [(name >> 16) as u16, *name as u16]),
    );
    Ok(Entry { record, numbers })
}

/// A hash for texts that are only compared for equality; never 0.
pub fn hash(text: &str) -> u32 {
    (xxh3_64(text.as_bytes()) as u32).max(1)
}

/// A moment as it is stored, in microseconds since 1970; `None` if it is not one.
#[must_use]
pub fn micros(moment: &str) -> Option<i64> {
    moment::read(moment).map(|moment| moment.micros)
}

/// The number of words of a text; two characters of a script without spaces count as one.
fn words(text: &str) -> u32 {
    let unspaced =
        |c: &char| matches!(u32::from(*c), 0xe00..0xf00 | 0x3040..0xa000 | 0xac00..0xd7b0);
    let spaced = text.split_whitespace().count();
    let more = text.chars().filter(unspaced).count() / 2;
    (spaced + more) as u32
}

impl Texts {
    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows as usize
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The average number of words per row; 0 without rows.
    #[must_use]
    pub fn mean_words(&self) -> f64 {
        self.words as f64 / self.rows.max(1) as f64
    }

    /// The inverse document frequency of a piece: `max(0, ln((n + 1) / (df + 0.5)))`.
    #[must_use]
    pub fn idf(&self, piece: u16) -> f64 {
        self.idf_among(piece, self.len())
    }

    fn idf_among(&self, piece: u16, rows: usize) -> f64 {
        let rows = rows as f64 + 1.0;
        let having = f64::from(self.frequencies[usize::from(piece)]) + 0.5;
        (rows / having).ln().max(0.0)
    }

    /// Bytes in this process's own memory, without mapped files.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.base.nbytes() + self.fresh.nbytes() + size_of_val(&self.frequencies[..])
    }

    fn held(&self, id: u32) -> Option<Held<'_>> {
        let held = match self.fresh.held(id) {
            Some(held) => held,
            None => self.base.held(id)?,
        };
        (held.record.is_row != 0).then_some(held)
    }

    /// Add a row, or replace it.
    ///
    /// # Errors
    /// There is no memory for it; then nothing was changed.
    pub fn put(&mut self, id: u32, entry: &Entry) -> Result<(), TryReserveError> {
        self.fresh.reserve(entry)?;
        self.forget(id);
        self.fresh.put(id, entry);
        self.count(id, true);
        Ok(())
    }

    /// Remove a row; returns whether it existed.
    ///
    /// # Errors
    /// There is no memory to remember it.
    pub fn remove(&mut self, id: u32) -> Result<bool, TryReserveError> {
        let gone = Entry {
            record: Record::default(),
            numbers: Vec::new(),
        };
        self.fresh.reserve(&gone)?;
        let was_here = self.forget(id);
        if was_here {
            self.fresh.put(id, &gone);
        }
        Ok(was_here)
    }

    fn forget(&mut self, id: u32) -> bool {
        let was_here = self.held(id).is_some();
        if was_here {
            self.count(id, false);
            self.fresh.forget(id);
        }
        was_here
    }

    /// Add a row to the statistics, or remove it from them.
    fn count(&mut self, id: u32, comes: bool) {
        let Some(held) = self.held(id) else { return };
        let words = u64::from(held.record.words);
        let pieces: Vec<u16> = held.distinct().collect();
        for piece in pieces {
            let frequency = &mut self.frequencies[usize::from(piece)];
            *frequency = if comes {
                *frequency + 1
            } else {
                *frequency - 1
            };
        }
        if comes {
            (self.rows, self.words) = (self.rows + 1, self.words + words);
        } else {
            (self.rows, self.words) = (self.rows - 1, self.words - words);
        }
    }

    /// Write everything to a file.
    ///
    /// # Errors
    /// The file cannot be written, or there is no memory.
    pub fn save(&self, path: &Path, tag: &Tag, position: u64) -> io::Result<()> {
        let totals = [self.rows, self.words];
        let mut sections: Vec<&[u8]> = vec![
            bytemuck::cast_slice(&totals),
            bytemuck::cast_slice(&self.frequencies),
        ];
        let merged;
        let base = if self.fresh.is_empty() {
            &self.base
        } else {
            merged = self.merged()?;
            &merged
        };
        sections.extend(base.sections());
        mapped::write(path, tag, position, &sections)
    }

    /// All rows in one layer.
    fn merged(&self) -> Result<Layer, TryReserveError> {
        let ids = self.base.ids().max(self.fresh.ids());
        Layer::of(ids, |id| self.held(id))
    }

    /// Map what was saved; also also returns the file.
    ///
    /// # Errors
    /// There is no such file, or it was not derived from what the tag says.
    pub fn open(path: &Path, tag: &Tag) -> Result<(Self, Arc<Mapped>), mapped::Refused> {
        let file = Mapped::open(path, tag)?;
        let totals = file.numbers::<u64>(0)?;
        let frequencies = file.numbers::<u32>(1)?.to_vec();
        let &[rows, words] = &*totals else {
            return Err(mapped::Refused::Damaged);
        };
        if frequencies.len() != pieces::count() {
            return Err(mapped::Refused::Other);
        }
        let texts = Self {
            base: Layer::open(&file, 2)?,
            fresh: Fresh::default(),
            frequencies,
            rows,
            words,
        };
        Ok((texts, file))
    }

    /// The visible rows before one in its thread, nearest first, and those after it; at most
    /// `reach` on each side.
    fn around(
        &self,
        place: Place,
        reach: usize,
        visible: Option<&Ids>,
    ) -> (impl Iterator<Item = u32>, impl Iterator<Item = u32>) {
        let seen = move |id: &u32| visible.is_none_or(|visible| visible.contains(*id));
        let is_base = |id: &u32| !self.fresh.has(*id);
        let place_of = |id: u32| self.held(id).map(|held| held.record.place(id));
        let (before, behind) = self.base.beside(place);
        let before = fresh::merge(
            before.filter(is_base),
            self.fresh.before(place),
            move |left, right| place_of(left) > place_of(right),
        );
        let behind = fresh::merge(
            behind.filter(is_base),
            self.fresh.behind(place),
            move |left, right| place_of(left) < place_of(right),
        );
        (
            before.take(FAR).filter(seen).take(reach),
            behind.take(FAR).filter(seen).take(reach),
        )
    }

    /// The visible rows beside these in their threads, at most `reach` on either side, without
    /// these; each once.
    #[must_use]
    pub fn neighbours(&self, ids: &[u32], reach: usize, visible: Option<&Ids>) -> Vec<u32> {
        let mut known: IdMap<()> = ids.iter().map(|id| (*id, ())).collect();
        let mut found = Vec::new();
        for id in ids {
            let Some(held) = self.held(*id).filter(|held| held.record.thread != 0) else {
                continue;
            };
            let (before, behind) = self.around(held.record.place(*id), reach, visible);
            for other in before.chain(behind) {
                if known.insert(other, ()).is_none() {
                    found.push(other);
                }
            }
        }
        found
    }
}
