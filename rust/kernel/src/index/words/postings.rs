//! Which rows have a term and how often: blocks of 128 that can be read one by one.
//!
//! For each block the index stores the last id, the largest count and the smallest length of its
//! rows. The latter two bound the score of all of them, even after the number of rows and their
//! mean length have changed. The term's positions in the rows are in a separate stream, which only
//! phrases read.

use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::Arc;

use super::bits::{self, BLOCK};
use crate::index::mapped::{Mapped, Numbers, Refused};

/// The blocks of all terms, one after the other.
#[derive(Default)]
pub(crate) struct Blocks {
    lasts: Numbers<u32>,
    most: Numbers<u32>,
    shortest: Numbers<u32>,
    starts: Numbers<u64>,
    packed: Numbers<u8>,
    position_starts: Numbers<u64>,
    positions: Numbers<u8>,
}

impl Blocks {
    /// How many sections of a file they take.
    pub const SECTIONS: usize = 7;

    pub fn sections(&self) -> [&[u8]; Self::SECTIONS] {
        [
            self.lasts.bytes(),
            self.most.bytes(),
            self.shortest.bytes(),
            self.starts.bytes(),
            self.packed.bytes(),
            self.position_starts.bytes(),
            self.positions.bytes(),
        ]
    }

    /// Read from a file, starting at a section.
    pub fn open(file: &Arc<Mapped>, first: usize) -> Result<Self, Refused> {
        let blocks = Self {
            lasts: file.numbers(first)?,
            most: file.numbers(first + 1)?,
            shortest: file.numbers(first + 2)?,
            starts: file.numbers(first + 3)?,
            packed: file.numbers(first + 4)?,
            position_starts: file.numbers(first + 5)?,
            positions: file.numbers(first + 6)?,
        };
        let count = blocks.len();
        let lengths = [
            blocks.most.len(),
            blocks.shortest.len(),
            blocks.starts.len(),
            blocks.position_starts.len(),
        ];
        if lengths.iter().any(|length| *length != count) {
            return Err(Refused::Damaged);
        }
        Ok(blocks)
    }

    pub fn len(&self) -> usize {
        self.lasts.len()
    }

    pub fn nbytes(&self) -> usize {
        let small = [&self.lasts, &self.most, &self.shortest];
        let starts = [&self.starts, &self.position_starts];
        let bytes = [&self.packed, &self.positions];
        small.map(Numbers::nbytes).iter().sum::<usize>()
            + starts.map(Numbers::nbytes).iter().sum::<usize>()
            + bytes.map(Numbers::nbytes).iter().sum::<usize>()
    }

    /// Bytes that postings and positions take.
    pub fn stream_bytes(&self) -> (usize, usize) {
        (self.packed.len(), self.positions.len())
    }

    /// The postings in a range of blocks, which have `rows` rows.
    pub fn postings(&self, blocks: Range<usize>, rows: usize) -> Postings<'_> {
        Postings {
            rows,
            lasts: &self.lasts[blocks.clone()],
            most: &self.most[blocks.clone()],
            shortest: &self.shortest[blocks.clone()],
            starts: &self.starts[blocks.clone()],
            packed: &self.packed,
            position_starts: &self.position_starts[blocks],
            positions: &self.positions,
        }
    }
}

/// The rows of one term, from the smallest id.
#[derive(Clone, Copy)]
pub(crate) struct Postings<'a> {
    pub rows: usize,
    /// The last id of each block.
    pub lasts: &'a [u32],
    most: &'a [u32],
    shortest: &'a [u32],
    starts: &'a [u64],
    packed: &'a [u8],
    position_starts: &'a [u64],
    positions: &'a [u8],
}

impl<'a> Postings<'a> {
    /// The largest count in a block, and the smallest length of a row in it.
    pub fn best(&self, block: usize) -> (u32, u32) {
        (self.most[block], self.shortest[block])
    }

    /// How many rows there are up to an id.
    pub fn rows_until(&self, until: u32) -> usize {
        let block = self.block_of(until);
        if block == self.lasts.len() {
            return self.rows;
        }
        let (mut ids, mut counts) = (Vec::new(), Vec::new());
        self.read(block, &mut ids, &mut counts);
        block * BLOCK + ids.partition_point(|id| *id <= until)
    }

    /// The first block that may have an id at or after this one.
    pub fn block_of(&self, id: u32) -> usize {
        self.lasts.partition_point(|last| *last < id)
    }

    /// Append a block's ids and counts.
    pub fn read(&self, block: usize, ids: &mut Vec<u32>, counts: &mut Vec<u32>) {
        let (from, rows) = (ids.len(), BLOCK.min(self.rows - block * BLOCK));
        ids.resize(from + rows, 0);
        counts.resize(from + rows, 0);
        let (ids, counts) = (&mut ids[from..], &mut counts[from..]);
        let mut bytes = &self.packed[self.starts[block] as usize..];
        if rows == BLOCK {
            let (gaps, more) = (bytes[0], bytes[1]);
            let (packed_ids, packed_counts) = bytes[2..].split_at(bits::packed_bytes(gaps));
            bits::unpack(packed_ids, gaps, ids);
            bits::unpack(packed_counts, more, counts);
        } else {
            for (id, count) in ids.iter_mut().zip(&mut *counts) {
                *id = bits::read_varint(&mut bytes);
                *count = bits::read_varint(&mut bytes);
            }
        }
        let mut next = match block {
            0 => 0,
            _ => self.lasts[block - 1].wrapping_add(1),
        };
        for (id, count) in ids.iter_mut().zip(counts) {
            *id = id.wrapping_add(next);
            next = id.wrapping_add(1);
            *count += 1;
        }
    }

    /// The block's positions, which [`read_positions`] reads row by row.
    pub fn positions(&self, block: usize) -> &'a [u8] {
        &self.positions[self.position_starts[block] as usize..]
    }
}

/// Append the ascending positions of one row to a stream.
pub(crate) fn write_positions(positions: &[u32], bytes: &mut Vec<u8>) {
    let mut before = 0;
    for position in positions {
        bits::write_varint(position - before, bytes);
        before = *position;
    }
}

/// Read the positions of one row, and advance past them.
pub(crate) fn read_positions(bytes: &mut &[u8], count: u32, positions: &mut Vec<u32>) {
    let mut position = 0_u32;
    for _ in 0..count {
        position = position.wrapping_add(bits::read_varint(bytes));
        positions.push(position);
    }
}

/// Advance past the positions of one row; returns them encoded.
pub(crate) fn skip_positions<'a>(bytes: &mut &'a [u8], count: u32) -> &'a [u8] {
    let all = *bytes;
    for _ in 0..count {
        bits::read_varint(bytes);
    }
    &all[..all.len() - bytes.len()]
}

/// Writes the blocks of one term after the other.
#[derive(Default)]
pub(crate) struct Writer {
    lasts: Vec<u32>,
    most: Vec<u32>,
    shortest: Vec<u32>,
    starts: Vec<u64>,
    packed: Vec<u8>,
    position_starts: Vec<u64>,
    positions: Vec<u8>,
    block: Block,
    /// The smallest id that may come next.
    next: u32,
}

/// The block that is being filled.
#[derive(Default)]
struct Block {
    gaps: Vec<u32>,
    more: Vec<u32>,
    shortest: u32,
    positions: u64,
}

impl Writer {
    /// Reserve memory for blocks, and for bytes of postings and of positions.
    pub fn with_room(
        blocks: usize,
        packed: usize,
        positions: usize,
    ) -> Result<Self, TryReserveError> {
        let mut writer = Self::default();
        for numbers in [&mut writer.lasts, &mut writer.most, &mut writer.shortest] {
            numbers.try_reserve_exact(blocks)?;
        }
        writer.starts.try_reserve_exact(blocks)?;
        writer.position_starts.try_reserve_exact(blocks)?;
        writer.packed.try_reserve_exact(packed)?;
        writer.positions.try_reserve_exact(positions)?;
        Ok(writer)
    }

    /// Blocks that are complete.
    pub fn len(&self) -> usize {
        self.lasts.len()
    }

    /// Add a row to the term; ids must ascend. `positions` are encoded by [`write_positions`].
    pub fn push(&mut self, id: u32, count: u32, length: u32, positions: &[u8]) {
        if self.block.gaps.is_empty() {
            self.block.shortest = length;
            self.block.positions = self.positions.len() as u64;
        }
        self.block.gaps.push(id - self.next);
        self.block.more.push(count - 1);
        self.block.shortest = self.block.shortest.min(length);
        self.positions.extend_from_slice(positions);
        self.next = id.wrapping_add(1);
        if self.block.gaps.len() == BLOCK {
            self.end_block();
        }
    }

    /// The term has no more rows.
    pub fn end_term(&mut self) {
        if !self.block.gaps.is_empty() {
            self.end_block();
        }
        self.next = 0;
    }

    fn end_block(&mut self) {
        let Block { gaps, more, .. } = &self.block;
        self.starts.push(self.packed.len() as u64);
        if gaps.len() == BLOCK {
            let widths = [bits::width(gaps), bits::width(more)];
            self.packed.extend(widths);
            bits::pack(gaps, widths[0], &mut self.packed);
            bits::pack(more, widths[1], &mut self.packed);
        } else {
            for (gap, more) in gaps.iter().zip(more) {
                bits::write_varint(*gap, &mut self.packed);
                bits::write_varint(*more, &mut self.packed);
            }
        }
        self.lasts.push(self.next.wrapping_sub(1));
        self.most.push(more.iter().max().map_or(0, |more| more + 1));
        self.shortest.push(self.block.shortest);
        self.position_starts.push(self.block.positions);
        self.block.gaps.clear();
        self.block.more.clear();
    }

    pub fn finish(self) -> Blocks {
        Blocks {
            lasts: self.lasts.into(),
            most: self.most.into(),
            shortest: self.shortest.into(),
            starts: self.starts.into(),
            packed: self.packed.into(),
            position_starts: self.position_starts.into(),
            positions: self.positions.into(),
        }
    }
}
