//! Moments as numbers whose order is that of their texts.

use std::cmp::Ordering;
use std::collections::TryReserveError;
use std::sync::Arc;

use super::texts::Texts;
use super::{BITS, Period, bits, each, keep, keep_in, place};
use crate::index::ids::Ids;
use crate::index::mapped::{Mapped, Numbers, Refused};

/// No moment. A positive number is a moment in the standard form, a negative one the code of
/// another text.
const NONE: i64 = 0;

/// From this many ids of a word on, all 64 numbers are compared.
const MANY: u32 = 16;

/// The earliest and the latest moment of [`BITS`] rows, or a wider range; of rows without any, one
/// that holds nothing. A range that begins before [`NONE`] says nothing, as some moments have
/// another form.
type Range = [i64; 2];

const EMPTY: Range = [i64::MAX, NONE];

/// A column of moments by row id.
#[derive(Default)]
pub(super) struct Moments {
    numbers: Numbers<i64>,
    /// For each [`BITS`] rows.
    ranges: Numbers<Range>,
    /// Moments that another program wrote in another form, compared as texts.
    odd: Texts,
}

impl Moments {
    pub fn set(&mut self, id: u32, moment: Option<&str>) -> Result<(), TryReserveError> {
        let number = match moment {
            None => NONE,
            Some(text) => match number(text) {
                Some(number) => number,
                None => -i64::from(self.odd.code_of(moment.map(str::as_bytes))?),
            },
        };
        if number != NONE {
            let index = id as usize / BITS;
            let ranges = self.ranges.to_mut()?;
            if index >= ranges.len() {
                ranges.try_reserve(index + 1 - ranges.len())?;
                ranges.resize(index + 1, EMPTY);
            }
            ranges[index] = wider(ranges[index], number);
        }
        if self.numbers.get(id as usize).copied().unwrap_or(NONE) != number {
            *place(self.numbers.to_mut()?, id)? = number;
        }
        Ok(())
    }

    /// Remove the ids whose moments are not in the period.
    pub fn narrow(&self, words: &mut [u64], period: &Period<'_>) {
        let after = period.after.map(|text| (text, number(text)));
        let before = period.before.map(|text| (text, number(text)));
        let numbers = &*self.numbers;
        let all = words.len();
        // No row behind the last number has a moment.
        let words = match period.or_none {
            true => &mut words[..all.min(numbers.len().div_ceil(BITS))],
            false => words,
        };
        let test = |id: usize| match numbers.get(id) {
            None | Some(&NONE) => period.or_none,
            Some(stored) => {
                after.is_none_or(|bound| self.compare(*stored, bound).is_gt())
                    && before.is_none_or(|bound| self.compare(*stored, bound).is_lt())
            }
        };
        let bound = |given: Option<(&str, Option<i64>)>, none| given.map_or(Some(none), |(_, n)| n);
        let (Some(after), Some(before)) = (bound(after, NONE), bound(before, i64::MAX)) else {
            return keep(words, &test);
        };
        let ranges = &*self.ranges;
        for (index, word) in words.iter_mut().enumerate() {
            let range = ranges.get(index).copied().unwrap_or(EMPTY);
            match passing(range, after, before) {
                Some(true) if period.or_none => continue,
                Some(false) if !period.or_none => {
                    *word = 0;
                    continue;
                }
                _ => {}
            }
            let chunk = numbers.get(index * BITS..).and_then(<[i64]>::first_chunk);
            match chunk {
                _ if *word == 0 => {}
                Some(chunk) if word.count_ones() >= MANY => {
                    match between(chunk, after, before, period.or_none) {
                        Some(within) => *word &= within,
                        None => keep_in(word, index, &test),
                    }
                }
                _ => keep_in(word, index, &test),
            }
        }
    }

    /// See [`super::Columns::histogram`].
    pub fn histogram(&self, among: &Ids, bounds: &[&str]) -> Result<Vec<u32>, TryReserveError> {
        let bounds: Vec<_> = bounds.iter().map(|text| (*text, number(text))).collect();
        let mut found = Vec::new();
        found.try_reserve_exact(bounds.len())?;
        found.resize(bounds.len(), 0);
        let place = |stored| bounds.partition_point(|one| self.compare(stored, *one).is_ge());
        // The bounds around the moment of the row before, and their place: most are between them, too.
        let (mut near, mut at) = ([0, 0], 0_usize);
        for (index, word) in among.words().iter().enumerate() {
            let [first, last] = self.ranges.get(index).copied().unwrap_or(EMPTY);
            if first >= near[0] && last < near[1] {
                if let Some(number) = at.checked_sub(1).and_then(|at| found.get_mut(at)) {
                    let chunk = self.numbers.get(index * BITS..).unwrap_or_default();
                    let stored = chunk.iter().take(BITS).map(|number| *number != NONE);
                    *number += (*word & bits(stored)).count_ones();
                }
                continue;
            }
            each(*word, |bit| {
                let stored = *self.numbers.get(index * BITS + bit).unwrap_or(&NONE);
                if stored == NONE {
                    return;
                }
                let is_near = near[0] <= stored && stored < near[1];
                if !is_near {
                    at = place(stored);
                    let bound = |at: usize| bounds.get(at).map_or(Some(i64::MAX), |one| one.1);
                    let first = at.checked_sub(1).map_or(Some(1), bound);
                    near = first.zip(bound(at)).map_or([0, 0], |(from, to)| [from, to]);
                }
                if let Some(number) = at.checked_sub(1).and_then(|at| found.get_mut(at)) {
                    *number += 1;
                }
            });
        }
        Ok(found)
    }

    fn compare(&self, stored: i64, (text, bound): (&str, Option<i64>)) -> Ordering {
        match bound {
            Some(bound) if stored > 0 => stored.cmp(&bound),
            _ if stored > 0 => self::text(stored).as_bytes().cmp(text.as_bytes()),
            _ => self.odd_text(stored).cmp(&Some(text.as_bytes())),
        }
    }

    fn odd_text(&self, stored: i64) -> Option<&[u8]> {
        self.odd.get(u32::try_from(stored.unsigned_abs()).ok()?)
    }

    /// The same column with the moments of these rows alone.
    pub fn compacted(&self, is_row: impl Fn(usize) -> bool) -> Result<Self, TryReserveError> {
        let mut odd = Texts::default();
        let mut numbers: Vec<i64> = Vec::new();
        numbers.try_reserve_exact(self.numbers.len())?;
        for (id, stored) in self.numbers.iter().enumerate() {
            numbers.push(match *stored {
                _ if !is_row(id) => NONE,
                stored if stored < NONE => -i64::from(odd.code_of(self.odd_text(stored))?),
                stored => stored,
            });
        }
        let chunks = numbers.chunks(BITS);
        let mut ranges = Vec::new();
        ranges.try_reserve_exact(chunks.len())?;
        ranges.extend(chunks.map(|chunk| {
            let moments = chunk.iter().filter(|number| **number != NONE);
            moments.fold(EMPTY, |range, number| wider(range, *number))
        }));
        Ok(Self {
            numbers: numbers.into(),
            ranges: ranges.into(),
            odd,
        })
    }

    pub fn nbytes(&self) -> usize {
        self.numbers.nbytes() + self.ranges.nbytes() + self.odd.nbytes()
    }

    pub fn sections(&self) -> impl Iterator<Item = &[u8]> {
        let numbers = [self.numbers.bytes(), self.ranges.bytes()];
        numbers.into_iter().chain(self.odd.sections())
    }

    pub fn read(file: &Arc<Mapped>, next: &mut usize) -> Result<Self, Refused> {
        let (numbers, ranges) = (file.numbers(*next)?, file.numbers(*next + 1)?);
        *next += 2;
        Ok(Self {
            numbers,
            ranges,
            odd: Texts::read(file, next)?,
        })
    }
}

/// A range that a number is in as well.
fn wider([first, last]: Range, number: i64) -> Range {
    [first.min(number), last.max(number)]
}

/// Whether all moments of a range are between two, both exclusive, or none is; `None` if it does not
/// say.
fn passing([first, last]: Range, after: i64, before: i64) -> Option<bool> {
    match first > after && last < before {
        _ if first < NONE => None,
        true => Some(true),
        false => (last <= after || first >= before).then_some(false),
    }
}

/// The bits of the numbers between two, both exclusive; `None` if one is the code of a text. Without a
/// branch for each.
fn between(numbers: &[i64; BITS], after: i64, before: i64, or_none: bool) -> Option<u64> {
    let (mut bits, mut all) = (0, NONE);
    for number in numbers {
        let within = (*number > after) & (*number < before) | (or_none & (*number == NONE));
        bits = bits >> 1 | u64::from(within) << (BITS - 1);
        all |= number;
    }
    (all >= NONE).then_some(bits)
}

/// The parts of `2026-01-31T23:59:59.000000Z`: where each begins, its digits, and one more than its
/// largest value.
const PARTS: [(usize, usize, i64); 7] = [
    (0, 4, 10_000),
    (5, 2, 13),
    (8, 2, 32),
    (11, 2, 24),
    (14, 2, 60),
    (17, 2, 61),
    (20, 6, 1_000_000),
];

const FORM: &[u8; 27] = b"0000-00-00T00:00:00.000000Z";

/// A positive number for a text in the standard form, in the order of the texts.
fn number(text: &str) -> Option<i64> {
    let bytes: &[u8; 27] = text.as_bytes().try_into().ok()?;
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    };
    if !bytes.iter().zip(FORM).all(fits) {
        return None;
    }
    let mut number = 0;
    for (from, digits, end) in PARTS {
        let part = &bytes[from..from + digits];
        let value = part
            .iter()
            .fold(0, |sum, digit| 10 * sum + i64::from(digit - b'0'));
        if value >= end {
            return None;
        }
        number = number * end + value;
    }
    Some(number + 1)
}

/// The text for a number.
fn text(number: i64) -> String {
    let mut left = number - 1;
    let mut text = FORM.to_vec();
    for (from, digits, end) in PARTS.into_iter().rev() {
        let mut value = left % end;
        left /= end;
        for digit in text[from..from + digits].iter_mut().rev() {
            *digit = b'0' + (value % 10) as u8;
            value /= 10;
        }
    }
    String::from_utf8(text).expect("digits")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_sort_like_texts(
            left in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\\.[0-9]{6}Z",
            right in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\\.[0-9]{6}Z",
        ) {
            if let (Some(one), Some(other)) = (number(&left), number(&right)) {
                prop_assert_eq!(one.cmp(&other), left.cmp(&right));
                prop_assert_eq!(text(one), left);
                prop_assert!(one > 0);
            }
        }
    }

    #[test]
    fn other_forms_have_no_number() {
        for other in [
            "",
            "2026",
            "2026-01-31T23:59:59Z",
            "2026-13-31T23:59:59.000000Z",
            "2026-01-31 23:59:59.000000Z",
            "2026-01-31T23:59:5x.000000Z",
        ] {
            assert_eq!(number(other), None, "{other}");
        }
        assert!(number("9999-12-31T23:59:59.999999Z").is_some());
    }
}
