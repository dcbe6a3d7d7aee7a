//! The columns that decide which rows may be seen, by row id.
//!
//! A row's namespace and flags together are its home. There are few homes, so a table of the
//! visible ones decides most rows with one look-up. Texts are only compared for equality and stored
//! as codes; moments are compared by order.

mod moments;
mod texts;

use std::collections::{HashMap, TryReserveError};
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::index::ids::Ids;
use crate::index::mapped::{self, Mapped, Numbers, Tag};
use moments::Moments;
use texts::{Coded, Texts};

/// Identifies files of this structure in their [`Tag`].
pub const KIND: [u8; 8] = *b"columns ";
/// See [`KIND`].
pub const VERSION: u64 = 3;

/// Columns of texts, such as subject and category.
pub const TEXTS: usize = 2;

/// Columns of moments, such as the expiry.
pub const MOMENTS: usize = 3;

const BITS: usize = u64::BITS as usize;

/// Up to this many homes are compared with each row's, which many rows are at once; of more, each
/// row is looked up.
const FEW_HOMES: usize = 8;

/// The home of an id that no row has.
const NOWHERE: u32 = 0;

/// The values of a row. Moments are texts as they are stored; most have the one form whose text
/// order is the order in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row<'a> {
    /// `None` is in no named namespace; only a search of all namespaces finds it.
    pub namespace: Option<&'a str>,
    /// One bit per property.
    pub flags: u8,
    /// Of which it may have some.
    pub texts: [Option<&'a str>; TEXTS],
    /// Of which it may have some.
    pub moments: [Option<&'a str>; MOMENTS],
}

/// The range of moments that one column must be in; the bounds are exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period<'a> {
    /// Which column.
    pub column: usize,
    /// Later than this.
    pub after: Option<&'a str>,
    /// Earlier than this.
    pub before: Option<&'a str>,
    /// Whether rows without a moment match as well.
    pub or_none: bool,
}

/// The conditions that a row must meet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Those of these namespaces; `None`: of all.
    pub namespaces: Option<&'a [&'a str]>,
    /// Those without any of these flags.
    pub without: u8,
    /// By column, those with this text; `None`: with any or none.
    pub texts: [Option<&'a str>; TEXTS],
    /// Those within all of these.
    pub periods: &'a [Period<'a>],
    /// Those of these ids; `None`: of any.
    pub among: Option<&'a Ids>,
}

/// Which texts of a column are counted, and in which order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page<'a> {
    /// How they begin.
    pub prefix: &'a str,
    /// Those that most rows have come first, and of equals the first by text; else all are by text.
    pub by_number: bool,
    /// Those after this text, which so many rows had.
    pub after: Option<(&'a str, u32)>,
    /// At most so many.
    pub limit: usize,
}

/// How many rows have a text of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The text.
    pub text: String,
    /// How many rows have it.
    pub number: u32,
    /// The one with the largest id.
    pub last: u32,
}

/// How many rows have each text of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The texts of a page.
    pub first: Vec<Count>,
    /// How many texts there are, whatever page is asked for.
    pub texts: usize,
}

/// The columns that decide which rows may be seen, by row id.
#[derive(Default)]
pub struct Columns {
    /// By row id.
    homes: Numbers<u32>,
    /// Namespace and flags of each home; the first is [`NOWHERE`].
    table: Vec<(u32, u32)>,
    numbers: HashMap<(u32, u32), u32>,
    namespaces: Texts,
    texts: [Coded; TEXTS],
    moments: [Moments; MOMENTS],
    rows: usize,
}

impl Columns {
    /// No rows.
    #[must_use]
    pub fn new() -> Self {
        Self {
            table: vec![(0, 0)],
            ..Self::default()
        }
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Bytes in this process's own memory.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        let texts: usize = self.texts.iter().map(Coded::nbytes).sum();
        let moments: usize = self.moments.iter().map(Moments::nbytes).sum();
        self.homes.nbytes() + self.namespaces.nbytes() + texts + moments
    }

    /// Add a row, or replace it.
    ///
    /// # Errors
    /// There is no memory; then the row may be incomplete and must be put again.
    pub fn put(&mut self, id: u32, row: &Row<'_>) -> Result<(), TryReserveError> {
        let home = (
            self.namespaces.code_of(row.namespace.map(str::as_bytes))?,
            u32::from(row.flags),
        );
        let number = match self.numbers.get(&home) {
            Some(number) => *number,
            None => {
                let number = self.table.len() as u32;
                self.table.try_reserve(1)?;
                self.table.push(home);
                self.numbers.insert(home, number);
                number
            }
        };
        for (column, text) in self.texts.iter_mut().zip(row.texts) {
            column.set(id, text)?;
        }
        for (column, moment) in self.moments.iter_mut().zip(row.moments) {
            column.set(id, moment)?;
        }
        let homes = self.homes.to_mut()?;
        let place = place(homes, id)?;
        self.rows += usize::from(*place == NOWHERE);
        *place = number;
        Ok(())
    }

    /// Remove a row; returns whether it existed.
    ///
    /// # Errors
    /// There is no memory for a copy of the mapped columns.
    pub fn remove(&mut self, id: u32) -> Result<bool, TryReserveError> {
        if self
            .homes
            .get(id as usize)
            .is_none_or(|home| *home == NOWHERE)
        {
            return Ok(false);
        }
        self.homes.to_mut()?[id as usize] = NOWHERE;
        self.rows -= 1;
        Ok(true)
    }

    /// The ids of the matching rows.
    ///
    /// # Errors
    /// There is no memory for a bit for each id.
    pub fn select(&self, wanted: &Wanted<'_>) -> Result<Ids, TryReserveError> {
        let Some(seen) = self.homes_seen(wanted) else {
            return Ok(Ids::default());
        };
        let holders = self.holders(wanted)?;
        let among = holders.as_ref().or(wanted.among);
        let is_seen = |home: &u32| seen.get(*home as usize).copied().unwrap_or(false);
        let mut words = Vec::new();
        words.try_reserve_exact(self.homes.len().div_ceil(BITS))?;
        let few: Vec<u32> = (0..)
            .zip(&seen)
            .filter(|home| *home.1)
            .map(|home| home.0)
            .collect();
        let chunks = self.homes.chunks(BITS);
        if let Some(among) = among {
            let among = among.words().iter();
            if few.len() <= FEW_HOMES {
                words.extend(chunks.zip(among).map(|(homes, word)| match *word {
                    0 => 0,
                    word => word & marks(homes, &few),
                }));
            } else {
                words.extend(among.take(chunks.len()));
                keep(&mut words, |id| self.homes.get(id).is_some_and(is_seen));
            }
        } else if few.len() <= FEW_HOMES {
            words.extend(chunks.map(|homes| marks(homes, &few)));
        } else {
            words.extend(chunks.map(|homes| bits(homes.iter().map(is_seen))));
        }
        for (column, text) in self.texts.iter().zip(wanted.texts) {
            if let Some(text) = text {
                column.narrow(&mut words, text);
            }
        }
        for period in wanted.periods {
            self.moments[period.column].narrow(&mut words, period);
        }
        Ok(Ids::from_words(words))
    }

    /// How many of these rows have each text of a column.
    ///
    /// # Errors
    /// There is no memory for a number for each text.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn counts(
        &self,
        column: usize,
        among: &Ids,
        page: &Page<'_>,
    ) -> Result<Counts, TryReserveError> {
        self.texts[column].counts(among, page)
    }

    /// How many of these rows have a moment from each bound on and before the next one, which is
    /// later; after the last one, any. Moments are compared as texts.
    ///
    /// # Errors
    /// There is no memory for the numbers.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn histogram(
        &self,
        column: usize,
        among: &Ids,
        bounds: &[&str],
    ) -> Result<Vec<u32>, TryReserveError> {
        self.moments[column].histogram(among, bounds)
    }

    /// Among which rows those with the wanted texts are, if these are few enough that to look at
    /// each is quicker than to look at all.
    fn holders(&self, wanted: &Wanted<'_>) -> Result<Option<Ids>, TryReserveError> {
        let each = self.texts.iter().zip(wanted.texts);
        let few = each.filter_map(|(column, text)| column.holders(text?));
        let Some(mut ids) = few.min_by_key(Vec::len) else {
            return Ok(None);
        };
        let is_among = |id: u32| wanted.among.is_none_or(|among| among.contains(id));
        ids.retain(|id| (*id as usize) < self.homes.len() && is_among(*id));
        Ids::of(&ids).map(Some)
    }

    /// For each home whether its rows are visible; `None` if no home is.
    fn homes_seen(&self, wanted: &Wanted<'_>) -> Option<Vec<bool>> {
        let namespaces: Option<Vec<u32>> = wanted.namespaces.map(|names| {
            let known = names
                .iter()
                .filter_map(|name| self.namespaces.find(name.as_bytes()));
            known.collect()
        });
        let is_seen = |home: &(u32, u32)| {
            let (namespace, flags) = *home;
            flags & u32::from(wanted.without) == 0
                && namespaces
                    .as_ref()
                    .is_none_or(|all| all.contains(&namespace))
        };
        let mut seen: Vec<bool> = self.table.iter().map(is_seen).collect();
        seen[NOWHERE as usize] = false;
        seen.contains(&true).then_some(seen)
    }

    /// Write everything to a file, without texts that no row has any more.
    ///
    /// # Errors
    /// The file cannot be written, or there is no memory.
    pub fn save(&self, path: &Path, tag: &Tag, position: u64) -> io::Result<()> {
        self.compacted()?.write(path, tag, position)
    }

    /// The same rows, without the texts of removed ones.
    fn compacted(&self) -> Result<Self, TryReserveError> {
        let homes = &*self.homes;
        let mut numbers = vec![NOWHERE; self.table.len()];
        let mut fresh = Self::new();
        let mut kept = Vec::new();
        kept.try_reserve_exact(homes.len())?;
        for home in homes {
            let number = &mut numbers[*home as usize];
            if *home != NOWHERE && *number == NOWHERE {
                let (namespace, flags) = self.table[*home as usize];
                *number = fresh.table.len() as u32;
                let name = self.namespaces.get(namespace);
                let code = fresh.namespaces.code_of(name)?;
                fresh.table.push((code, flags));
            }
            kept.push(*number);
        }
        let is_row = |id: usize| homes.get(id).is_some_and(|home| *home != NOWHERE);
        for (column, old) in fresh.texts.iter_mut().zip(&self.texts) {
            *column = old.compacted(is_row)?;
        }
        for (column, old) in fresh.moments.iter_mut().zip(&self.moments) {
            *column = old.compacted(is_row)?;
        }
        fresh.homes = kept.into();
        fresh.rows = self.rows;
        Ok(fresh)
    }

    fn write(&self, path: &Path, tag: &Tag, position: u64) -> io::Result<()> {
        let rows = [self.rows as u64];
        let table: Vec<u32> = self
            .table
            .iter()
            .flat_map(|home| [home.0, home.1])
            .collect();
        let mut sections: Vec<&[u8]> = vec![
            bytemuck::cast_slice(&rows),
            bytemuck::cast_slice(&table),
            self.homes.bytes(),
        ];
        sections.extend(self.namespaces.sections());
        sections.extend(self.texts.iter().flat_map(Coded::sections));
        sections.extend(self.moments.iter().flat_map(Moments::sections));
        mapped::write(path, tag, position, &sections)
    }

    /// Map what was saved; also also returns the file.
    ///
    /// # Errors
    /// There is no such file, or it was not derived from what the tag says.
    pub fn open(path: &Path, tag: &Tag) -> Result<(Self, Arc<Mapped>), mapped::Refused> {
        let file = Mapped::open(path, tag)?;
        let rows = file.numbers::<u64>(0)?;
        let table = file.numbers::<u32>(1)?;
        let table: Vec<_> = table
            .chunks_exact(2)
            .map(|home| (home[0], home[1]))
            .collect();
        let homes = file.numbers::<u32>(2)?;
        let is_sound = homes.iter().all(|home| (*home as usize) < table.len());
        if rows.len() != 1 || table.is_empty() || !is_sound {
            return Err(mapped::Refused::Damaged);
        }
        let mut columns = Self {
            rows: rows[0] as usize,
            numbers: (0..)
                .zip(&table)
                .skip(1)
                .map(|(number, home)| (*home, number))
                .collect(),
            table,
            homes,
            ..Self::default()
        };
        let mut next = 3;
        columns.namespaces = Texts::read(&file, &mut next)?;
        for column in &mut columns.texts {
            *column = Coded::read(&file, &mut next)?;
        }
        for column in &mut columns.moments {
            *column = Moments::read(&file, &mut next)?;
        }
        Ok((columns, file))
    }
}

/// An id's place in a column, which is extended if necessary.
fn place<T: Clone + Default>(column: &mut Vec<T>, id: u32) -> Result<&mut T, TryReserveError> {
    let index = id as usize;
    if index >= column.len() {
        column.try_reserve(index + 1 - column.len())?;
        column.resize(index + 1, T::default());
    }
    Ok(&mut column[index])
}

/// The bits of up to 64 tests, the first lowest.
fn bits(tests: impl Iterator<Item = bool>) -> u64 {
    (0..)
        .zip(tests)
        .fold(0, |word, (bit, test)| word | u64::from(test) << bit)
}

/// For up to 64 numbers, the bits of those that are among a few.
fn marks(numbers: &[u32], few: &[u32]) -> u64 {
    let Ok(numbers) = <&[u32; BITS]>::try_from(numbers) else {
        return bits(numbers.iter().map(|number| few.contains(number)));
    };
    let mut marks = [0_u8; BITS];
    for one in few {
        for (mark, number) in marks.iter_mut().zip(numbers) {
            *mark |= u8::from(number == one);
        }
    }
    // The product moves the bit of byte `b` to bit `56 + b`.
    let eight = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080);
    let bytes = marks.as_chunks().0.iter().rev();
    bytes.fold(0, |word, bytes| word << 8 | eight(bytes) >> 56)
}

/// Remove the ids that fail a test, which is called only for ids in the set.
fn keep(words: &mut [u64], mut test: impl FnMut(usize) -> bool) {
    for (index, word) in words.iter_mut().enumerate() {
        keep_in(word, index, &mut test);
    }
}

/// Call with the place of each bit of a word that is set.
fn each(word: u64, mut call: impl FnMut(usize)) {
    if word == u64::MAX {
        return (0..BITS).for_each(call);
    }
    let mut left = word;
    while left != 0 {
        call(left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

/// Remove the ids of one word that fail a test.
fn keep_in(word: &mut u64, index: usize, mut test: impl FnMut(usize) -> bool) {
    let mut left = *word;
    while left != 0 {
        let bit = left.trailing_zeros() as usize;
        left &= left - 1;
        if !test(index * BITS + bit) {
            *word &= !(1 << bit);
        }
    }
}
