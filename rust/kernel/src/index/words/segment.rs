//! An immutable set of rows: a dictionary and the postings of its terms.
//!
//! Rows that are dropped or replaced later are recorded in its `Dead`.

use std::collections::TryReserveError;
use std::sync::Arc;

use super::postings::{self, Blocks, Postings};
use super::terms::{self, Terms};
use crate::index::mapped::{Mapped, Numbers, Refused};

/// Terms, and for each its postings.
#[derive(Default)]
pub(crate) struct Segment {
    terms: Terms,
    /// How many rows have a term.
    rows: Numbers<u32>,
    /// The first block of a term, and at the end their number.
    first_blocks: Numbers<u32>,
    blocks: Blocks,
}

impl Segment {
    pub fn sections(&self) -> Vec<&[u8]> {
        let mut sections = self.terms.sections().to_vec();
        sections.extend([self.rows.bytes(), self.first_blocks.bytes()]);
        sections.extend(self.blocks.sections());
        sections
    }

    /// Read from a file, starting at a section.
    pub fn open(file: &Arc<Mapped>, first: usize) -> Result<Self, Refused> {
        let own = first + Terms::SECTIONS;
        let segment = Self {
            terms: Terms::open(file, first)?,
            rows: file.numbers(own)?,
            first_blocks: file.numbers(own + 1)?,
            blocks: Blocks::open(file, own + 2)?,
        };
        let terms = segment.terms.len();
        let whole = segment.rows.len() == terms
            && segment.first_blocks.len() == terms + 1
            && segment.first_blocks.last().copied() == u32::try_from(segment.blocks.len()).ok();
        if whole {
            Ok(segment)
        } else {
            Err(Refused::Damaged)
        }
    }

    pub fn nbytes(&self) -> usize {
        let own = self.rows.nbytes() + self.first_blocks.nbytes();
        own + self.terms.nbytes() + self.blocks.nbytes()
    }

    /// The cost of merging it: bytes of postings and positions.
    pub fn weight(&self) -> usize {
        let (packed, positions) = self.blocks.stream_bytes();
        packed + positions
    }

    pub fn postings(&self, term: &[u8]) -> Option<Postings<'_>> {
        self.terms.find(term).map(|number| self.of(number))
    }

    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    fn of(&self, term: usize) -> Postings<'_> {
        let blocks = self.first_blocks[term] as usize..self.first_blocks[term + 1] as usize;
        self.blocks.postings(blocks, self.rows[term] as usize)
    }
}

/// Writes a segment, term by term in their order.
pub(crate) struct Writer {
    terms: terms::Writer,
    rows: Vec<u32>,
    first_blocks: Vec<u32>,
    blocks: postings::Writer,
    pushed: u32,
}

impl Writer {
    /// Reserve memory for terms of this many bytes, and for the postings.
    pub fn with_room(
        terms: (usize, usize),
        (blocks, packed, positions): (usize, usize, usize),
    ) -> Result<Self, TryReserveError> {
        let mut writer = Self {
            terms: terms::Writer::with_room(terms.0, terms.1)?,
            rows: Vec::new(),
            first_blocks: Vec::new(),
            blocks: postings::Writer::with_room(blocks, packed, positions)?,
            pushed: 0,
        };
        writer.rows.try_reserve_exact(terms.0)?;
        writer.first_blocks.try_reserve_exact(terms.0 + 1)?;
        Ok(writer)
    }

    /// Add a row to the term that [`Writer::end_term`] names next; ids must ascend.
    pub fn push(&mut self, id: u32, count: u32, length: u32, positions: &[u8]) {
        if self.pushed == 0 {
            self.first_blocks.push(self.blocks.len() as u32);
        }
        self.blocks.push(id, count, length, positions);
        self.pushed += 1;
    }

    /// Name the term of the rows added since the last one. A term without rows is left out.
    pub fn end_term(&mut self, term: &[u8]) {
        if self.pushed == 0 {
            return;
        }
        self.terms.push(term);
        self.rows.push(self.pushed);
        self.blocks.end_term();
        self.pushed = 0;
    }

    pub fn finish(mut self) -> Segment {
        self.first_blocks.push(self.blocks.len() as u32);
        Segment {
            terms: self.terms.finish(),
            rows: self.rows.into(),
            first_blocks: self.first_blocks.into(),
            blocks: self.blocks.finish(),
        }
    }
}

/// A row's place in the postings of a term, while segments are merged.
struct Entry<'a> {
    id: u32,
    count: u32,
    positions: &'a [u8],
}

/// Merge several segments into one, without their dead rows.
///
/// `sees` is called with the number of a segment and an id.
pub(crate) fn merge(
    segments: &[&Segment],
    sees: impl Fn(usize, u32) -> bool,
    lengths: &[u32],
) -> Result<Segment, TryReserveError> {
    let mut writer = room_for(segments)?;
    let mut next = vec![0; segments.len()];
    let mut entries = Vec::new();
    let mut read = (Vec::new(), Vec::new());
    while let Some(term) = smallest(segments, &next) {
        entries.clear();
        for (index, segment) in segments.iter().enumerate() {
            if next[index] == segment.terms.len() || segment.terms.get(next[index]) != term {
                continue;
            }
            let postings = segment.of(next[index]);
            gather(&postings, terms::is_pair(term), &mut read, |entry| {
                if sees(index, entry.id) {
                    entries.push(entry);
                }
            });
            next[index] += 1;
        }
        if !entries.is_sorted_by_key(|entry| entry.id) {
            entries.sort_unstable_by_key(|entry| entry.id);
        }
        for Entry {
            id,
            count,
            positions,
        } in entries.iter()
        {
            writer.push(*id, *count, lengths[*id as usize], positions);
        }
        writer.end_term(term);
    }
    Ok(writer.finish())
}

/// Reserve as much as all of them take and a little more, because postings are repacked.
fn room_for(segments: &[&Segment]) -> Result<Writer, TryReserveError> {
    let sum = |of: fn(&Segment) -> usize| segments.iter().map(|segment| of(segment)).sum::<usize>();
    let packed = sum(|segment| segment.blocks.stream_bytes().0);
    Writer::with_room(
        (
            sum(|segment| segment.terms.len()),
            sum(|segment| segment.terms.text_bytes()),
        ),
        (
            sum(|segment| segment.blocks.len()),
            packed + packed / 8,
            sum(|segment| segment.blocks.stream_bytes().1),
        ),
    )
}

fn smallest<'a>(segments: &[&'a Segment], next: &[usize]) -> Option<&'a [u8]> {
    let waiting = segments.iter().zip(next);
    waiting
        .filter(|(segment, next)| **next < segment.terms.len())
        .map(|(segment, next)| segment.terms.get(*next))
        .min()
}

fn gather<'a>(
    postings: &Postings<'a>,
    is_pair: bool,
    (ids, counts): &mut (Vec<u32>, Vec<u32>),
    mut take: impl FnMut(Entry<'a>),
) {
    for block in 0..postings.lasts.len() {
        ids.clear();
        counts.clear();
        postings.read(block, ids, counts);
        let mut bytes = postings.positions(block);
        for (id, count) in ids.iter().zip(&*counts) {
            let written = if is_pair { 0 } else { *count };
            take(Entry {
                id: *id,
                count: *count,
                positions: postings::skip_positions(&mut bytes, written),
            });
        }
    }
}
