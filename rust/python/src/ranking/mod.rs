//! The rankings as Python functions of the index.

pub(crate) mod bearing;
pub(crate) mod classic;
pub(crate) mod contextual;

use memstore_kernel::language::{Calendar, Day};

/// Offsets from UTC in minutes, each with the minute since which it holds, and days.
pub(crate) type GivenCalendar = (Vec<(i64, i64)>, Vec<Day>);

pub(crate) fn calendar((offsets, days): GivenCalendar) -> Calendar {
    Calendar { offsets, days }
}
