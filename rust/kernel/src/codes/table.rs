//! Rows of codes side by side, in memory or in a file.

use std::collections::TryReserveError;
use std::sync::Arc;

use super::code::{self, Bounds, Finest, NOTHING, Packed, Planes};
use super::lanes::ROWS;
use crate::dot::BLOCK;
use crate::mapped::{Mapped, Numbers, Refused};

/// Rows, wherever they lie.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a> {
    dimension: usize,
    coarse: Blocks<'a>,
    finer: Blocks<'a>,
    finest: &'a [u32],
    rest: &'a [Finest],
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

    /// The finer words of sixteen rows, and their bounds.
    pub fn finer(&self, block: usize) -> (&'a [u32], &'a [Packed; ROWS]) {
        self.finer.block(block, code::words(self.dimension))
    }

    /// Write a row's finest vector to the front of the row's values.
    pub fn decode(&self, row: usize, scratch: &mut Scratch) -> Finest {
        self.coarse.read(row, &mut scratch.coarse);
        self.finer.read(row, &mut scratch.finer);
        let planes = [&scratch.coarse, &scratch.finer, self.finest(row)];
        let rest = self.rest[row];
        let values = &mut scratch.values[..self.dimension];
        code::decode(planes, rest, &mut scratch.codes, values);
        rest
    }

    fn finest(&self, row: usize) -> &'a [u32] {
        let words = code::finest_words(self.dimension);
        &self.finest[row * words..(row + 1) * words]
    }

    /// What a file has to hold, in the order in which [`File::open`] asks for it.
    fn sections(&self) -> [&'a [u8]; 8] {
        [
            bytemuck::cast_slice(self.coarse.words),
            bytemuck::cast_slice(self.coarse.bounds),
            bytemuck::cast_slice(self.finer.words),
            bytemuck::cast_slice(self.finer.bounds),
            bytemuck::cast_slice(self.finest),
            bytemuck::cast_slice(self.rest),
            bytemuck::cast_slice(self.ids),
            bytemuck::cast_slice(self.owners),
        ]
    }
}

/// A plane in blocks of [`ROWS`], and the bounds of as many rows as the blocks have room for.
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

/// A plane in memory.
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

    /// Write the words and the bound of a row, which is there or the next one.
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
    finer: Plane,
    finest: Vec<u32>,
    rest: Vec<Finest>,
    ids: Vec<u32>,
    owners: Vec<u32>,
    ordered: bool,
    scratch: Scratch,
}

/// Of one row.
pub(super) struct Scratch {
    coarse: Vec<u32>,
    finer: Vec<u32>,
    codes: Vec<u8>,
    /// The finest vector, padded with zeros to whole blocks.
    pub values: Vec<f32>,
}

impl Scratch {
    pub fn new(dimension: usize) -> Self {
        let words = code::words(dimension);
        Self {
            coarse: vec![0; words],
            finer: vec![0; words],
            codes: vec![0; words * code::PER_WORD],
            values: vec![0.0; dimension.next_multiple_of(BLOCK)],
        }
    }
}

impl Table {
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            coarse: Plane::default(),
            finer: Plane::default(),
            finest: Vec::new(),
            rest: Vec::new(),
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
            finer: self.finer.blocks(),
            finest: &self.finest,
            rest: &self.rest,
            ids: &self.ids,
            owners: &self.owners,
            ordered: self.ordered,
        }
    }

    pub fn nbytes(&self) -> usize {
        let Plane { words, bounds } = &self.coarse;
        let planes = 2 * (words.capacity() + bounds.capacity());
        let ids = self.ids.capacity() + self.owners.capacity();
        let numbers = planes + ids + self.finest.capacity();
        let rest = self.rest.capacity() * size_of::<Finest>();
        numbers * size_of::<u32>() + rest
    }

    /// Make room, so that so many rows can be added without asking for more.
    pub fn reserve(&mut self, rows: usize) -> Result<(), TryReserveError> {
        let words = code::words(self.dimension);
        self.coarse.reserve(self.ids.len() + rows, words)?;
        self.finer.reserve(self.ids.len() + rows, words)?;
        make_room(&mut self.finest, rows * code::finest_words(self.dimension))?;
        make_room(&mut self.rest, rows)?;
        make_room(&mut self.ids, rows)?;
        make_room(&mut self.owners, rows)
    }

    /// Add the code of a unit vector.
    pub fn push(&mut self, id: u32, owner: u32, unit: &[f32]) {
        let Scratch {
            coarse,
            finer,
            codes,
            ..
        } = &mut self.scratch;
        coarse.fill(0);
        finer.fill(0);
        let start = self.finest.len();
        self.finest
            .resize(start + code::finest_words(self.dimension), 0);
        let planes = Planes {
            coarse,
            finer,
            finest: &mut self.finest[start..],
        };
        let bounds = code::encode(unit, planes, codes);
        self.finish(id, owner, bounds);
    }

    /// Add a row of another table of the same dimension.
    pub fn push_row(&mut self, other: &Slices<'_>, row: usize) {
        other.coarse.read(row, &mut self.scratch.coarse);
        other.finer.read(row, &mut self.scratch.finer);
        self.finest.extend_from_slice(other.finest(row));
        let bounds = Bounds {
            coarse: other.coarse.bounds[row],
            finer: other.finer.bounds[row],
            finest: other.rest[row],
        };
        self.finish(other.ids[row], other.owners[row], bounds);
    }

    /// Let nothing be near to a row any more.
    pub fn hide(&mut self, row: usize) {
        self.coarse.bounds[row] = NOTHING;
    }

    fn finish(&mut self, id: u32, owner: u32, bounds: Bounds) {
        let row = self.ids.len();
        self.coarse.write(row, &self.scratch.coarse, bounds.coarse);
        self.finer.write(row, &self.scratch.finer, bounds.finer);
        self.rest.push(bounds.finest);
        self.ordered &= self.owners.last().is_none_or(|last| *last <= owner);
        self.ids.push(id);
        self.owners.push(owner);
    }
}

/// By an eighth at least, so that adding row by row does not copy all of them each time, and the
/// room to grow stays small.
fn make_room<T>(numbers: &mut Vec<T>, more: usize) -> Result<(), TryReserveError> {
    if numbers.capacity() - numbers.len() >= more {
        return Ok(());
    }
    numbers.try_reserve_exact(more.max(numbers.len() / 8))
}

/// Rows in a file, ordered by their owners.
pub(super) struct File {
    dimension: usize,
    /// Words and bounds of the coarse plane, and of the finer one.
    planes: [(Numbers<u32>, Numbers<Packed>); 2],
    finest: Numbers<u32>,
    rest: Numbers<Finest>,
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
            planes: [
                (file.numbers(1)?, file.numbers(2)?),
                (file.numbers(3)?, file.numbers(4)?),
            ],
            finest: file.numbers(5)?,
            rest: file.numbers(6)?,
            ids: file.numbers(7)?,
            owners: file.numbers(8)?,
        };
        if table.agrees() {
            Ok(table)
        } else {
            Err(Refused::Damaged)
        }
    }

    /// Whether the sections are as long as the number of rows wants them.
    fn agrees(&self) -> bool {
        let rows = self.ids.len();
        let room = rows.next_multiple_of(ROWS);
        let words = room * code::words(self.dimension);
        (1..=super::MOST_DIMENSIONS).contains(&self.dimension)
            && self
                .planes
                .iter()
                .all(|(plane, bounds)| plane.len() == words && bounds.len() == room)
            && self.finest.len() == rows * code::finest_words(self.dimension)
            && self.rest.len() == rows
            && self.owners.len() == rows
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    pub fn slices<'a>(&'a self) -> Slices<'a> {
        let [coarse, finer] = &self.planes;
        let blocks =
            |(words, bounds): &'a (Numbers<u32>, Numbers<Packed>)| Blocks { words, bounds };
        Slices {
            dimension: self.dimension,
            coarse: blocks(coarse),
            finer: blocks(finer),
            finest: &self.finest,
            rest: &self.rest,
            ids: &self.ids,
            owners: &self.owners,
            ordered: true,
        }
    }
}
