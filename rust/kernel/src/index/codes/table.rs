//! Tables of codes, in memory or in a file.

use std::collections::TryReserveError;
use std::sync::Arc;

use super::code::{self, NOTHING, Packed};
use super::lanes::ROWS;
use crate::index::mapped::{Mapped, Numbers, Refused};

/// Rows in memory or in a file.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a> {
    dimension: usize,
    coarse: Blocks<'a>,
    finer: &'a [u8],
    finer_bounds: &'a [Packed],
    pub ids: &'a [u32],
    pub owners: &'a [u32],
    /// Whether the owners ascend.
    pub ordered: bool,
}

impl<'a> Slices<'a> {
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn blocks(&self) -> usize {
        self.coarse.bounds.len() / ROWS
    }

    /// The coarse words of sixteen rows, and their bounds.
    pub fn coarse(&self, block: usize) -> (&'a [u32], &'a [Packed; ROWS]) {
        self.coarse.block(block, code::words(self.dimension))
    }

    /// The finer bits of a row, and their bound.
    pub fn finer(&self, row: usize) -> (&'a [u8], Packed) {
        let bytes = code::finer_bytes(self.dimension);
        let bits = &self.finer[row * bytes..(row + 1) * bytes];
        (bits, self.finer_bounds[row])
    }

    /// The sections of a file, in the order in which [`File::open`] reads them.
    fn sections(&self) -> [&'a [u8]; 6] {
        [
            bytemuck::cast_slice(self.coarse.words),
            bytemuck::cast_slice(self.coarse.bounds),
            self.finer,
            bytemuck::cast_slice(self.finer_bounds),
            bytemuck::cast_slice(self.ids),
            bytemuck::cast_slice(self.owners),
        ]
    }
}

/// The coarse plane in blocks of [`ROWS`], with bounds for every row that the blocks have room for.
#[derive(Clone, Copy)]
struct Blocks<'a> {
    words: &'a [u32],
    bounds: &'a [Packed],
}

impl<'a> Blocks<'a> {
    fn block(&self, block: usize, words: usize) -> (&'a [u32], &'a [Packed; ROWS]) {
        let words = words * ROWS;
        (
            &self.words[block * words..(block + 1) * words],
            &self.bounds.as_chunks().0[block],
        )
    }

    /// Copy the words of a row.
    fn read(&self, row: usize, words: &mut [u32]) {
        let (block, _) = self.block(row / ROWS, words.len());
        for (word, block) in words.iter_mut().zip(block.as_chunks::<ROWS>().0) {
            *word = block[row % ROWS];
        }
    }
}

/// The coarse plane in memory.
#[derive(Default)]
struct Plane {
    words: Vec<u32>,
    bounds: Vec<Packed>,
}

impl Plane {
    fn blocks(&self) -> Blocks<'_> {
        Blocks {
            words: &self.words,
            bounds: &self.bounds,
        }
    }

    /// Write the words and the bound of an existing row or the next one.
    fn write(&mut self, row: usize, words: &[u32], bound: Packed) {
        if row == self.bounds.len() {
            self.words.resize(self.words.len() + ROWS * words.len(), 0);
            self.bounds.resize(row + ROWS, NOTHING);
        }
        let block = &mut self.words[row / ROWS * ROWS * words.len()..];
        for (block, word) in block.as_chunks_mut::<ROWS>().0.iter_mut().zip(words) {
            block[row % ROWS] = *word;
        }
        self.bounds[row] = bound;
    }

    fn reserve(&mut self, rows: usize, words: usize) -> Result<(), TryReserveError> {
        let more = rows.next_multiple_of(ROWS) - self.bounds.len();
        make_room(&mut self.words, more * words)?;
        make_room(&mut self.bounds, more)
    }
}

/// Rows in memory.
pub(super) struct Table {
    dimension: usize,
    coarse: Plane,
    finer: Vec<u8>,
    finer_bounds: Vec<Packed>,
    ids: Vec<u32>,
    owners: Vec<u32>,
    ordered: bool,
    scratch: Scratch,
}

/// Of one row.
struct Scratch {
    coarse: Vec<u32>,
    finer: Vec<u8>,
    codes: Vec<u8>,
}

impl Scratch {
    fn new(dimension: usize) -> Self {
        let words = code::words(dimension);
        Self {
            coarse: vec![0; words],
            finer: vec![0; code::finer_bytes(dimension)],
            codes: vec![0; words * code::PER_WORD],
        }
    }
}

impl Table {
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            coarse: Plane::default(),
            finer: Vec::new(),
            finer_bounds: Vec::new(),
            ids: Vec::new(),
            owners: Vec::new(),
            ordered: true,
            scratch: Scratch::new(dimension),
        }
    }

    pub fn slices(&self) -> Slices<'_> {
        Slices {
            dimension: self.dimension,
            coarse: self.coarse.blocks(),
            finer: &self.finer,
            finer_bounds: &self.finer_bounds,
            ids: &self.ids,
            owners: &self.owners,
            ordered: self.ordered,
        }
    }

    pub fn nbytes(&self) -> usize {
        let Plane { words, bounds } = &self.coarse;
        let bounds = bounds.capacity() + self.finer_bounds.capacity();
        let ids = self.ids.capacity() + self.owners.capacity();
        (words.capacity() + bounds + ids) * size_of::<u32>() + self.finer.capacity()
    }

    /// Reserve memory for this many more rows.
    pub fn reserve(&mut self, rows: usize) -> Result<(), TryReserveError> {
        let words = code::words(self.dimension);
        self.coarse.reserve(self.ids.len() + rows, words)?;
        make_room(&mut self.finer, rows * code::finer_bytes(self.dimension))?;
        make_room(&mut self.finer_bounds, rows)?;
        make_room(&mut self.ids, rows)?;
        make_room(&mut self.owners, rows)
    }

    /// Add the code of a unit vector.
    pub fn push(&mut self, id: u32, owner: u32, unit: &[f32]) {
        let Scratch {
            coarse,
            finer,
            codes,
        } = &mut self.scratch;
        let bounds = code::encode(unit, (coarse, finer), codes);
        self.finish(id, owner, bounds);
    }

    /// Add a row of another table of the same dimension.
    pub fn push_row(&mut self, other: &Slices<'_>, row: usize) {
        other.coarse.read(row, &mut self.scratch.coarse);
        let (finer, bound) = other.finer(row);
        self.scratch.finer.copy_from_slice(finer);
        let bounds = [other.coarse.bounds[row], bound];
        self.finish(other.ids[row], other.owners[row], bounds);
    }

    /// Hide a row from all searches.
    pub fn hide(&mut self, row: usize) {
        self.coarse.bounds[row] = NOTHING;
    }

    fn finish(&mut self, id: u32, owner: u32, [coarse, finer]: [Packed; 2]) {
        let row = self.ids.len();
        self.coarse.write(row, &self.scratch.coarse, coarse);
        self.finer.extend_from_slice(&self.scratch.finer);
        self.finer_bounds.push(finer);
        self.ordered &= self.owners.last().is_none_or(|last| *last <= owner);
        self.ids.push(id);
        self.owners.push(owner);
    }
}

/// Grow by at least an eighth, so that adding row by row does not copy everything each time, and
/// little memory is wasted.
fn make_room<T>(numbers: &mut Vec<T>, more: usize) -> Result<(), TryReserveError> {
    if numbers.capacity() - numbers.len() >= more {
        return Ok(());
    }
    numbers.try_reserve_exact(more.max(numbers.len() / 8))
}

/// Rows in a file, ordered by their owners.
pub(super) struct File {
    dimension: usize,
    words: Numbers<u32>,
    bounds: Numbers<Packed>,
    finer: Numbers<u8>,
    finer_bounds: Numbers<Packed>,
    ids: Numbers<u32>,
    owners: Numbers<u32>,
}

impl File {
    /// Sections of a file with these rows.
    pub fn sections<'a>(head: &'a [u64; 1], rows: &Slices<'a>) -> Vec<&'a [u8]> {
        let mut sections = vec![bytemuck::cast_slice(head)];
        sections.extend(rows.sections());
        sections
    }

    pub fn open(file: &Arc<Mapped>) -> Result<Self, Refused> {
        let head = file.numbers::<u64>(0)?;
        let &[dimension] = &*head else {
            return Err(Refused::Damaged);
        };
        let table = Self {
            dimension: usize::try_from(dimension).map_err(|_| Refused::Damaged)?,
            words: file.numbers(1)?,
            bounds: file.numbers(2)?,
            finer: file.numbers(3)?,
            finer_bounds: file.numbers(4)?,
            ids: file.numbers(5)?,
            owners: file.numbers(6)?,
        };
        if table.agrees() {
            Ok(table)
        } else {
            Err(Refused::Damaged)
        }
    }

    /// Whether the lengths of the sections agree with the number of rows.
    fn agrees(&self) -> bool {
        let rows = self.ids.len();
        let room = rows.next_multiple_of(ROWS);
        (1..=super::MAX_DIMENSION).contains(&self.dimension)
            && self.words.len() == room * code::words(self.dimension)
            && self.bounds.len() == room
            && self.finer.len() == rows * code::finer_bytes(self.dimension)
            && self.finer_bounds.len() == rows
            && self.owners.len() == rows
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    pub fn slices<'a>(&'a self) -> Slices<'a> {
        Slices {
            dimension: self.dimension,
            coarse: Blocks {
                words: &self.words,
                bounds: &self.bounds,
            },
            finer: &self.finer,
            finer_bounds: &self.finer_bounds,
            ids: &self.ids,
            owners: &self.owners,
            ordered: true,
        }
    }
}
