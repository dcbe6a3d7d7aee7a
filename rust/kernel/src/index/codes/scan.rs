//! Finds the rows that can be among the nearest to each of several queries, in one pass.
//!
//! A row's cosine with a query is bounded from ever finer planes of its code. The smallest of the
//! `limit` largest lower bounds seen so far is the floor: a row whose upper bound is below it is
//! not among the nearest, whatever its cosine is. At the end, rows below the last floor are left
//! out. The last floor does not depend on which thread saw which row when, because the rows that
//! determine it are never ruled out.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use super::code;
use super::lanes::{Lanes, ROWS};
use super::query::{Between, Query, reaching};
use super::table::Slices;
use super::{Codes, Part};
use crate::index::ids::Ids;

/// Components that justify one more thread.
const COMPONENTS_PER_THREAD: usize = 1 << 25;

/// A few cores saturate the memory bandwidth of any machine; more threads would not help.
const MAX_THREADS: usize = 8;

/// Bytes of the coarse plane that a thread takes at a time. With fewer, the threads read close to one
/// another, which is slower.
const BYTES_AT_ONCE: usize = 1 << 19;

/// How many rows ahead a postponed row is prefetched.
const AHEAD: usize = 8;

/// Up to this many seen rows of a block are compared one by one, which is as quick as all sixteen with
/// vector instructions and quicker without.
const FEW_ROWS: u32 = 1;

/// How many blocks ahead a block is prefetched: where some are not read, the processor does not guess
/// which one is next.
const BLOCKS_AHEAD: usize = 2;

/// If a part has at least so many blocks for each row that may be seen, these are looked up first.
const BLOCKS_PER_ROW: usize = 16;

/// The owners whose rows may be seen.
#[derive(Clone, Copy)]
pub enum Visible<'a> {
    /// Everybody.
    All,
    /// The same for each query.
    These(&'a Ids),
    /// For each query its own.
    Each(&'a [&'a Ids]),
}

impl<'a> From<Option<&'a Ids>> for Visible<'a> {
    fn from(ids: Option<&'a Ids>) -> Self {
        ids.map_or(Self::All, Self::These)
    }
}

/// The parameters of a scan.
#[derive(Clone, Copy)]
pub struct Scan<'a> {
    /// One query after the other, each of the codes' dimension.
    pub queries: &'a [f32],
    /// How many of the nearest rows to find.
    pub limit: usize,
    /// Owners of the rows that may be seen.
    pub visible: Visible<'a>,
}

/// For each query the ids of all rows that can be among the `limit` nearest, ascending.
///
/// Only rows with a positive cosine count as near, as
/// [`unit_cosine`](crate::vectors::dot::Dot::unit_cosine) computes it for the unit vectors with any
/// instruction set. All rows that may tie with the last one are included.
///
/// Uses several threads if there is enough work.
///
/// # Panics
/// If `queries` is not a whole number of vectors, or there is not one set for each.
#[must_use]
pub fn scan(codes: &Codes, scan: &Scan<'_>, lanes: &Lanes) -> Vec<Vec<u32>> {
    scan_on(codes, scan, lanes, None)
}

/// [`scan`] with a given number of threads, for tests and measurements.
///
/// # Panics
/// If `queries` is not a whole number of vectors, or there is not one set for each.
#[must_use]
pub fn scan_on(
    codes: &Codes,
    scan: &Scan<'_>,
    lanes: &Lanes,
    threads: Option<usize>,
) -> Vec<Vec<u32>> {
    let dimension = codes.dimension();
    assert_eq!(
        scan.queries.len() % dimension,
        0,
        "a whole number of queries"
    );
    let queries: Vec<_> = scan
        .queries
        .chunks_exact(dimension)
        .map(Query::new)
        .collect();
    if let Visible::Each(sets) = scan.visible {
        assert_eq!(sets.len(), queries.len(), "a set for each query");
    }
    let union;
    let any = match scan.visible {
        Visible::All => None,
        Visible::These(ids) => Some(ids),
        Visible::Each(sets) => {
            union = sets.iter().fold(Ids::default(), |all, ids| all.or(ids));
            Some(&union)
        }
    };
    let pass = Pass {
        lanes,
        stretches: stretches(codes, any),
        any,
        next: AtomicUsize::new(0),
        limit: scan.limit,
        floors: queries
            .iter()
            .map(|query| Floor::new(query.floor()))
            .collect(),
        queries,
        visible: scan.visible,
        dimension,
    };
    if scan.limit == 0 {
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

/// The parts with the blocks to be walked, given the owners that any query may see.
fn stretches<'a>(codes: &'a Codes, visible: Option<&Ids>) -> Vec<Stretch<'a>> {
    let stretch = |part: Part<'a>| Stretch {
        blocks: match visible {
            Some(visible) if visible.len() * BLOCKS_PER_ROW < part.rows.blocks() => {
                of_owners(&part.rows, visible)
            }
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

/// The index of the first owner that is not below this one, which is usually near the front.
fn first_not_below(owners: &[u32], owner: u32) -> usize {
    let mut reach = 1;
    while owners.get(reach).is_some_and(|here| *here < owner) {
        reach *= 2;
    }
    let end = owners.len().min(reach + 1);
    let from = reach / 2;
    from.min(end) + owners[from.min(end)..end].partition_point(|here| *here < owner)
}

/// The owners of a block's rows.
enum Owners<'a> {
    /// Consecutive ones from this on.
    From(u32),
    Any(&'a [u32]),
}

impl<'a> Owners<'a> {
    fn of(part: &Part<'a>, block: usize) -> Self {
        let owners = &part.rows.owners[block * ROWS..];
        let is_next = |(step, owner): (u32, &u32)| owner.checked_sub(owners[0]) == Some(step);
        match owners.first_chunk::<ROWS>() {
            Some(chunk) if (0..).zip(chunk).fold(true, |all, one| all & is_next(one)) => {
                Self::From(chunk[0])
            }
            _ => Self::Any(&owners[..owners.len().min(ROWS)]),
        }
    }

    /// Those in a set, one bit each. A block without any is not read: rows of one namespace are often
    /// written one after another.
    fn among(&self, visible: &Ids) -> u16 {
        match self {
            Self::From(first) => visible.sixteen(*first),
            Self::Any(owners) => {
                let bit = |(row, owner): (usize, &u32)| u16::from(visible.contains(*owner)) << row;
                let bits = owners.iter().enumerate().map(bit);
                bits.fold(0, |all, bit| all | bit)
            }
        }
    }
}

/// One walk over the blocks, shared by its threads.
struct Pass<'a> {
    lanes: &'a Lanes,
    stretches: Vec<Stretch<'a>>,
    /// The first blocks that no thread has taken yet: a slow thread takes fewer.
    next: AtomicUsize,
    limit: usize,
    /// One for each query.
    floors: Vec<Floor>,
    queries: Vec<Query>,
    visible: Visible<'a>,
    /// The owners that any query may see; `None` for everybody.
    any: Option<&'a Ids>,
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
        (components / COMPONENTS_PER_THREAD).clamp(1, cores.min(MAX_THREADS))
    }

    /// The rows that each thread found for each query.
    fn run(&self, threads: usize) -> Vec<Vec<Found>> {
        thread::scope(|scope| {
            // If a thread cannot be started, the others do its work.
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
        let mut fetched = VecDeque::with_capacity(BLOCKS_AHEAD);
        while let Some((stretch, blocks)) = self.take() {
            let Stretch { part, blocks: all } = &self.stretches[stretch];
            for block in blocks.map(|index| all.get(index)) {
                let owners = Owners::of(part, block);
                let seen = self.any.map_or(u16::MAX, |ids| owners.among(ids));
                if seen == 0 {
                    continue;
                }
                let (words, _) = part.rows.coarse(block);
                self.lanes.fetch(bytemuck::cast_slice(words));
                if fetched.len() == BLOCKS_AHEAD
                    && let Some(first) = fetched.pop_front()
                {
                    self.see(&mut walker, first);
                }
                fetched.push_back((stretch, block, seen));
            }
        }
        for block in fetched {
            self.see(&mut walker, block);
        }
        walker.see_unlikely();
        walker.found
    }

    /// Compare a block with each query that may see some of its rows: those of this set bits.
    fn see(&self, walker: &mut Walker<'_>, (stretch, block, seen): (usize, usize, u16)) {
        if let Visible::Each(sets) = self.visible {
            let owners = Owners::of(&self.stretches[stretch].part, block);
            walker.see_each(stretch, block, |query| owners.among(sets[query]));
        } else {
            walker.see_each(stretch, block, |_| seen);
        }
    }

    /// The current minimum of a query's cosine.
    fn floor(&self, query: usize) -> f32 {
        self.floors[query].get()
    }

    /// The next blocks that no thread has taken yet.
    fn take(&self) -> Option<(usize, Range<usize>)> {
        let bytes = code::words(self.dimension) * size_of::<[u32; ROWS]>();
        let at_once = (BYTES_AT_ONCE / bytes).max(1);
        let mut start = self.next.fetch_add(1, Ordering::Relaxed) * at_once;
        for (index, stretch) in self.stretches.iter().enumerate() {
            let blocks = stretch.blocks.len();
            if start < blocks {
                return Some((index, start..blocks.min(start + at_once)));
            }
            start -= blocks.next_multiple_of(at_once);
        }
        None
    }
}

/// The minimum of a query's cosine, shared by all threads.
struct Floor {
    /// As bits, which have the same order as the numbers if these are not negative.
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
        // Nothing panics under this lock.
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

/// The rows that one thread found for one query.
#[derive(Default)]
struct Found {
    /// Rows whose upper bound reached the floor at that time.
    rows: Vec<(u32, f32)>,
    /// Rows that are probably below the floor: most are below the last one.
    unlikely: Vec<Unlikely>,
}

/// A postponed row.
struct Unlikely {
    stretch: u32,
    row: u32,
    /// Of its coarse bits and the query's first part.
    product: i32,
    upper: f32,
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
    /// Scratch for the coarse bits of one row.
    row: Vec<u8>,
}

impl<'a> Walker<'a> {
    fn new(pass: &'a Pass<'a>) -> Self {
        Self {
            pass,
            found: pass.queries.iter().map(|_| Found::default()).collect(),
            row: vec![0; code::finer_bytes(pass.dimension)],
        }
    }

    /// Compare a block with each query that may see some of its rows.
    fn see_each(&mut self, stretch: usize, block: usize, seen: impl Fn(usize) -> u16) {
        for query in 0..self.pass.queries.len() {
            let seen = seen(query);
            if seen != 0 {
                self.see(stretch, block, seen, query);
            }
        }
    }

    /// The product of one row of the coarse plane with a part of a query.
    fn product(&mut self, words: &[u32], within: usize, query: &[i8]) -> i32 {
        let (bytes, _) = self.row.as_chunks_mut();
        for (bytes, words) in bytes.iter_mut().zip(words.as_chunks::<ROWS>().0) {
            *bytes = words[within].to_le_bytes();
        }
        self.pass.lanes.finer(&self.row, query)
    }

    /// Compare the visible rows of a block with a query by the coarse plane; look closer at those
    /// that may be near.
    fn see(&mut self, stretch: usize, block: usize, seen: u16, index: usize) {
        let part = &self.pass.stretches[stretch].part;
        let Pass { lanes, queries, .. } = self.pass;
        let query = &queries[index];
        let floor = self.pass.floor(index);
        let (words, bounds) = part.rows.coarse(block);
        if seen.count_ones() <= FEW_ROWS {
            for within in each(seen) {
                let product = self.product(words, within, &query.halves[0]);
                let upper = query.upper_of_one(product, bounds[within]);
                if upper >= floor {
                    self.sort(stretch, block * ROWS + within, product, upper, index);
                }
            }
            return;
        }
        let products = lanes.products(words, &query.words);
        let upper = query.upper(&products, bounds);
        for within in each(seen & reaching(&upper, floor)) {
            let row = block * ROWS + within;
            self.sort(stretch, row, products[within], upper[within], index);
        }
    }

    /// Look closer at a row that may be near, at once or at the end.
    fn sort(&mut self, stretch: usize, row: usize, product: i32, upper: f32, index: usize) {
        let part = &self.pass.stretches[stretch].part;
        if !part.is_valid(row) {
            return;
        }
        let (_, bounds) = part.rows.coarse(row / ROWS);
        let estimate = self.pass.queries[index].estimate(upper, bounds[row % ROWS]);
        if estimate >= self.pass.floor(index) {
            self.look_closer(stretch, row, product, index);
        } else {
            self.found[index].unlikely.push(Unlikely {
                stretch: stretch as u32,
                row: row as u32,
                product,
                upper,
            });
        }
    }

    /// Compare the postponed rows, except those that are below the floor by now.
    fn see_unlikely(&mut self) {
        for index in 0..self.found.len() {
            let floor = self.pass.floor(index);
            let mut unlikely = std::mem::take(&mut self.found[index].unlikely);
            unlikely.retain(|one| one.upper >= floor);
            for (place, one) in unlikely.iter().enumerate() {
                if let Some(later) = unlikely.get(place + AHEAD) {
                    let rows = &self.pass.stretches[later.stretch as usize].part.rows;
                    self.pass.lanes.fetch(rows.finer(later.row as usize).0);
                }
                if one.upper >= self.pass.floor(index) {
                    self.look_closer(one.stretch as usize, one.row as usize, one.product, index);
                }
            }
        }
    }

    /// Compare a row by its finer bits, and if these do not rule it out, by the query's second part.
    fn look_closer(&mut self, stretch: usize, row: usize, product: i32, index: usize) {
        let pass = self.pass;
        let (query, part) = (&pass.queries[index], &pass.stretches[stretch].part);
        let (bits, bound) = part.rows.finer(row);
        if query.between(pass.lanes, &[product], bits, bound).upper < pass.floor(index) {
            return;
        }
        let (words, _) = part.rows.coarse(row / ROWS);
        let second = self.product(words, row % ROWS, &query.halves[1]);
        let Between { lower, upper } = query.between(pass.lanes, &[product, second], bits, bound);
        if upper > 0.0 && upper >= pass.floor(index) {
            self.found[index].rows.push((part.rows.ids[row], upper));
            pass.floors[index].raise(lower, pass.limit);
        }
    }
}

/// The indexes of the set bits.
fn each(mut bits: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            index
        })
    })
}
