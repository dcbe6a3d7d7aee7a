//! The rows that can be among the nearest to each of several queries, in one pass.
//!
//! A row's cosine with a query is bounded from ever finer planes of its code. The worst of the
//! `limit` largest lower bounds seen so far is the floor: a row whose upper bound is below it is
//! not among the nearest, whatever its cosine is. At the end, what is below the last floor is left
//! out. The last floor does not depend on who saw which row when: the rows that make it are
//! never ruled out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use super::lanes::{Lanes, ROWS};
use super::query::{Between, Query, reaching};
use super::table::{Scratch, Slices};
use super::{Codes, Part};
use crate::dot::Dot;
use crate::ids::Ids;

/// Components for which one more thread is worth its start.
const COMPONENTS_PER_THREAD: usize = 1 << 25;

/// A few cores saturate the memory of any machine; more threads would only cost their start.
const MOST_THREADS: usize = 8;

/// Blocks that a thread takes at a time.
const BLOCKS_AT_ONCE: usize = 64;

/// What is asked of the codes.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// One query after the other, each of the codes' dimension.
    pub queries: &'a [f32],
    /// How many of the nearest rows are asked for.
    pub limit: usize,
    /// Owners of the rows that may be seen; all of them if there is none.
    pub visible: Option<&'a Ids>,
}

/// For each query the ids of all rows that can be among the `limit` nearest, ascending.
///
/// Near is what has a positive cosine, as [`Dot::unit_cosine`] computes it for the unit vectors,
/// with any instruction set. Rows that may tie with the last one are all among them.
///
/// Uses as many threads as the work is worth.
///
/// # Panics
/// If `queries` is not a whole number of vectors.
#[must_use]
pub fn scan(codes: &Codes, question: &Question<'_>, lanes: &Lanes, dot: &Dot) -> Vec<Vec<u32>> {
    scan_on(codes, question, lanes, dot, None)
}

/// [`scan`] with a given number of threads, for tests and measurements.
///
/// # Panics
/// If `queries` is not a whole number of vectors.
#[must_use]
pub fn scan_on(
    codes: &Codes,
    question: &Question<'_>,
    lanes: &Lanes,
    dot: &Dot,
    threads: Option<usize>,
) -> Vec<Vec<u32>> {
    let dimension = codes.dimension();
    assert_eq!(
        question.queries.len() % dimension,
        0,
        "a whole number of queries"
    );
    let queries: Vec<_> = question
        .queries
        .chunks_exact(dimension)
        .map(Query::new)
        .collect();
    let pass = Pass {
        lanes,
        dot,
        stretches: stretches(codes, question.visible),
        next: AtomicUsize::new(0),
        limit: question.limit,
        floors: queries
            .iter()
            .map(|query| Floor::new(query.floor()))
            .collect(),
        queries,
        visible: question.visible,
        dimension,
    };
    if question.limit == 0 {
        return vec![Vec::new(); pass.queries.len()];
    }
    let threads = threads.unwrap_or_else(|| pass.threads_worth());
    let walks = pass.run(threads);
    (0..pass.queries.len())
        .map(|query| together(&walks, query, pass.floor(query)))
        .collect()
}

/// Blocks of one part that are walked.
struct Stretch<'a> {
    part: Part<'a>,
    blocks: Blocks,
}

enum Blocks {
    All(usize),
    /// Ascending.
    Some(Vec<u32>),
}

impl Blocks {
    fn len(&self) -> usize {
        match self {
            Self::All(blocks) => *blocks,
            Self::Some(blocks) => blocks.len(),
        }
    }

    fn get(&self, index: usize) -> usize {
        match self {
            Self::All(_) => index,
            Self::Some(blocks) => blocks[index] as usize,
        }
    }
}

fn stretches<'a>(codes: &'a Codes, visible: Option<&Ids>) -> Vec<Stretch<'a>> {
    let stretch = |part: Part<'a>| Stretch {
        blocks: match visible {
            Some(visible) if visible.len() < part.rows.blocks() => of_owners(&part.rows, visible),
            _ => Blocks::All(part.rows.blocks()),
        },
        part,
    };
    codes.parts().map(stretch).collect()
}

/// The blocks that hold rows of these owners.
fn of_owners(rows: &Slices<'_>, visible: &Ids) -> Blocks {
    let mut blocks = Vec::new();
    let mut take = |row: usize| {
        let block = (row / ROWS) as u32;
        if blocks.last() != Some(&block) {
            blocks.push(block);
        }
    };
    if rows.ordered {
        let mut row = 0;
        for owner in visible.iter() {
            row += first_not_below(&rows.owners[row..], owner);
            while rows.owners.get(row) == Some(&owner) {
                take(row);
                row += 1;
            }
        }
    } else {
        let seen = |row: &usize| visible.contains(rows.owners[*row]);
        (0..rows.len()).filter(seen).for_each(take);
    }
    Blocks::Some(blocks)
}

/// Where the first owner that is not below this one stands, which is mostly near the front.
fn first_not_below(owners: &[u32], owner: u32) -> usize {
    let mut reach = 1;
    while owners.get(reach).is_some_and(|here| *here < owner) {
        reach *= 2;
    }
    let end = owners.len().min(reach + 1);
    let from = reach / 2;
    from.min(end) + owners[from.min(end)..end].partition_point(|here| *here < owner)
}

/// One walk over the blocks, shared by its threads.
struct Pass<'a> {
    lanes: &'a Lanes,
    dot: &'a Dot,
    stretches: Vec<Stretch<'a>>,
    /// The first blocks nobody has taken yet: a thread that is held up takes fewer.
    next: AtomicUsize,
    limit: usize,
    /// One for each query.
    floors: Vec<Floor>,
    queries: Vec<Query>,
    visible: Option<&'a Ids>,
    dimension: usize,
}

impl Pass<'_> {
    fn threads_worth(&self) -> usize {
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get));
        let blocks: usize = self
            .stretches
            .iter()
            .map(|stretch| stretch.blocks.len())
            .sum();
        let components = blocks * ROWS * self.dimension * self.queries.len();
        (components / COMPONENTS_PER_THREAD).clamp(1, cores.min(MOST_THREADS))
    }

    /// What each thread found for each query.
    fn run(&self, threads: usize) -> Vec<Vec<Found>> {
        thread::scope(|scope| {
            // A thread that cannot be started is no error: the others do its work.
            let start = |_| {
                thread::Builder::new()
                    .spawn_scoped(scope, || self.walk())
                    .ok()
            };
            let started: Vec<_> = (1..threads).filter_map(start).collect();
            let mut found = vec![self.walk()];
            for thread in started {
                found.push(
                    thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                );
            }
            found
        })
    }

    fn walk(&self) -> Vec<Found> {
        let mut walker = Walker::new(self);
        while let Some((stretch, blocks)) = self.take() {
            for index in blocks {
                let block = self.stretches[stretch].blocks.get(index);
                for query in 0..self.queries.len() {
                    walker.see(stretch, block, query);
                }
            }
        }
        walker.see_unlikely();
        walker.found
    }

    /// What a query's cosine must reach by now.
    fn floor(&self, query: usize) -> f32 {
        self.floors[query].get()
    }

    /// Blocks that nobody has taken yet.
    fn take(&self) -> Option<(usize, Range<usize>)> {
        let mut start = self.next.fetch_add(1, Ordering::Relaxed) * BLOCKS_AT_ONCE;
        for (index, stretch) in self.stretches.iter().enumerate() {
            let blocks = stretch.blocks.len();
            if start < blocks {
                return Some((index, start..blocks.min(start + BLOCKS_AT_ONCE)));
            }
            start -= blocks.next_multiple_of(BLOCKS_AT_ONCE);
        }
        None
    }
}

/// What a query's cosine must reach, known to all threads.
struct Floor {
    /// As bits: those of numbers that are not negative are ordered as they are.
    bits: AtomicU32,
    /// The `limit` largest lower bounds, as bits; the least of them is the floor.
    lower: Mutex<BinaryHeap<Reverse<u32>>>,
}

impl Floor {
    fn new(floor: f32) -> Self {
        Self {
            bits: AtomicU32::new(floor.to_bits()),
            lower: Mutex::default(),
        }
    }

    fn get(&self) -> f32 {
        f32::from_bits(self.bits.load(Ordering::Relaxed))
    }

    /// Count a lower bound.
    fn raise(&self, lower: f32, limit: usize) {
        if lower <= self.get() {
            return;
        }
        // Nothing that is done under the lock panics.
        let mut largest = self.lower.lock().unwrap_or_else(PoisonError::into_inner);
        largest.push(Reverse(lower.to_bits()));
        if largest.len() > limit {
            largest.pop();
        }
        if let Some(Reverse(least)) = largest.peek()
            && largest.len() == limit
        {
            self.bits.store(*least, Ordering::Relaxed);
        }
    }
}

/// What one thread found for one query.
#[derive(Default)]
struct Found {
    /// Rows whose upper bound reached the floor of the moment.
    rows: Vec<(u32, f32)>,
    /// Stretch, row and upper bound of those that are likely below the floor, though it is not
    /// sure: most are below the last one.
    unlikely: Vec<(u32, u32, f32)>,
}

/// The rows that reach the last floor.
fn together(walks: &[Vec<Found>], query: usize, floor: f32) -> Vec<u32> {
    let rows = walks.iter().flat_map(|walk| &walk[query].rows);
    let mut ids: Vec<u32> = rows
        .filter(|(_, upper)| *upper >= floor)
        .map(|(id, _)| *id)
        .collect();
    ids.sort_unstable();
    ids
}

/// One thread's part of a pass.
struct Walker<'a> {
    pass: &'a Pass<'a>,
    found: Vec<Found>,
    scratch: Scratch,
}

impl<'a> Walker<'a> {
    fn new(pass: &'a Pass<'a>) -> Self {
        Self {
            pass,
            found: pass.queries.iter().map(|_| Found::default()).collect(),
            scratch: Scratch::new(pass.dimension),
        }
    }

    /// Show a block to a query: plane after plane, as long as there are rows that may be near.
    fn see(&mut self, stretch: usize, block: usize, index: usize) {
        let part = &self.pass.stretches[stretch].part;
        let Pass { lanes, queries, .. } = self.pass;
        let query = &queries[index];
        let floor = self.pass.floor(index);
        let (words, bounds) = part.rows.coarse(block);
        let first = lanes.products(words, &query.words);
        let mut rows = reaching(&query.upper(&query.coarse(&first), bounds), floor);
        if rows == 0 {
            return;
        }
        let (words, bounds) = part.rows.finer(block);
        let next = lanes.products(words, &query.words);
        let upper = query.upper(&query.finer(&first, &next), bounds);
        rows &= reaching(&upper, floor);
        while rows != 0 {
            let within = rows.trailing_zeros() as usize;
            rows &= rows - 1;
            let row = block * ROWS + within;
            if !self.may_be_seen(part, row) {
                continue;
            }
            if query.estimate(upper[within], bounds[within]) >= self.pass.floor(index) {
                self.look_closer(&part.rows, row, index);
            } else {
                self.found[index]
                    .unlikely
                    .push((stretch as u32, row as u32, upper[within]));
            }
        }
    }

    /// Look at the rows that were put off, but for those that the floor has passed since.
    fn see_unlikely(&mut self) {
        for index in 0..self.found.len() {
            for (stretch, row, upper) in std::mem::take(&mut self.found[index].unlikely) {
                if upper >= self.pass.floor(index) {
                    let part = &self.pass.stretches[stretch as usize].part;
                    self.look_closer(&part.rows, row as usize, index);
                }
            }
        }
    }

    fn may_be_seen(&self, part: &Part<'_>, row: usize) -> bool {
        let valid = part.valid;
        let visible = self.pass.visible;
        valid.is_none_or(|valid| valid.contains(part.rows.ids[row]))
            && visible.is_none_or(|visible| visible.contains(part.rows.owners[row]))
    }

    fn look_closer(&mut self, rows: &Slices<'_>, row: usize, index: usize) {
        let pass = self.pass;
        let rest = rows.decode(row, &mut self.scratch);
        let values = &self.scratch.values;
        let Between { lower, upper } = pass.queries[index].finest(values, rest, pass.dot);
        if upper > 0.0 && upper >= pass.floor(index) {
            self.found[index].rows.push((rows.ids[row], upper));
            pass.floors[index].raise(lower, pass.limit);
        }
    }
}
