//! The features of each row that the contextual ranking compares with a query: the ids of its
//! tokens, what [`language`] finds in its text, and its place in a conversation.
//!
//! Saved rows are mapped; later changes are in memory and take precedence. The number of rows, and
//! of rows with each token, is always exact.

mod fresh;
mod layer;
mod moment;
#[cfg(feature = "model")]
mod nearest;
mod query;
mod record;
mod similar;

use std::collections::TryReserveError;
use std::io;
use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::index::id_hash::IdMap;
use crate::index::ids::Ids;
use crate::index::mapped::{self, Mapped, Tag};
use crate::language;
use crate::model::tokens;
use fresh::Fresh;
use layer::Layer;
use record::{Place, Record};

pub use query::Query;
pub use record::Row;
pub(crate) use similar::Similarities;

/// Identifies files of this structure in their [`Tag`].
pub const KIND: [u8; 8] = *b"features";
/// See [`KIND`].
pub const VERSION: u64 = 3;

/// The most invisible rows of a thread that are skipped when looking for a row's neighbours.
const FAR: usize = 64;

/// A processed row, ready to be put; made without the lock, because that is most of the work.
pub struct Entry {
    record: Record,
    /// Its tokens and the hashes of its names.
    numbers: Vec<u16>,
}

/// A stored row.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub record: &'a Record,
    numbers: &'a [u16],
}

impl<'a> Stored<'a> {
    /// Its tokens, sorted, with repetitions.
    pub fn tokens(&self) -> &'a [u16] {
        &self.numbers[..self.record.tokens as usize]
    }

    /// Its tokens, each once.
    fn distinct(&self) -> impl Iterator<Item = u16> + 'a {
        self.tokens().chunk_by(u16::eq).map(|equal| equal[0])
    }

    /// Whether it says nearly the same about the same subject: the other row has at least two
    /// thirds of the tokens of the shorter one.
    pub fn is_alike(&self, other: &Self) -> bool {
        if self.record.speaker != other.record.speaker {
            return false;
        }
        let (mut own, mut others, mut both) = (0, 0, 0);
        let mut of_other = other.distinct().peekable();
        for token in self.distinct() {
            own += 1;
            while of_other.next_if(|other| *other < token).is_some() {
                others += 1;
            }
            if of_other.next_if_eq(&token).is_some() {
                others += 1;
                both += 1;
            }
        }
        others += of_other.count();
        3 * both >= 2 * own.min(others)
    }

    /// The hashes of its names.
    pub fn names(&self) -> impl Iterator<Item = u32> + 'a {
        let (pairs, _) = self.numbers[self.record.tokens as usize..].as_chunks();
        pairs
            .iter()
            .map(|[high, low]| u32::from(*high) << 16 | u32::from(*low))
    }
}

/// The rows.
pub struct Features {
    base: Layer,
    fresh: Fresh,
    /// How many rows have each token.
    frequencies: Vec<u32>,
    rows: u64,
    words: u64,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            base: Layer::default(),
            fresh: Fresh::default(),
            frequencies: vec![0; tokens::count()],
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
    let mut numbers = tokens::of(row.text)?;
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
        norm: tokens::norm(&numbers),
        tokens: numbers.len() as u32,
        words: words(row.text),
        speaker: row.speaker.map_or(0, language::name_hash),
        ages_as: row.ages_as.map_or(0, hash),
        year: said.year,
        month: said.month,
        day: said.day,
        minute: said.minute,
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

impl Features {
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

    /// The inverse document frequency of a token among `n` rows: `max(0, ln((n + 1) / (df + 0.5)))`.
    fn idf_among(&self, token: u16, rows: usize) -> f64 {
        let rows = rows as f64 + 1.0;
        let having = f64::from(self.frequencies[usize::from(token)]) + 0.5;
        (rows / having).ln().max(0.0)
    }

    /// Bytes in this process's own memory, without mapped files.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.base.nbytes() + self.fresh.nbytes() + size_of_val(&self.frequencies[..])
    }

    pub(crate) fn get(&self, id: u32) -> Option<Stored<'_>> {
        let stored = match self.fresh.get(id) {
            Some(stored) => stored,
            None => self.base.get(id)?,
        };
        (stored.record.is_row != 0).then_some(stored)
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
        let was_here = self.get(id).is_some();
        if was_here {
            self.count(id, false);
            self.fresh.forget(id);
        }
        was_here
    }

    /// Add a row to the statistics, or remove it from them.
    fn count(&mut self, id: u32, comes: bool) {
        let Some(stored) = self.get(id) else { return };
        let words = u64::from(stored.record.words);
        let tokens: Vec<u16> = stored.distinct().collect();
        for token in tokens {
            let frequency = &mut self.frequencies[usize::from(token)];
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
        Layer::of(ids, |id| self.get(id))
    }

    /// Map what was saved; also returns the file.
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
        if frequencies.len() != tokens::count() {
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

    /// The speaker or subject of each visible row.
    pub(crate) fn speakers(&self, visible: Option<&Ids>) -> impl Iterator<Item = u32> {
        let ids = 0..self.base.ids().max(self.fresh.ids()) as u32;
        ids.filter(move |id| visible.is_none_or(|visible| visible.contains(*id)))
            .filter_map(|id| Some(self.get(id)?.record.speaker))
    }

    /// The visible rows before one in its thread, nearest first, and those after it; at most
    /// `reach` on each side.
    pub(crate) fn around(
        &self,
        place: Place,
        reach: usize,
        visible: Option<&Ids>,
    ) -> (impl Iterator<Item = u32>, impl Iterator<Item = u32>) {
        let seen = move |id: &u32| visible.is_none_or(|visible| visible.contains(*id));
        let is_base = |id: &u32| !self.fresh.has(*id);
        let place_of = |id: u32| self.get(id).map(|stored| stored.record.place(id));
        let (before, behind) = self.base.around(place);
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
            let Some(stored) = self.get(*id).filter(|stored| stored.record.thread != 0) else {
                continue;
            };
            let (before, behind) = self.around(stored.record.place(*id), reach, visible);
            for other in before.chain(behind) {
                if known.insert(other, ()).is_none() {
                    found.push(other);
                }
            }
        }
        found
    }
}
