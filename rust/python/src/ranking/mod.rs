//! The rankings as Python functions of the index.

pub(crate) mod bearing;
pub(crate) mod classic;
pub(crate) mod contextual;

use memstore_kernel::index::features::micros;
use memstore_kernel::index::words::Phrase;
use memstore_kernel::language::{Calendar, Day};
use memstore_kernel::ranking::times::{Condition, First, Topic, Weights};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::arrays::value_error;

/// Offsets from UTC in minutes, each with the minute since which it holds, the first and last days
/// of periods, and whether the dates in the query's words are conditions.
pub(crate) type GivenCalendar = (Vec<(i64, i64)>, Vec<(Day, Day)>, bool);

pub(crate) fn calendar((offsets, days, are_conditions): GivenCalendar) -> Calendar {
    Calendar {
        offsets,
        days,
        are_conditions,
    }
}

/// The moments from which and until which a row may be said, which comes first of what matches
/// ("newest", "oldest"), the words that say so, the rows that tell of an event at which the time begins
/// or ends, what is asked without all this (a text, its words, and the text without stop words), and
/// weights.
pub(crate) type GivenCondition = (
    Option<PyBackedStr>,
    Option<PyBackedStr>,
    Option<PyBackedStr>,
    Vec<Phrase>,
    Vec<u32>,
    Option<(String, Vec<Phrase>, String)>,
    (f64, f64),
);

pub(crate) fn condition(
    (from, until, first, words, event, topic, weights): GivenCondition,
) -> PyResult<Condition> {
    let moment = |text: PyBackedStr| {
        micros(&text).ok_or_else(|| value_error(format!("condition holds no time: {text}")))
    };
    let order = |text: PyBackedStr| match &*text {
        "newest" => Ok(First::Newest),
        "oldest" => Ok(First::Oldest),
        _ => Err(value_error(format!("condition holds no order: {text}"))),
    };
    Ok(Condition {
        from: from.map(moment).transpose()?,
        until: until.map(moment).transpose()?,
        first: first.map(order).transpose()?,
        words,
        event,
        topic: topic.map(|(query, phrases, telling)| Topic {
            query,
            phrases,
            telling,
        }),
        weights: Weights {
            outside: weights.0,
            matching: weights.1,
        },
    })
}
