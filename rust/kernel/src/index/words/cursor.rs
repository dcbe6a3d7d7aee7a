//! Reading the postings of one term, by row or in windows from the largest id down.

use std::ops::Range;

use super::postings::Postings;

/// A position in the postings of a term, and the blocks read last.
pub(crate) struct Cursor<'a> {
    pub postings: Postings<'a>,
    /// The blocks to search.
    window: Range<usize>,
    /// The blocks that `ids` and `counts` come from.
    read: Range<usize>,
    ids: Vec<u32>,
    counts: Vec<u32>,
}

impl<'a> Cursor<'a> {
    /// A cursor for looking up any row.
    pub fn anywhere(postings: Postings<'a>) -> Self {
        Self {
            window: 0..postings.lasts.len(),
            ..Self::above(postings)
        }
    }

    /// A cursor that is moved through windows of ids, from the largest down.
    pub fn above(postings: Postings<'a>) -> Self {
        let blocks = postings.lasts.len();
        Self {
            postings,
            window: blocks..blocks,
            read: 0..0,
            ids: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Move to a lower window of ids; returns the blocks that may have some of them.
    pub fn narrow(&mut self, ids: &Range<usize>) -> Range<usize> {
        let lasts = self.postings.lasts;
        let Range { mut start, .. } = self.window;
        while start > 0 && lasts[start - 1] as usize >= ids.end {
            start -= 1;
        }
        let reaches_below =
            start < lasts.len() && (start == 0 || (lasts[start - 1] as usize) + 1 < ids.end);
        let end = start + usize::from(reaches_below);
        while start > 0 && lasts[start - 1] as usize >= ids.start {
            start -= 1;
        }
        self.window = start..end;
        self.window.clone()
    }

    /// The rows of the window, and how often each has the term.
    pub fn rows(&mut self, ids: &Range<usize>) -> (&[u32], &[u32]) {
        let Range { start, end } = self.window;
        if start < self.read.start || end > self.read.end {
            self.read(self.window.clone());
        }
        let from = self.ids.partition_point(|id| (*id as usize) < ids.start);
        let to = self.ids.partition_point(|id| (*id as usize) < ids.end);
        (&self.ids[from..to], &self.counts[from..to])
    }

    /// How often a row within the window has the term.
    pub fn count(&mut self, id: u32) -> u32 {
        let Range { start, end } = self.window;
        let block = start + self.postings.lasts[start..end].partition_point(|last| *last < id);
        if block == end {
            return 0;
        }
        if !self.read.contains(&block) {
            self.read(block..block + 1);
        }
        self.ids
            .binary_search(&id)
            .map_or(0, |found| self.counts[found])
    }

    fn read(&mut self, blocks: Range<usize>) {
        self.ids.clear();
        self.counts.clear();
        for block in blocks.clone() {
            self.postings.read(block, &mut self.ids, &mut self.counts);
        }
        self.read = blocks;
    }
}
