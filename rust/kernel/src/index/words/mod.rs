//! An inverted index: the rows with the words of a query, ranked as FTS5's `bm25()` ranks them.
//!
//! Rows are given as tokens, which the caller takes from FTS5's own tokenizer. The newest rows are
//! stored unchanged (`tail`) and scanned by every search. When there are many, they become a
//! segment (`segment`), whose terms have postings (`postings`), and segments of similar size are
//! merged. A search looks up the query's phrases in each segment (`phrase`), which gives their
//! weights (`bm25`), and then walks the segments (`walk`) for the rows that can be among the best.
//! A row that is dropped or replaced leaves the tail at once, and is dead in the segments (`dead`)
//! until they are merged; the statistics stay exact.

mod best;
mod bits;
mod bm25;
mod cursor;
mod dead;
mod phrase;
mod postings;
mod segment;
mod spelling;
mod tail;
mod terms;
mod texts;
mod walk;

use std::collections::{HashMap, HashSet, TryReserveError};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use self::best::Best;
use self::bm25::Bm25;
use self::cursor::Cursor;
use self::dead::Dead;
use self::phrase::Found;
use self::segment::Segment;
use self::spelling::Misspelt;
use self::tail::{Match, Tail};
use self::walk::{Rows, Scorer};
use crate::index::id_hash::IdMap;
use crate::index::ids::Ids;
use crate::index::mapped::{self, Mapped, Numbers, Tag};

pub use self::best::Scored;
pub use self::bm25::MAX_TOKENS;
pub use self::spelling::{Similar, SimilarTo, edits, near_words};
pub use self::texts::Texts;

/// Identifies files of this structure in their [`Tag`].
pub const KIND: [u8; 8] = *b"words   ";
/// See [`KIND`].
pub const VERSION: u64 = 2;

/// Tokens of the tail, beyond which it becomes a segment: a search scans all of them, which takes
/// some tenths of a millisecond.
const TAIL_TOKENS: usize = 1 << 17;

/// When this many segments have sizes within this factor, they are merged.
const MERGED_AT_ONCE: usize = 4;

/// Ids that are always accepted; the limit grows with the rows, because there is an array by id.
const FREE_IDS: usize = 1 << 24;
const IDS_PER_ROW: usize = 64;

/// The length of a row that does not exist.
const ABSENT: u32 = u32::MAX;

/// The words of a phrase, one token each.
pub type Phrase = Vec<String>;

/// Why rows were refused; none of them was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A row has too many tokens.
    Long {
        /// Its id.
        id: u32,
        /// How many it has.
        tokens: usize,
    },
    /// An id is so large that an array by id would be nearly empty.
    Sparse {
        /// The id.
        id: u32,
        /// The largest that is accepted.
        most: usize,
    },
    /// There is no memory for them.
    Memory,
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long { id, tokens } => {
                write!(out, "row {id} has {tokens} tokens, {MAX_TOKENS} at most")
            }
            Self::Sparse { id, most } => {
                write!(out, "id {id} is too large for so few rows, {most} at most")
            }
            Self::Memory => write!(out, "not enough memory for the rows"),
        }
    }
}

impl std::error::Error for Refused {}

impl From<TryReserveError> for Refused {
    fn from(_: TryReserveError) -> Self {
        Self::Memory
    }
}

/// A segment, and its dead rows.
#[derive(Default)]
struct Layer {
    segment: Segment,
    dead: Dead,
}

/// The index.
pub struct Words {
    /// Usually the largest first.
    layers: Vec<Layer>,
    tail: Tail,
    /// Tokens of each row, by id.
    lengths: Numbers<u32>,
    rows: u64,
    tokens: u64,
    tail_tokens: usize,
}

/// A segment that replaces the tail, or the last layers.
pub struct Step {
    segment: Segment,
    /// The layers from this one on are replaced.
    from: usize,
    tail: bool,
}

impl Default for Words {
    fn default() -> Self {
        Self::with_tail(TAIL_TOKENS)
    }
}

impl Words {
    /// Empty, with a tail of this many tokens; for tests, which need many segments of few rows.
    #[must_use]
    pub fn with_tail(tokens: usize) -> Self {
        Self {
            layers: Vec::new(),
            tail: Tail::default(),
            lengths: Numbers::default(),
            rows: 0,
            tokens: 0,
            tail_tokens: tokens.max(1),
        }
    }

    /// Map a file that [`Words::save`] wrote; also returns the file.
    ///
    /// # Errors
    /// It is not such a file, or of another database.
    pub fn open(path: &Path, tag: &Tag) -> Result<(Self, Arc<Mapped>), mapped::Refused> {
        let file = Mapped::open(path, tag)?;
        let totals = file.numbers::<u64>(0)?;
        let &[rows, tokens] = &*totals else {
            return Err(mapped::Refused::Damaged);
        };
        let layer = Layer {
            segment: Segment::open(&file, 2)?,
            dead: Dead::default(),
        };
        let words = Self {
            layers: vec![layer],
            lengths: file.numbers(1)?,
            rows,
            tokens,
            ..Self::default()
        };
        Ok((words, file))
    }

    /// Write all rows to a file, as one segment.
    ///
    /// # Errors
    /// It cannot be written, or there is no memory to merge the segments.
    pub fn save(&self, path: &Path, tag: &Tag, position: u64) -> io::Result<()> {
        let merged;
        let segment = match &self.layers[..] {
            [only] if self.tail.is_empty() && only.dead.len() == 0 => &only.segment,
            layers => {
                let tail = self.tail.segment(&self.lengths)?;
                merged = self.merged(layers, Some(&tail))?;
                &merged
            }
        };
        let totals = [self.rows, self.tokens];
        let mut sections = vec![bytemuck::cast_slice(&totals), self.lengths.bytes()];
        sections.extend(segment.sections());
        mapped::write(path, tag, position, &sections)
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows as usize
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Approximate bytes in this process's own memory, without mapped files.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        let layers = self.layers.iter().map(|layer| layer.segment.nbytes());
        layers.sum::<usize>() + self.tail.nbytes() + self.lengths.nbytes()
    }

    /// Add rows, or replace those whose ids are here; if an id occurs twice, the last one counts.
    ///
    /// Afterwards, call [`Words::step`] and [`Words::take`] until there is nothing to merge.
    ///
    /// # Errors
    /// A row was refused; then none is added.
    ///
    /// # Panics
    /// If there is not one text per id.
    pub fn put(&mut self, ids: &[u32], texts: &Texts) -> Result<(), Refused> {
        assert_eq!(ids.len(), texts.len(), "one text an id");
        self.check(ids, texts)?;
        let lengths = self.lengths.to_mut()?;
        let needed = ids.iter().max().map_or(0, |id| *id as usize + 1);
        if needed > lengths.len() {
            lengths.try_reserve(needed - lengths.len())?;
            lengths.resize(needed, ABSENT);
        }
        self.tail.reserve(ids.len(), texts.tokens())?;
        for (id, text) in ids.iter().zip(texts.iter()) {
            self.forget(*id)?;
            let length = text.clone().filter(|token| !token.is_empty()).count();
            self.lengths.to_mut()?[*id as usize] = length as u32;
            self.rows += 1;
            self.tokens += length as u64;
            self.tail.put(*id, text);
        }
        Ok(())
    }

    fn check(&self, ids: &[u32], texts: &Texts) -> Result<(), Refused> {
        let most = FREE_IDS + IDS_PER_ROW * (self.len() + ids.len());
        for (id, text) in ids.iter().zip(texts.iter()) {
            let tokens = text.count();
            if tokens > MAX_TOKENS {
                return Err(Refused::Long { id: *id, tokens });
            }
            if *id as usize > most {
                return Err(Refused::Sparse { id: *id, most });
            }
        }
        Ok(())
    }

    /// Remove rows; returns how many existed.
    ///
    /// # Errors
    /// There is no memory to remember it.
    pub fn drop_ids(&mut self, ids: &[u32]) -> Result<usize, Refused> {
        let before = self.rows;
        for id in ids {
            self.forget(*id)?;
        }
        Ok((before - self.rows) as usize)
    }

    fn forget(&mut self, id: u32) -> Result<(), TryReserveError> {
        let length = self.length(id);
        if length == ABSENT {
            return Ok(());
        }
        self.lengths.to_mut()?[id as usize] = ABSENT;
        self.rows -= 1;
        self.tokens -= u64::from(length);
        if !self.tail.drop(id) {
            // It is unknown which segment has it; marking it in all is harmless.
            for layer in &mut self.layers {
                layer.dead.insert(id);
            }
        }
        Ok(())
    }

    fn length(&self, id: u32) -> u32 {
        self.lengths.get(id as usize).copied().unwrap_or(ABSENT)
    }

    /// The next merge, if one is due. Only reads, because it may take seconds.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn step(&self) -> Result<Option<Step>, TryReserveError> {
        if self.tail.tokens() >= self.tail_tokens {
            return Ok(Some(Step {
                segment: self.tail.segment(&self.lengths)?,
                from: self.layers.len(),
                tail: true,
            }));
        }
        let Some(from) = self.due() else {
            return Ok(None);
        };
        Ok(Some(Step {
            segment: self.merged(&self.layers[from..], None)?,
            from,
            tail: false,
        }))
    }

    /// Apply the result of [`Words::step`]; nothing may have changed since.
    pub fn take(&mut self, step: Step) {
        self.layers.truncate(step.from);
        self.layers.push(Layer {
            segment: step.segment,
            dead: Dead::default(),
        });
        if step.tail {
            self.tail = Tail::default();
        }
    }

    /// The first of the layers that should be merged.
    fn due(&self) -> Option<usize> {
        let level = |layer: &Layer| {
            let weight = layer.segment.weight().max(self.tail_tokens);
            weight.ilog(MERGED_AT_ONCE)
        };
        let last = level(self.layers.last()?);
        let small = |layer: &&Layer| level(layer) <= last;
        let count = self.layers.iter().rev().take_while(small).count();
        (count >= MERGED_AT_ONCE).then(|| self.layers.len() - count)
    }

    fn merged(&self, layers: &[Layer], more: Option<&Segment>) -> Result<Segment, TryReserveError> {
        let of_layers = layers.iter().map(|layer| &layer.segment);
        let segments: Vec<&Segment> = of_layers.chain(more).collect();
        let lives = |segment: usize, id| {
            let layer = layers.get(segment);
            layer.is_none_or(|layer| !layer.dead.contains(id))
        };
        segment::merge(&segments, lives, &self.lengths)
    }

    /// The rows with any of the phrases, best first, ties by the larger id.
    ///
    /// With `until`, an id, the weights are those of the index as it was when the rows up to it
    /// were all that there were; `visible` has no later ones then.
    #[must_use]
    pub fn search(
        &self,
        phrases: &[Phrase],
        limit: usize,
        visible: Option<&Ids>,
        until: Option<u32>,
    ) -> Vec<Scored> {
        let mut best = Best::new(limit);
        if limit > 0 && !self.is_empty() {
            let located = self.locate(phrases, until);
            self.score_tail(&located, visible, &mut best);
            for (layer, found) in self.layers.iter().zip(&located.layers) {
                let rows = Rows {
                    lengths: &self.lengths,
                    dead: &layer.dead,
                    visible,
                };
                walk::walk(&located.scorer, rows, found, &mut best);
            }
        }
        best.into_best_first()
    }

    /// The contributions of phrases to the scores of rows; for `until` see [`Words::search`].
    #[must_use]
    pub fn parts(&self, phrases: &[Phrase], ids: &[u32], until: Option<u32>) -> Parts {
        let located = self.locate(phrases, until);
        let order = &located.scorer.order;
        let weight = |phrase: &usize| match located.frequencies[*phrase] {
            0 => 0.0,
            _ => located.scorer.idfs[*phrase],
        };
        let mut values = Vec::with_capacity(ids.len() * order.len());
        let mut counts = located.counts(&self.layers);
        for id in ids {
            let counts = counts.of(*id);
            values.extend(order.iter().map(|phrase| match counts[*phrase] {
                0 => 0.0,
                count => located.scorer.part(*phrase, count, self.length(*id)),
            }));
        }
        Parts {
            weights: order.iter().map(weight).collect(),
            values,
        }
    }

    /// How many rows have each phrase; for `until` see [`Words::search`].
    #[must_use]
    pub fn frequencies(&self, phrases: &[Phrase], until: Option<u32>) -> Vec<u64> {
        let located = self.locate(phrases, until);
        let order = located.scorer.order.iter();
        order.map(|phrase| located.frequencies[*phrase]).collect()
    }

    /// Up to `limit` terms that begin a word but for `most` edits, the nearest first.
    ///
    /// A term of rows that are gone may be among them until its segment is merged.
    #[must_use]
    pub fn similar(&self, word: &str, most: usize, limit: usize) -> Vec<Similar> {
        let mut misspelt = Misspelt::new(word, most);
        let mut found = self.tail.similar(&mut misspelt);
        for layer in &self.layers {
            found.extend(misspelt.among(layer.segment.terms()));
        }
        // Of equally near ones, the longest has most of the word.
        let letters = |one: &Similar| std::cmp::Reverse(one.term.chars().count());
        found.sort_by(|a, b| (a.edits, letters(a), &a.term).cmp(&(b.edits, letters(b), &b.term)));
        found.dedup();
        found.truncate(limit);
        found
    }

    /// The best few rows with each of the terms near a word, those of the nearest terms first; each
    /// row once. For the others see [`Words::search`].
    #[must_use]
    pub fn rows_of_similar(
        &self,
        wanted: &SimilarTo<'_>,
        rows: usize,
        visible: Option<&Ids>,
        until: Option<u32>,
    ) -> Vec<u32> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for one in self.similar(wanted.word, wanted.most, wanted.terms) {
            if one.term.chars().count() >= wanted.letters {
                let best = self.search(&[vec![one.term]], rows, visible, until);
                let ids = best.into_iter().map(|row| row.id);
                found.extend(ids.filter(|id| seen.insert(*id)));
            }
        }
        found
    }

    /// How many rows and tokens there are; for `until` see [`Words::search`].
    #[must_use]
    pub fn totals(&self, until: Option<u32>) -> (u64, u64) {
        let Some(until) = until else {
            return (self.rows, self.tokens);
        };
        let lengths = self.lengths.iter().take(until as usize + 1);
        let lengths = lengths.filter(|length| **length != ABSENT);
        lengths.fold((0, 0), |(rows, tokens), length| {
            (rows + 1, tokens + u64::from(*length))
        })
    }

    fn locate(&self, phrases: &[Phrase], until: Option<u32>) -> Located<'_> {
        let (rows, tokens) = self.totals(until);
        let until = until.unwrap_or(u32::MAX);
        let (distinct, order) = distinct(phrases);
        let tail = self.tail.matches(&distinct);
        let layers: Vec<Vec<Option<Found<'_>>>> = self
            .layers
            .iter()
            .map(|Layer { segment, dead }| {
                let found =
                    |phrase: &Vec<_>| Found::of(phrase, segment, dead, &self.lengths, until);
                distinct.iter().map(found).collect()
            })
            .collect();
        let mut frequencies = vec![0; distinct.len()];
        for found in tail.iter().filter(|found| found.id <= until) {
            frequencies[found.phrase] += 1;
        }
        for found in &layers {
            for (frequency, found) in frequencies.iter_mut().zip(found) {
                *frequency += found.as_ref().map_or(0, |found| found.frequency(until)) as u64;
            }
        }
        let bm25 = Bm25::new(rows, tokens);
        let idfs = frequencies.iter().map(|n| bm25.idf(*n)).collect();
        Located {
            scorer: Scorer { bm25, idfs, order },
            frequencies,
            tail,
            layers,
        }
    }

    fn score_tail(&self, located: &Located<'_>, visible: Option<&Ids>, best: &mut Best) {
        let mut counts = vec![0; located.frequencies.len()];
        for of_row in located.tail.chunk_by(|left, right| left.id == right.id) {
            let id = of_row[0].id;
            if visible.is_none_or(|visible| visible.contains(id)) {
                counts.fill(0);
                of_row
                    .iter()
                    .for_each(|found| counts[found.phrase] = found.count);
                let score = located.scorer.score(&counts, self.length(id));
                best.offer(Scored { id, score });
            }
        }
    }
}

/// The contributions of phrases to the scores of rows.
pub struct Parts {
    /// The BM25 weight of each phrase; 0 for one that no row has.
    pub weights: Vec<f64>,
    /// Row by row.
    values: Vec<f64>,
}

impl Parts {
    /// Those of a row, by its index; 0 for the phrases it does not have, or if it does not exist.
    #[must_use]
    pub fn of(&self, row: usize) -> &[f64] {
        &self.values[row * self.weights.len()..][..self.weights.len()]
    }
}

/// A query's distinct phrases, and the index of each of the query's phrases among them.
fn distinct(phrases: &[Phrase]) -> (Vec<Vec<&[u8]>>, Vec<usize>) {
    let mut numbers = HashMap::new();
    let mut distinct = Vec::new();
    let mut order = Vec::new();
    for phrase in phrases {
        let terms: Vec<&[u8]> = phrase.iter().map(|token| terms::of_token(token)).collect();
        let number = *numbers.entry(terms.clone()).or_insert_with(|| {
            distinct.push(terms);
            distinct.len() - 1
        });
        order.push(number);
    }
    (distinct, order)
}

/// A query's phrases as they are found in the index.
struct Located<'a> {
    scorer: Scorer,
    /// By distinct phrase, like the next fields.
    frequencies: Vec<u64>,
    tail: Vec<Match>,
    layers: Vec<Vec<Option<Found<'a>>>>,
}

impl Located<'_> {
    fn counts<'b>(&'b self, layers: &'b [Layer]) -> Counts<'b> {
        let of_rows = self.tail.chunk_by(|left, right| left.id == right.id);
        let cursors = |found: &'b Vec<Option<Found<'_>>>| {
            let found = found.iter().enumerate();
            let cursor = |(phrase, found): (usize, &'b Option<Found<'_>>)| {
                Some((phrase, Cursor::anywhere(found.as_ref()?.postings())))
            };
            found.filter_map(cursor).collect()
        };
        let cursors = self.layers.iter().map(cursors);
        Counts {
            tail: of_rows.map(|found| (found[0].id, found)).collect(),
            layers: layers
                .iter()
                .map(|layer| &layer.dead)
                .zip(cursors)
                .collect(),
            counts: vec![0; self.frequencies.len()],
        }
    }
}

/// Counts a query's phrases in rows.
struct Counts<'a> {
    tail: IdMap<&'a [Match]>,
    layers: Vec<(&'a Dead, Vec<(usize, Cursor<'a>)>)>,
    counts: Vec<u32>,
}

impl Counts<'_> {
    /// By distinct phrase.
    fn of(&mut self, id: u32) -> &[u32] {
        self.counts.fill(0);
        for found in self.tail.get(&id).copied().unwrap_or_default() {
            self.counts[found.phrase] = found.count;
        }
        for (dead, cursors) in &mut self.layers {
            if !dead.contains(id) {
                for (phrase, cursor) in cursors {
                    self.counts[*phrase] += cursor.count(id);
                }
            }
        }
        &self.counts
    }
}
