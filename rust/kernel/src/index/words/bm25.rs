//! BM25 as FTS5's `bm25()` computes it, to the last bit.
//!
//! Every expression has the same order of operations as in `fts5_aux.c`. Pruning relies on two
//! facts: a floating-point sum never falls when a summand grows, and [`Bm25::part`] never falls
//! when the length shrinks or the count grows. The second holds after rounding because a row has at
//! most [`MAX_TOKENS`] tokens: from one count to the next the true value grows by a factor of at
//! least 1 + 0.3 / count², which is then more than the roundings of the expression.

/// How quickly more occurrences of a word stop mattering.
const K1: f64 = 1.2;
/// How much a long row is penalised.
const B: f64 = 0.75;
/// The weight of a word that is in most rows.
const MIN_IDF: f64 = 1e-6;

/// Tokens a row may have.
pub const MAX_TOKENS: usize = 1 << 24;

/// The statistics of all rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bm25 {
    rows: f64,
    mean: f64,
}

impl Bm25 {
    pub fn new(rows: u64, tokens: u64) -> Self {
        let rows = rows as f64;
        Self {
            rows,
            mean: tokens as f64 / rows,
        }
    }

    /// The weight of a phrase that is in this many rows.
    pub fn idf(&self, frequency: u64) -> f64 {
        let n = frequency as f64;
        let idf = ((self.rows - n + 0.5) / (n + 0.5)).ln();
        if idf <= 0.0 { MIN_IDF } else { idf }
    }

    /// The contribution of a phrase to the score of a row of `length` tokens that has it `count`
    /// times.
    pub fn part(&self, idf: f64, count: u32, length: u32) -> f64 {
        let (count, length) = (f64::from(count), f64::from(length));
        idf * ((count * (K1 + 1.0)) / (count + K1 * (1.0 - B + B * length / self.mean)))
    }

    /// An approximation with fewer operations, off by a few roundings.
    pub fn fast(&self) -> Fast {
        Fast {
            base: K1 * (1.0 - B),
            slope: K1 * B / self.mean,
        }
    }
}

/// See [`Bm25::fast`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fast {
    base: f64,
    slope: f64,
}

impl Fast {
    /// A weight for [`Fast::part`].
    pub fn weight(idf: f64) -> f64 {
        idf * (K1 + 1.0)
    }

    #[inline]
    pub fn part(&self, weight: f64, count: u32, length: u32) -> f64 {
        let count = f64::from(count);
        weight * count / (count + (self.base + self.slope * f64::from(length)))
    }
}
