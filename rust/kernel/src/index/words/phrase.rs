//! The rows of a segment that have a phrase.

use super::dead::Dead;
use super::postings::{self, Blocks, Postings};
use super::segment::Segment;
use super::terms;

/// The rows of a segment with a phrase.
pub(crate) enum Found<'a> {
    /// Of one term: its postings, some of whose rows up to an id are dead.
    Term { postings: Postings<'a>, dead: usize },
    /// Of several terms: computed, with living rows only.
    Phrase { blocks: Blocks, rows: usize },
}

impl<'a> Found<'a> {
    /// Look for a phrase; `None` if no row has it.
    pub fn of(
        phrase: &[&[u8]],
        segment: &'a Segment,
        dead: &Dead,
        lengths: &[u32],
        until: u32,
    ) -> Option<Self> {
        let of_term = |term: &[u8]| {
            let postings = segment.postings(term)?;
            let dead = dead.among(term, &postings, until);
            Some(Self::Term { postings, dead })
        };
        match phrase {
            [] => None,
            [term] => of_term(term),
            [left, right] if let Some(pair) = terms::pair(left, right) => of_term(&pair),
            _ => of_neighbours(phrase, segment, dead, lengths),
        }
    }

    pub fn postings(&self) -> Postings<'_> {
        match self {
            Self::Term { postings, .. } => *postings,
            Self::Phrase { blocks, rows } => blocks.postings(0..blocks.len(), *rows),
        }
    }

    /// How many living rows up to the id that it was looked for with have it.
    pub fn frequency(&self, until: u32) -> usize {
        let rows = self.postings().rows_until(until);
        match self {
            Self::Term { dead, .. } => rows - dead,
            Self::Phrase { .. } => rows,
        }
    }
}

/// Walk the rarest term's rows, and compare the positions of the terms in them.
fn of_neighbours<'a>(
    phrase: &[&[u8]],
    segment: &'a Segment,
    dead: &Dead,
    lengths: &[u32],
) -> Option<Found<'a>> {
    let found: Option<Vec<_>> = phrase.iter().map(|term| segment.postings(term)).collect();
    let mut terms: Vec<Places<'_>> = found?.into_iter().map(Places::new).collect();
    let rarest = (0..terms.len()).min_by_key(|term| terms[*term].postings.rows)?;
    let (mut writer, mut rows) = (postings::Writer::default(), 0);
    let (mut ids, mut counts) = (Vec::new(), Vec::new());
    for block in 0..terms[rarest].postings.lasts.len() {
        ids.clear();
        counts.clear();
        terms[rarest].postings.read(block, &mut ids, &mut counts);
        for id in ids.iter().copied().filter(|id| !dead.contains(*id)) {
            let count = occurrences(&mut terms, id);
            if count > 0 {
                writer.push(id, count, lengths[id as usize], &[]);
                rows += 1;
            }
        }
    }
    writer.end_term();
    let blocks = writer.finish();
    (rows > 0).then_some(Found::Phrase { blocks, rows })
}

/// How often the terms are consecutive in a row.
fn occurrences(terms: &mut [Places<'_>], id: u32) -> u32 {
    if !terms.iter_mut().all(|term| term.read(id)) {
        return 0;
    }
    let Some((first, others)) = terms.split_first() else {
        return 0;
    };
    let follows = |start: u32, (term, behind): (&Places<'_>, u32)| {
        term.found.binary_search(&(start + behind)).is_ok()
    };
    let begins = |start: &&u32| others.iter().zip(1..).all(|other| follows(**start, other));
    first.found.iter().filter(begins).count() as u32
}

/// The positions of a term in its rows.
struct Places<'a> {
    postings: Postings<'a>,
    /// The block that `ids` and `rows` come from.
    block: usize,
    ids: Vec<u32>,
    counts: Vec<u32>,
    /// The positions of each row of the block, encoded.
    rows: Vec<&'a [u8]>,
    /// The positions in the row read last.
    found: Vec<u32>,
}

impl<'a> Places<'a> {
    fn new(postings: Postings<'a>) -> Self {
        Self {
            postings,
            block: usize::MAX,
            ids: Vec::new(),
            counts: Vec::new(),
            rows: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Read the positions in a row; returns whether it has any.
    fn read(&mut self, id: u32) -> bool {
        self.found.clear();
        let block = self.postings.block_of(id);
        if block == self.postings.lasts.len() {
            return false;
        }
        if block != self.block {
            self.read_block(block);
        }
        let Ok(row) = self.ids.binary_search(&id) else {
            return false;
        };
        postings::read_positions(&mut { self.rows[row] }, self.counts[row], &mut self.found);
        true
    }

    fn read_block(&mut self, block: usize) {
        self.ids.clear();
        self.counts.clear();
        self.postings.read(block, &mut self.ids, &mut self.counts);
        let mut bytes = self.postings.positions(block);
        self.rows.clear();
        for count in &self.counts {
            self.rows.push(postings::skip_positions(&mut bytes, *count));
        }
        self.block = block;
    }
}
