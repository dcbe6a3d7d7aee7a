//! The nearest of many vectors by codes, by resident rows, and beside reading the vectors once.
//!
//!     cargo run --release --example nearest -- VECTORS QUERIES DIMENSION
//!
//! Both files hold little-endian float32, one vector after the other. `benches/codes.py` makes them
//! and runs this. Everything is measured in turns, one query a turn.

use std::hint::black_box;
use std::path::Path;
use std::thread;
use std::time::Instant;

use memstore_kernel::codes::{self, Batch, Codes, Lanes};
use memstore_kernel::dot::Dot;
use memstore_kernel::rows::Rows;
use memstore_kernel::scan::{self, Filter};

const ROWS_AT_ONCE: usize = 5000;
const LIMITS: [usize; 4] = [1, 10, 50, 200];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, vectors, queries, dimension] = &arguments[..] else {
        panic!("three arguments: VECTORS QUERIES DIMENSION")
    };
    let dimension: usize = dimension.parse().expect("a dimension");
    let (vectors, queries) = (floats(vectors), floats(queries));
    let (codes, rows) = filled(&vectors, dimension);
    println!(
        "{} x {dimension}, {}, {} threads, {:.0} bytes a row",
        rows.len(),
        Lanes::best().name(),
        cores(),
        codes.nbytes() as f64 / codes.len() as f64
    );
    let mut names = vec!["plain read".to_owned()];
    names.extend(LIMITS.map(|limit| format!("codes, k = {limit}")));
    names.extend(LIMITS.map(|limit| format!("rows, k = {limit}")));
    let mut seconds = vec![Vec::new(); names.len()];
    let mut returned = [0; LIMITS.len()];
    let queries: Vec<_> = queries.chunks_exact(dimension).collect();
    for (round, query) in queries.iter().enumerate() {
        let mut turns = vec![timed(|| plain_read(&vectors))];
        for (limit, returned) in LIMITS.into_iter().zip(&mut returned) {
            turns.push(timed(|| *returned += scan_codes(&codes, query, limit)));
        }
        for limit in LIMITS {
            turns.push(timed(|| scan_rows(&rows, query, limit)));
        }
        // The first rounds warm up.
        if round >= 3 {
            seconds
                .iter_mut()
                .zip(turns)
                .for_each(|(all, turn)| all.push(turn));
        }
    }
    let read = percentile(&mut seconds[0], 50);
    for (name, seconds) in names.iter().zip(&mut seconds) {
        let (median, late) = (percentile(seconds, 50), percentile(seconds, 90));
        println!(
            "{name:16} p50 {:8.3} ms  p90 {:8.3} ms  {:6.3} x the plain read",
            median * 1e3,
            late * 1e3,
            median / read
        );
    }
    for (limit, returned) in LIMITS.into_iter().zip(returned) {
        let mean = returned as f64 / queries.len() as f64;
        println!("k = {limit}: {mean:.1} rows returned on average");
    }
}

fn floats(path: impl AsRef<Path>) -> Vec<f32> {
    let bytes = std::fs::read(path).expect("a file");
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect()
}

fn filled(vectors: &[f32], dimension: usize) -> (Codes, Rows) {
    let (mut codes, mut rows) = (Codes::new(dimension), Rows::new(dimension));
    for (part, vectors) in vectors.chunks(ROWS_AT_ONCE * dimension).enumerate() {
        let count = vectors.len() / dimension;
        let first = (part * ROWS_AT_ONCE + 1) as u32;
        let ids: Vec<u32> = (first..first + count as u32).collect();
        let blobs: Vec<Vec<u8>> = vectors
            .chunks_exact(dimension)
            .map(|vector| vector.iter().flat_map(|x| x.to_le_bytes()).collect())
            .collect();
        let batch = Batch::new(dimension, &ids, &ids, &blobs).expect("finite vectors");
        codes.put(&batch).expect("memory");
        let ids: Vec<i64> = ids.into_iter().map(i64::from).collect();
        rows.put(&ids, &vec![0; count], vectors).expect("memory");
    }
    (codes, rows)
}

fn scan_codes(codes: &Codes, query: &[f32], limit: usize) -> usize {
    let question = codes::Question {
        queries: query,
        limit,
        visible: None,
    };
    let found = codes::scan(codes, &question, &Lanes::best(), &Dot::best());
    found.iter().map(Vec::len).sum()
}

fn scan_rows(rows: &Rows, query: &[f32], limit: usize) {
    let question = scan::Question {
        queries: query,
        limit,
        partitions: None,
        filter: Filter::All,
    };
    black_box(scan::scan(rows, &question, &Dot::best()));
}

/// Every number once, split over as many threads as there are cores.
fn plain_read(vectors: &[f32]) {
    let part = vectors.len().div_ceil(cores());
    thread::scope(|scope| {
        for part in vectors.chunks(part) {
            scope.spawn(|| black_box(sum(part)));
        }
    });
}

fn sum(numbers: &[f32]) -> f32 {
    const LANES: usize = 64;
    let mut sums = [0.0; LANES];
    for numbers in numbers.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            sums[lane] += numbers[lane];
        }
    }
    sums.iter().sum()
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn percentile(seconds: &mut [f64], percent: usize) -> f64 {
    seconds.sort_unstable_by(f64::total_cmp);
    seconds[(seconds.len() - 1) * percent / 100]
}
