//! Rows of codes side by side, in memory or in a file.

use std::collections::TryReserveError;
use std::sync::Arc;

use super::code::{self, Bounds, NOTHING, Planes};
use super::lanes::{Block, ROWS};
use crate::mapped::{Mapped, Numbers, Refused};

/// Rows, wherever they lie.
#[derive(Clone, Copy)]
pub(super) struct Slices<'a> {
    dimension: usize,
    /// In blocks of [`ROWS`].
    coarse: &'a [u32],
    finer: &'a [u32],
    finest: &'a [u8],
    /// As many as the blocks have room for.
    bounds: &'a [u32],
    rest: &'a [[f32; 3]],
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
        self.bounds.len() / ROWS
    }

    pub fn block(&self, block: usize) -> Block<'a> {
        let words = code::words(self.dimension) * ROWS;
        Block {
            words: &self.coarse[block * words..(block + 1) * words],
            bounds: &self.bounds.as_chunks().0[block],
        }
    }

    /// Copy a row's coarse and finer words to the front of these.
    pub fn read_finer(&self, row: usize, coarse: &mut [u32], finer: &mut [u32]) {
        let words = code::words(self.dimension);
        let block = self.block(row / ROWS).words.as_chunks::<ROWS>().0;
        for (word, block) in coarse.iter_mut().zip(block) {
            *word = block[row % ROWS];
        }
        finer[..words].copy_from_slice(&self.finer[row * words..(row + 1) * words]);
    }

    pub fn finest(&self, row: usize) -> &'a [u8] {
        let bytes = code::finest_bytes(self.dimension);
        &self.finest[row * bytes..(row + 1) * bytes]
    }

    pub fn bounds(&self, row: usize) -> Bounds {
        Bounds {
            coarse: self.bounds[row],
            rest: self.rest[row],
        }
    }

    /// What a file has to hold, in the order in which [`File::open`] asks for it.
    fn sections(&self) -> [&'a [u8]; 7] {
        [
            bytemuck::cast_slice(self.coarse),
            bytemuck::cast_slice(self.finer),
            self.finest,
            bytemuck::cast_slice(self.bounds),
            bytemuck::cast_slice(self.rest),
            bytemuck::cast_slice(self.ids),
            bytemuck::cast_slice(self.owners),
        ]
    }
}

/// Rows in memory.
pub(super) struct Table {
    dimension: usize,
    coarse: Vec<u32>,
    finer: Vec<u32>,
    finest: Vec<u8>,
    bounds: Vec<u32>,
    rest: Vec<[f32; 3]>,
    ids: Vec<u32>,
    owners: Vec<u32>,
    ordered: bool,
}

impl Table {
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            coarse: Vec::new(),
            finer: Vec::new(),
            finest: Vec::new(),
            bounds: Vec::new(),
            rest: Vec::new(),
            ids: Vec::new(),
            owners: Vec::new(),
            ordered: true,
        }
    }

    pub fn slices(&self) -> Slices<'_> {
        Slices {
            dimension: self.dimension,
            coarse: &self.coarse,
            finer: &self.finer,
            finest: &self.finest,
            bounds: &self.bounds,
            rest: &self.rest,
            ids: &self.ids,
            owners: &self.owners,
            ordered: self.ordered,
        }
    }

    pub fn nbytes(&self) -> usize {
        let words = [
            &self.coarse,
            &self.finer,
            &self.bounds,
            &self.ids,
            &self.owners,
        ];
        let words: usize = words.into_iter().map(|words| words.capacity()).sum();
        words * size_of::<u32>() + self.finest.capacity() + self.rest.capacity() * 12
    }

    /// Make room, so that so many rows can be added without asking for more.
    pub fn reserve(&mut self, rows: usize) -> Result<(), TryReserveError> {
        let (words, bytes) = (
            code::words(self.dimension),
            code::finest_bytes(self.dimension),
        );
        let blocks = (self.ids.len() + rows).div_ceil(ROWS) * ROWS - self.bounds.len();
        make_room(&mut self.coarse, blocks * words)?;
        make_room(&mut self.finer, rows * words)?;
        make_room(&mut self.finest, rows * bytes)?;
        make_room(&mut self.bounds, blocks)?;
        make_room(&mut self.rest, rows)?;
        make_room(&mut self.ids, rows)?;
        make_room(&mut self.owners, rows)
    }

    /// Add the code of a unit vector.
    pub fn push(&mut self, id: u32, owner: u32, unit: &[f32]) {
        let row = self.grow(id, owner);
        let (words, bytes) = (
            code::words(self.dimension),
            code::finest_bytes(self.dimension),
        );
        let mut coarse = vec![0; words];
        let planes = Planes {
            coarse: &mut coarse,
            finer: &mut self.finer[row * words..],
            finest: &mut self.finest[row * bytes..],
        };
        let bounds = code::encode(unit, planes);
        self.finish(row, &coarse, bounds);
    }

    /// Add a row of another table of the same dimension.
    pub fn push_row(&mut self, other: &Slices<'_>, from: usize) {
        let row = self.grow(other.ids[from], other.owners[from]);
        let (words, bytes) = (
            code::words(self.dimension),
            code::finest_bytes(self.dimension),
        );
        let mut coarse = vec![0; words];
        other.read_finer(from, &mut coarse, &mut self.finer[row * words..]);
        self.finest[row * bytes..].copy_from_slice(other.finest(from));
        self.finish(row, &coarse, other.bounds(from));
    }

    /// Let nothing be near to a row any more.
    pub fn hide(&mut self, row: usize) {
        self.bounds[row] = NOTHING.coarse;
    }

    /// Room for one more row, all zeros.
    fn grow(&mut self, id: u32, owner: u32) -> usize {
        let row = self.ids.len();
        let (words, bytes) = (
            code::words(self.dimension),
            code::finest_bytes(self.dimension),
        );
        if row == self.bounds.len() {
            self.coarse.resize(self.coarse.len() + ROWS * words, 0);
            self.bounds.resize(row + ROWS, NOTHING.coarse);
        }
        self.finer.resize((row + 1) * words, 0);
        self.finest.resize((row + 1) * bytes, 0);
        self.ordered &= self.owners.last().is_none_or(|last| *last <= owner);
        self.ids.push(id);
        self.owners.push(owner);
        row
    }

    fn finish(&mut self, row: usize, coarse: &[u32], bounds: Bounds) {
        let block = &mut self.coarse[row / ROWS * ROWS * coarse.len()..];
        for (block, word) in block.as_chunks_mut::<ROWS>().0.iter_mut().zip(coarse) {
            block[row % ROWS] = *word;
        }
        self.bounds[row] = bounds.coarse;
        self.rest.push(bounds.rest);
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
    coarse: Numbers<u32>,
    finer: Numbers<u32>,
    finest: Numbers<u8>,
    bounds: Numbers<u32>,
    rest: Numbers<[f32; 3]>,
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
            coarse: file.numbers(1)?,
            finer: file.numbers(2)?,
            finest: file.numbers(3)?,
            bounds: file.numbers(4)?,
            rest: file.numbers(5)?,
            ids: file.numbers(6)?,
            owners: file.numbers(7)?,
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
        let words = code::words(self.dimension);
        (1..=super::MOST_DIMENSIONS).contains(&self.dimension)
            && self.coarse.len() == room * words
            && self.finer.len() == rows * words
            && self.finest.len() == rows * code::finest_bytes(self.dimension)
            && self.bounds.len() == room
            && self.rest.len() == rows
            && self.owners.len() == rows
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    pub fn slices(&self) -> Slices<'_> {
        Slices {
            dimension: self.dimension,
            coarse: &self.coarse,
            finer: &self.finer,
            finest: &self.finest,
            bounds: &self.bounds,
            rest: &self.rest,
            ids: &self.ids,
            owners: &self.owners,
            ordered: true,
        }
    }
}
