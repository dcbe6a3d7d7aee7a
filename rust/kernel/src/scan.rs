//! The nearest rows to each of several queries, in one pass.
//!
//! Every answer is exact. The pass reads the coarse halves only; the cosine it finds is at most
//! `slack` away from the one the whole row gives, so a row whose coarse cosine plus that slack
//! is still below the worst one kept cannot win, and all the others are computed from the whole
//! row. What is kept therefore does not depend on the number of threads, nor on who saw which row.

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::dot::{self, Dot};
use crate::halves::COARSE_ERROR;
use crate::partition::ROWS_PER_WORD;
use crate::rows::Rows;
use crate::top_k::{Hit, TopK};
use crate::unit::write_unit;
use crate::visible::{self, Stretch};

pub use crate::visible::Filter;

/// Work for which one more thread is worth its start. Waking a sleeping core takes some 300
/// microseconds on a virtual machine, and one core alone draws more than half of what the memory
/// can give: with fewer components than this for each, two threads were slower than one.
const COMPONENTS_PER_THREAD: usize = 1 << 24;

/// A few cores saturate the memory of any machine; more threads would only cost their start.
const MOST_THREADS: usize = 8;

/// What is asked of the rows.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// One query after the other, each of the rows' dimension.
    pub queries: &'a [f32],
    /// Hits a query may have at most.
    pub limit: usize,
    /// The partitions to look in; all of them if there is none.
    pub partitions: Option<&'a [i64]>,
    /// Which ids may be seen.
    pub filter: Filter<'a>,
}

/// A query as the two passes want it.
struct Query {
    unit: Vec<f32>,
    /// Each block's even components, then its odd ones: see [`Dot::coarse`].
    sorted: Vec<f32>,
}

/// For each query the nearest rows, best first, ties by the smaller id, positive cosines only.
///
/// Uses as many threads as the work is worth.
///
/// # Panics
/// If `queries` is not a whole number of vectors.
pub fn scan(rows: &Rows, question: &Question<'_>, dot: &Dot) -> Vec<Vec<Hit>> {
    scan_on(rows, question, dot, None)
}

/// [`scan`] with a given number of threads, for tests and measurements.
///
/// # Panics
/// If `queries` is not a whole number of vectors.
pub fn scan_on(
    rows: &Rows,
    question: &Question<'_>,
    dot: &Dot,
    threads: Option<usize>,
) -> Vec<Vec<Hit>> {
    let queries = prepared(rows, question.queries);
    let mut best: Vec<TopK> = queries.iter().map(|_| TopK::new(question.limit)).collect();
    if question.limit > 0 && !queries.is_empty() {
        let stretches = visible::stretches(rows, question.partitions, question.filter);
        let threads = threads.unwrap_or_else(|| threads_worth(&stretches, rows, queries.len()));
        let pass = Pass {
            dot,
            queries,
            stretches,
            next: AtomicUsize::new(0),
            limit: question.limit,
        };
        for found in pass.run(rows, threads) {
            best.iter_mut()
                .zip(found)
                .for_each(|(best, found)| best.merge(found));
        }
    }
    best.into_iter().map(TopK::into_best_first).collect()
}

/// The most by which the coarse cosine of two unit vectors can miss the computed one.
///
/// The coarse row is within [`COARSE_ERROR`] of the row, and so by Cauchy and Schwarz is its
/// product with a unit vector; each of the two sums adds its own rounding. The thousandth part
/// more covers unit vectors that are a rounding longer than one.
fn slack(stride: usize) -> f32 {
    COARSE_ERROR * 1.001 + 2.0 * dot::error_bound(stride)
}

fn prepared(rows: &Rows, queries: &[f32]) -> Vec<Query> {
    let dimension = rows.dimension();
    assert_eq!(queries.len() % dimension, 0, "a whole number of queries");
    let prepare = |query| {
        let mut unit = rows.scratch();
        write_unit(query, &mut unit);
        let sorted = dot::even_then_odd(&unit);
        Query { unit, sorted }
    };
    queries.chunks_exact(dimension).map(prepare).collect()
}

fn threads_worth(stretches: &[Stretch<'_>], rows: &Rows, queries: usize) -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get));
    let visible = |stretch: &Stretch<'_>| {
        stretch
            .words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum::<usize>()
    };
    let components = stretches.iter().map(visible).sum::<usize>() * rows.dimension() * queries;
    (components / COMPONENTS_PER_THREAD).clamp(1, cores.min(MOST_THREADS))
}

/// One walk over the visible rows, shared by its threads.
struct Pass<'a> {
    dot: &'a Dot,
    queries: Vec<Query>,
    stretches: Vec<Stretch<'a>>,
    /// The first stretch nobody has taken yet: a thread that is held up takes fewer.
    next: AtomicUsize,
    limit: usize,
}

impl Pass<'_> {
    /// What each thread kept for each query.
    fn run(&self, rows: &Rows, threads: usize) -> Vec<Vec<TopK>> {
        thread::scope(|scope| {
            // A thread that cannot be started is no error: the others do its work.
            let start = |_| {
                thread::Builder::new()
                    .spawn_scoped(scope, || self.walk(rows))
                    .ok()
            };
            let started: Vec<_> = (1..threads).filter_map(start).collect();
            let mut found = vec![self.walk(rows)];
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

    fn walk(&self, rows: &Rows) -> Vec<TopK> {
        let mut walker = Walker {
            pass: self,
            best: self.queries.iter().map(|_| TopK::new(self.limit)).collect(),
            coarse: [0.0; ROWS_PER_WORD],
            row: rows.scratch(),
            slack: slack(rows.layout().stride),
        };
        while let Some(stretch) = self
            .stretches
            .get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            for (index, word) in stretch.words.iter().enumerate() {
                walker.see(stretch, stretch.first_slot + index * ROWS_PER_WORD, *word);
            }
        }
        walker.best
    }
}

/// One thread's part of a pass.
struct Walker<'a> {
    pass: &'a Pass<'a>,
    best: Vec<TopK>,
    coarse: [f32; ROWS_PER_WORD],
    row: Vec<f32>,
    slack: f32,
}

impl Walker<'_> {
    /// Show the visible rows of one word to every query, while they are in the cache.
    fn see(&mut self, stretch: &Stretch<'_>, slot: usize, word: u64) {
        if word == 0 {
            return;
        }
        for index in 0..self.pass.queries.len() {
            self.multiply(stretch, slot, word, index);
            self.look_closer(stretch, slot, word, index);
        }
    }

    fn multiply(&mut self, stretch: &Stretch<'_>, slot: usize, word: u64, query: usize) {
        let query = &self.pass.queries[query].sorted;
        if word.count_ones() as usize * 4 > ROWS_PER_WORD {
            // Reading all of them in a row costs less than stepping around those that are hidden.
            let rows = ROWS_PER_WORD - word.leading_zeros() as usize;
            let plane = stretch.partition.coarse(slot, rows);
            return self.pass.dot.coarse(plane, query, &mut self.coarse[..rows]);
        }
        for bit in bits(word) {
            let row = stretch.partition.coarse(slot + bit, 1);
            self.pass
                .dot
                .coarse(row, query, &mut self.coarse[bit..=bit]);
        }
    }

    fn look_closer(&mut self, stretch: &Stretch<'_>, slot: usize, word: u64, query: usize) {
        let (unit, best) = (&self.pass.queries[query].unit, &mut self.best[query]);
        for bit in bits(word) {
            if self.coarse[bit] + self.slack < best.floor() {
                continue;
            }
            stretch.partition.read(slot + bit, &mut self.row);
            let cosine = self.pass.dot.unit_cosine(unit, &self.row);
            best.offer(Hit {
                id: stretch.partition.ids()[slot + bit],
                cosine,
            });
        }
    }
}

/// The positions of the bits that are set, from the lowest.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            bit
        })
    })
}
