//! The time that a query asks for, as a condition on rows.
//!
//! "Before April" is no topic: rows of April do not gain, and those from then on are lowered. "Before
//! NATS" is the same with the moment at which NATS was first said. Of what matches, the latest
//! statement of that time comes first, or the first one if the query asks for it.
//!
//! What is outside and in what order depends on the time; how well a row matches does not, so rows are
//! compared with what is asked, without the words for its time. The row that tells of NATS is neither
//! the answer nor outside: it may say what it took the place of, so it comes after the best answer.
//!
//! A row that has the words of the query for that time is about them, as "before deploying, run the
//! tests" is for "what do we do before deploying?": then there is no condition. It also tells of the
//! event, or has as much of what is asked as any other row: "who changed it last" is not about
//! "when was the cart changed last?".

use crate::index::words::{Phrase, Words};

/// The share of the weights of the words of what is asked that rows which are about it have.
const ABOUT: f64 = 0.6;

/// Which of the rows that match comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The one that was said last.
    Newest,
    /// The one that was said first.
    Oldest,
}

/// What a query says of the time of its answer; moments in microseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Condition {
    /// The first moment.
    pub from: Option<i64>,
    /// The moment at which it ends.
    pub until: Option<i64>,
    /// What is ordered by time.
    pub first: Option<First>,
    /// The words that say so, as the inverted index knows them, if a row may be about these words.
    pub words: Vec<Phrase>,
    /// The rows that tell of an event at which it begins or ends.
    pub event: Vec<u32>,
    /// What is asked, without the time that it is asked of.
    pub topic: Option<Topic>,
    /// What counts for how much.
    pub weights: Weights,
}

/// What rows are compared with, instead of the whole query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topic {
    /// The text.
    pub query: String,
    /// Its words, as the inverted index knows them.
    pub phrases: Vec<Phrase>,
    /// The text without stop words.
    pub telling: String,
}

/// What a condition does to scores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weights {
    /// What a row loses outside of the time asked for.
    pub outside: f64,
    /// The share of the best score with which a row matches as well, so that its time decides.
    pub matching: f64,
}

/// Which candidates are of the time asked for.
pub(crate) struct Holding {
    pub inside: Vec<bool>,
    /// Which ones tell of the event at which it ends.
    pub at_event: Vec<bool>,
    pub first: Option<First>,
    pub weights: Weights,
}

/// Apply a condition to rows, given with the moments they are about; `None` if it is none, as a row
/// has its words.
pub(crate) fn holding(
    condition: &Condition,
    words: &Words,
    last: Option<u32>,
    rows: &[(u32, i64)],
) -> Option<Holding> {
    let ids: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let at_event: Vec<bool> = ids.iter().map(|id| condition.event.contains(id)).collect();
    if !condition.words.is_empty() {
        let about = if condition.event.is_empty() {
            about(words, condition.topic.as_ref(), &ids, last)
        } else {
            at_event.clone()
        };
        let held = words.parts(&condition.words, &ids, last);
        let has = |at: usize| held.of(at).iter().all(|part| *part > 0.0);
        if (0..ids.len()).any(|at| about[at] && has(at)) {
            return None;
        }
    }
    let (from, until) = (condition.from, condition.until);
    let is_inside = |(_, said): &(u32, i64)| {
        from.is_none_or(|from| *said >= from) && until.is_none_or(|until| *said < until)
    };
    Some(Holding {
        inside: rows.iter().map(is_inside).collect(),
        at_event,
        first: condition.first,
        weights: condition.weights,
    })
}

/// Which rows are about what is asked: those that have the most of its words, if that is enough; all,
/// if it has no words.
fn about(words: &Words, topic: Option<&Topic>, ids: &[u32], last: Option<u32>) -> Vec<bool> {
    let Some(topic) = topic.filter(|topic| !topic.phrases.is_empty()) else {
        return vec![true; ids.len()];
    };
    let held = words.parts(&topic.phrases, ids, last);
    let share = |at: usize| -> f64 {
        let parts = held.of(at).iter().zip(&held.weights);
        parts
            .filter(|(part, _)| **part > 0.0)
            .map(|(_, weight)| weight)
            .sum()
    };
    let shares: Vec<f64> = (0..ids.len()).map(share).collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    let all: f64 = held.weights.iter().sum();
    let least = (most * (1.0 - f64::EPSILON)).max(ABOUT * all);
    shares
        .iter()
        .map(|share| *share > 0.0 && *share >= least)
        .collect()
}
