//! The best rows of a segment: block-max MaxScore, a window of ids at a time, the newest first.
//!
//! In each window, the phrases that even together cannot lift a row above the worst one kept are
//! set aside; the rows of the other phrases are read and their parts added up. If a row's sum, plus
//! the most that the phrases set aside can add, reaches the worst one kept, it is looked up in
//! those as well, and then scored again, phrase by phrase in the order of the query, so that its
//! score does not depend on the walk. A window without a visible row, or whose best possible row
//! could not be kept, is not read at all.

use std::ops::Range;

use super::best::{Best, Scored};
use super::bm25::{Bm25, Fast};
use super::cursor::Cursor;
use super::dead::Dead;
use super::phrase::Found;
use crate::index::ids::Ids;

/// Ids per window: their sums fit into the fastest cache.
const WINDOW: usize = 2048;

const BITS: usize = u64::BITS as usize;

/// Looking up a row costs as much as walking past this many.
const WALKED_PER_LOOKUP: usize = 8;

/// The phrases of a query, with their weights.
pub(crate) struct Scorer {
    pub bm25: Bm25,
    /// Of each distinct phrase.
    pub idfs: Vec<f64>,
    /// The query's phrases, as indexes of distinct ones.
    pub order: Vec<usize>,
}

impl Scorer {
    /// The score of a row, from the counts of the distinct phrases.
    pub fn score(&self, counts: &[u32], length: u32) -> f64 {
        self.sum(|phrase| match counts[phrase] {
            0 => 0.0,
            count => self.part(phrase, count, length),
        })
    }

    pub fn part(&self, phrase: usize, count: u32, length: u32) -> f64 {
        self.bm25.part(self.idfs[phrase], count, length)
    }

    /// Add up in the order of the query, as FTS5 does.
    fn sum(&self, part: impl Fn(usize) -> f64) -> f64 {
        self.order.iter().map(|phrase| part(*phrase)).sum()
    }

    /// How often the query has a distinct phrase.
    fn times(&self, phrase: usize) -> f64 {
        self.order.iter().filter(|other| **other == phrase).count() as f64
    }
}

/// The rows of a segment.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// How many tokens a row has, by id.
    pub lengths: &'a [u32],
    pub dead: &'a Dead,
    pub visible: Option<&'a Ids>,
}

impl Rows<'_> {
    fn show(&self, id: u32) -> bool {
        self.visible.is_none_or(|visible| visible.contains(id)) && !self.dead.contains(id)
    }
}

/// Offer all rows that may be among the best. `found` is by distinct phrase.
pub(crate) fn walk(scorer: &Scorer, rows: Rows<'_>, found: &[Option<Found<'_>>], best: &mut Best) {
    let lists = found
        .iter()
        .enumerate()
        .filter_map(|(phrase, found)| Some((phrase, found.as_ref()?.postings())));
    let walked: usize = lists.clone().map(|(_, postings)| postings.rows).sum();
    if let Some(visible) = rows.visible
        && visible.len() * lists.clone().count() * WALKED_PER_LOOKUP < walked
    {
        let mut cursors: Vec<_> = lists
            .map(|(phrase, postings)| (phrase, Cursor::anywhere(postings)))
            .collect();
        return look_up(scorer, rows, visible, &mut cursors, best);
    }
    let lists: Vec<List<'_>> = lists
        .map(|(phrase, postings)| List {
            phrase,
            times: scorer.times(phrase),
            weight: Fast::weight(scorer.idfs[phrase] * scorer.times(phrase)),
            bound: 0.0,
            cursor: Cursor::above(postings),
        })
        .collect();
    if !lists.is_empty() {
        Walk::new(scorer, rows, lists).run(best);
    }
}

/// If few rows are visible: score each of them.
fn look_up(
    scorer: &Scorer,
    rows: Rows<'_>,
    visible: &Ids,
    cursors: &mut [(usize, Cursor<'_>)],
    best: &mut Best,
) {
    let mut counts = vec![0; scorer.idfs.len()];
    for id in visible.iter().filter(|id| !rows.dead.contains(*id)) {
        for (phrase, cursor) in &mut *cursors {
            counts[*phrase] = cursor.count(id);
        }
        if counts.iter().any(|count| *count > 0) {
            let score = scorer.score(&counts, rows.lengths[id as usize]);
            best.offer(Scored { id, score });
        }
    }
}

/// The rows of one phrase.
struct List<'a> {
    phrase: usize,
    /// How often it occurs in the query.
    times: f64,
    weight: f64,
    /// The most it can add to a row of the window, for all its occurrences in the query.
    bound: f64,
    cursor: Cursor<'a>,
}

struct Walk<'a> {
    scorer: &'a Scorer,
    rows: Rows<'a>,
    fast: Fast,
    lists: Vec<List<'a>>,
    /// The lists by ascending bound, and the sums of the bounds before each.
    order: Vec<usize>,
    before: Vec<f64>,
    /// By distinct phrase: the most it can add once, and its count in the current row.
    bounds: Vec<f64>,
    counts: Vec<u32>,
    /// By place in the window; zero for rows without any phrase.
    sums: Vec<f64>,
    touched: [u64; WINDOW / BITS],
    /// Sums are off by less than this factor, whatever their order.
    slack: f64,
}

impl<'a> Walk<'a> {
    fn new(scorer: &'a Scorer, rows: Rows<'a>, lists: Vec<List<'a>>) -> Self {
        let phrases = scorer.idfs.len();
        Self {
            fast: scorer.bm25.fast(),
            order: (0..lists.len()).collect(),
            before: vec![0.0; lists.len() + 1],
            bounds: vec![0.0; phrases],
            counts: vec![0; phrases],
            sums: vec![0.0; WINDOW],
            touched: [0; WINDOW / BITS],
            slack: 1.0 + 4.0 * f64::EPSILON * (scorer.order.len() + 8) as f64,
            scorer,
            rows,
            lists,
        }
    }

    fn run(&mut self, best: &mut Best) {
        let lasts = self
            .lists
            .iter()
            .filter_map(|list| list.cursor.postings.lasts.last());
        let mut end = lasts.max().map_or(0, |last| *last as usize + 1);
        while end > 0 {
            let window = (end - 1) / WINDOW * WINDOW..end;
            end = window.start;
            let ids = match self.rows.visible {
                Some(visible) => visible.within(window),
                None => window,
            };
            if ids.is_empty() {
                continue;
            }
            self.bound(&ids);
            let most = Scored {
                id: (ids.end - 1) as u32,
                score: self.scorer.sum(|phrase| self.bounds[phrase]),
            };
            if best.admits(most) {
                let set_aside = self.set_aside(best.floor());
                self.add_up(&ids, set_aside);
                self.choose(ids.start, set_aside, best);
            }
        }
    }

    /// Find the most that each phrase can add to a row of a window.
    fn bound(&mut self, ids: &Range<usize>) {
        for list in &mut self.lists {
            let blocks = list.cursor.narrow(ids);
            let part = |block| {
                let (count, length) = list.cursor.postings.best(block);
                self.scorer.part(list.phrase, count, length)
            };
            let bound = blocks.map(part).fold(0.0, f64::max);
            self.bounds[list.phrase] = bound;
            list.bound = bound * list.times;
        }
        let lists = &self.lists;
        self.order
            .sort_unstable_by(|left, right| lists[*left].bound.total_cmp(&lists[*right].bound));
        for (place, list) in self.order.iter().enumerate() {
            self.before[place + 1] = self.before[place] + lists[*list].bound;
        }
    }

    /// How many lists, from the lowest bound, cannot lift a row to the floor together.
    fn set_aside(&self, floor: f64) -> usize {
        let cannot = |before: &f64| before * self.slack < floor;
        self.before[1..].partition_point(cannot)
    }

    /// Add up the parts of the other lists for each row of the window.
    fn add_up(&mut self, ids: &Range<usize>, set_aside: usize) {
        for list in &self.order[set_aside..] {
            let List { weight, cursor, .. } = &mut self.lists[*list];
            let (rows, counts) = cursor.rows(ids);
            for (id, count) in rows.iter().zip(counts) {
                let place = *id as usize - ids.start;
                let length = self.rows.lengths[*id as usize];
                self.sums[place] += self.fast.part(*weight, *count, length);
                self.touched[place / BITS] |= 1 << (place % BITS);
            }
        }
    }

    /// Offer the rows that may be kept, from the largest id; reset all sums.
    fn choose(&mut self, start: usize, set_aside: usize, best: &mut Best) {
        for word in (0..self.touched.len()).rev() {
            let mut bits = std::mem::take(&mut self.touched[word]);
            while bits != 0 {
                let bit = BITS - 1 - bits.leading_zeros() as usize;
                bits &= !(1 << bit);
                let place = word * BITS + bit;
                let sum = std::mem::take(&mut self.sums[place]);
                let id = (start + place) as u32;
                if (sum + self.before[set_aside]) * self.slack >= best.floor()
                    && self.rows.show(id)
                    && self.reaches(id, sum, set_aside, best.floor())
                {
                    self.offer(id, set_aside, best);
                }
            }
        }
    }

    /// Look a row up in the lists that were set aside, until it cannot reach the floor.
    fn reaches(&mut self, id: u32, mut sum: f64, set_aside: usize, floor: f64) -> bool {
        let length = self.rows.lengths[id as usize];
        for place in (0..set_aside).rev() {
            if (sum + self.before[place + 1]) * self.slack < floor {
                return false;
            }
            let list = &mut self.lists[self.order[place]];
            let count = list.cursor.count(id);
            self.counts[list.phrase] = count;
            if count > 0 {
                sum += self.fast.part(list.weight, count, length);
            }
        }
        sum * self.slack >= floor
    }

    /// Score a row whose counts in the lists set aside are known.
    fn offer(&mut self, id: u32, set_aside: usize, best: &mut Best) {
        for list in &self.order[set_aside..] {
            let list = &mut self.lists[*list];
            self.counts[list.phrase] = list.cursor.count(id);
        }
        let score = self
            .scorer
            .score(&self.counts, self.rows.lengths[id as usize]);
        best.offer(Scored { id, score });
    }
}
