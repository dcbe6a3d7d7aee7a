//! Rows added or removed since the file was written.

use std::collections::{BTreeSet, TryReserveError};
use std::iter::Peekable;

use super::record::{Place, Record};
use super::{Entry, Stored};
use crate::index::id_hash::RowMap;

/// Rows in the order of arrival; one without [`Record::is_row`] hides the file's row.
#[derive(Default)]
pub(super) struct Fresh {
    places: RowMap,
    records: Vec<Record>,
    numbers: Vec<u16>,
    order: BTreeSet<Place>,
}

impl Fresh {
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Ids are smaller than this.
    pub fn ids(&self) -> usize {
        self.places.keys().max().map_or(0, |id| *id as usize + 1)
    }

    pub fn has(&self, id: u32) -> bool {
        self.places.contains_key(&id)
    }

    pub fn get(&self, id: u32) -> Option<Stored<'_>> {
        let record = &self.records[*self.places.get(&id)? as usize];
        let start = record.start as usize;
        let numbers = &self.numbers[start..start + record.length()];
        Some(Stored { record, numbers })
    }

    /// Reserve memory for one more row.
    pub fn reserve(&mut self, entry: &Entry) -> Result<(), TryReserveError> {
        self.places.try_reserve(1)?;
        self.records.try_reserve(1)?;
        self.numbers.try_reserve(entry.numbers.len())
    }

    /// Add a row, or replace it; [`Fresh::forget`] comes first.
    pub fn put(&mut self, id: u32, entry: &Entry) {
        let record = Record {
            start: self.numbers.len() as u64,
            ..entry.record
        };
        self.numbers.extend_from_slice(&entry.numbers);
        if record.thread != 0 {
            self.order.insert(record.place(id));
        }
        match self.places.get(&id) {
            Some(place) => self.records[*place as usize] = record,
            None => {
                self.places.insert(id, self.records.len() as u32);
                self.records.push(record);
            }
        }
    }

    /// Remove a row from its thread.
    pub fn forget(&mut self, id: u32) {
        if let Some(place) = self.places.get(&id) {
            self.order.remove(&self.records[*place as usize].place(id));
        }
    }

    /// The ids before a place in its thread, nearest first.
    pub fn before(&self, place: Place) -> impl Iterator<Item = u32> {
        let from = (place.0, i64::MIN, 0);
        self.order.range(from..place).rev().map(|place| place.2)
    }

    /// The ids after a place in its thread.
    pub fn behind(&self, place: Place) -> impl Iterator<Item = u32> {
        let to = (place.0, i64::MAX, u32::MAX);
        let range = (
            std::ops::Bound::Excluded(place),
            std::ops::Bound::Included(to),
        );
        let is_empty = place >= to;
        let found = (!is_empty).then(|| self.order.range(range));
        found.into_iter().flatten().map(|place| place.2)
    }

    pub fn nbytes(&self) -> usize {
        self.places.capacity() * (2 * size_of::<u32>() + 1)
            + self.records.capacity() * size_of::<Record>()
            + self.numbers.capacity() * size_of::<u16>()
            + self.order.len() * size_of::<Place>()
    }
}

/// Merge two orders; `first` decides which of two comes first.
pub(super) fn merge(
    left: impl Iterator<Item = u32>,
    right: impl Iterator<Item = u32>,
    first: impl Fn(u32, u32) -> bool,
) -> impl Iterator<Item = u32> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    std::iter::from_fn(move || {
        let takes_left = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) => first(*a, *b),
            (a, _) => a.is_some(),
        };
        next(takes_left, &mut left, &mut right)
    })
}

fn next<T>(
    takes_left: bool,
    left: &mut Peekable<impl Iterator<Item = T>>,
    right: &mut Peekable<impl Iterator<Item = T>>,
) -> Option<T> {
    if takes_left {
        left.next()
    } else {
        right.next()
    }
}
