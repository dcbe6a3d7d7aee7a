//! What decides which rows may be seen, as columns by row id.
//!
//! A row's namespace and flags together are its home; there are few homes, so one look into a table
//! of those that may be seen decides most rows. Texts are compared for equality alone and held as
//! codes, moments are compared by order.

mod moments;
mod texts;

use std::collections::{HashMap, TryReserveError};
use std::io;
use std::path::Path;

use crate::ids::Ids;
use crate::mapped::{self, Mapped, Numbers, Tag};
use moments::Moments;
use texts::{Coded, Texts};

/// Columns of texts, such as subject and category.
pub const TEXTS: usize = 2;

/// Columns of moments, such as the expiry.
pub const MOMENTS: usize = 3;

const BITS: usize = u64::BITS as usize;

/// The home of an id that no row has.
const NOWHERE: u32 = 0;

/// What is known of a row. Moments are as they are stored; most are in the one form whose order as
/// text is that in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row<'a> {
    /// `None` is in every namespace at once and in none that has a name.
    pub namespace: Option<&'a str>,
    /// What is true of it, a bit each.
    pub flags: u8,
    /// Of which it may have some.
    pub texts: [Option<&'a str>; TEXTS],
    /// Of which it may have some.
    pub moments: [Option<&'a str>; MOMENTS],
}

/// Which moments of one column are let through; the bounds themselves are outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period<'a> {
    /// Which column.
    pub column: usize,
    /// Later than this.
    pub after: Option<&'a str>,
    /// Earlier than this.
    pub before: Option<&'a str>,
    /// Whether rows without a moment are let through, too.
    pub or_none: bool,
}

/// Which rows are let through.
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
}

/// What decides which rows may be seen, by row id.
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

    /// Bytes that this process holds for itself.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        let texts: usize = self.texts.iter().map(Coded::nbytes).sum();
        let moments: usize = self.moments.iter().map(Moments::nbytes).sum();
        self.homes.nbytes() + self.namespaces.nbytes() + texts + moments
    }

    /// Add a row, or replace it.
    ///
    /// # Errors
    /// There is no memory; then the row may be there in part, and is to be put again.
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

    /// Remove a row; whether it was there.
    ///
    /// # Errors
    /// There is no memory for a copy of what is mapped.
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

    /// The ids of the rows that are let through.
    ///
    /// # Errors
    /// There is no memory for a bit for each id.
    pub fn select(&self, wanted: &Wanted<'_>) -> Result<Ids, TryReserveError> {
        let Some(seen) = self.homes_seen(wanted) else {
            return Ok(Ids::default());
        };
        let mut words = Vec::new();
        words.try_reserve_exact(self.homes.len().div_ceil(BITS))?;
        words.extend(self.homes.chunks(BITS).map(|homes| {
            let bits = homes.iter().enumerate();
            bits.fold(0, |word, (bit, home)| {
                word | u64::from(seen.get(*home as usize).copied().unwrap_or(0)) << bit
            })
        }));
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

    /// For each home 1 if its rows may be seen; `None` if those of no home may.
    fn homes_seen(&self, wanted: &Wanted<'_>) -> Option<Vec<u8>> {
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
        let mut seen: Vec<u8> = self.table.iter().map(|home| is_seen(home).into()).collect();
        seen[NOWHERE as usize] = 0;
        seen.contains(&1).then_some(seen)
    }

    /// Write all of it to a file, and no text that no row has any more.
    ///
    /// # Errors
    /// The file cannot be written, or there is no memory.
    pub fn save(&self, path: &Path, tag: &Tag, position: u64) -> io::Result<()> {
        self.compacted()?.write(path, tag, position)
    }

    /// The same rows, without what others left behind.
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

    /// Map what was saved; also returns how far in the database's changes it goes.
    ///
    /// # Errors
    /// There is no such file, or it is not the one that is asked for.
    pub fn open(path: &Path, tag: &Tag) -> Result<(Self, u64), mapped::Refused> {
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
        Ok((columns, file.position()))
    }
}

/// An id's place in a column, which grows to have it.
fn place<T: Clone + Default>(column: &mut Vec<T>, id: u32) -> Result<&mut T, TryReserveError> {
    let index = id as usize;
    if index >= column.len() {
        column.try_reserve(index + 1 - column.len())?;
        column.resize(index + 1, T::default());
    }
    Ok(&mut column[index])
}

/// Take away the ids that a test refuses; it is asked about no others than those that are there.
fn keep(words: &mut [u64], mut test: impl FnMut(usize) -> bool) {
    for (index, word) in words.iter_mut().enumerate() {
        let mut left = *word;
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            if !test(index * BITS + bit) {
                *word &= !(1 << bit);
            }
        }
    }
}
