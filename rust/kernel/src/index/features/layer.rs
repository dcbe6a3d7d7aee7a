//! Rows in memory or in a file, stored contiguously.

use std::collections::TryReserveError;
use std::sync::Arc;

use super::Stored;
use super::record::{Place, Record};
use crate::index::mapped::{Mapped, Numbers, Refused};
use crate::model::tokens;

/// Immutable rows by id.
#[derive(Default)]
pub(super) struct Layer {
    records: Numbers<Record>,
    numbers: Numbers<u16>,
    /// The ids of the rows with a thread, in the order of their places.
    order: Numbers<u32>,
}

impl Layer {
    /// Ids are smaller than this.
    pub fn ids(&self) -> usize {
        self.records.len()
    }

    pub fn get(&self, id: u32) -> Option<Stored<'_>> {
        let record = self.records.get(id as usize)?;
        let start = record.start as usize;
        let numbers = &self.numbers[start..start + record.length()];
        Some(Stored { record, numbers })
    }

    /// The existing rows among these ids.
    pub fn of<'a>(
        ids: usize,
        stored: impl Fn(u32) -> Option<Stored<'a>>,
    ) -> Result<Self, TryReserveError> {
        let (mut records, mut numbers, mut order) = (Vec::new(), Vec::new(), Vec::new());
        records.try_reserve_exact(ids)?;
        for id in 0..ids as u32 {
            let mut record = Record::default();
            if let Some(stored) = stored(id) {
                record = Record {
                    start: numbers.len() as u64,
                    ..*stored.record
                };
                numbers.try_reserve(stored.numbers.len())?;
                numbers.extend_from_slice(stored.numbers);
                if record.thread != 0 {
                    order.try_reserve(1)?;
                    order.push(id);
                }
            }
            records.push(record);
        }
        order.sort_unstable_by_key(|id| records[*id as usize].place(*id));
        Ok(Self {
            records: records.into(),
            numbers: numbers.into(),
            order: order.into(),
        })
    }

    /// The ids before a place in its thread, nearest first, and those after it.
    pub fn around(&self, place: Place) -> (impl Iterator<Item = u32>, impl Iterator<Item = u32>) {
        let is_here = move |id: &u32| self.place(*id).0 == place.0;
        let (before, rest) = {
            let at = self.order.partition_point(|id| self.place(*id) < place);
            self.order.split_at(at)
        };
        let is_itself = rest.first().is_some_and(|id| self.place(*id) == place);
        let behind = &rest[usize::from(is_itself)..];
        (
            before.iter().rev().copied().take_while(is_here),
            behind.iter().copied().take_while(is_here),
        )
    }

    fn place(&self, id: u32) -> Place {
        self.records[id as usize].place(id)
    }

    pub fn nbytes(&self) -> usize {
        self.records.nbytes() + self.numbers.nbytes() + self.order.nbytes()
    }

    pub fn sections(&self) -> [&[u8]; 3] {
        [
            self.records.bytes(),
            self.numbers.bytes(),
            self.order.bytes(),
        ]
    }

    pub fn open(file: &Arc<Mapped>, first: usize) -> Result<Self, Refused> {
        let layer = Self {
            records: file.numbers(first)?,
            numbers: file.numbers(first + 1)?,
            order: file.numbers(first + 2)?,
        };
        let (records, numbers) = (&*layer.records, &*layer.numbers);
        let is_within = |record: &Record| {
            let start = usize::try_from(record.start).ok();
            let end = start.and_then(|start| start.checked_add(record.length()));
            end.is_some_and(|end| end <= numbers.len())
        };
        let count = tokens::count();
        let is_sound = records.iter().all(is_within)
            && records.iter().all(|record| {
                let from = record.start as usize;
                let tokens_of = &numbers[from..from + record.tokens as usize];
                tokens_of
                    .last()
                    .is_none_or(|last| usize::from(*last) < count)
            })
            && layer.order.iter().all(|id| (*id as usize) < records.len());
        if is_sound {
            Ok(layer)
        } else {
            Err(Refused::Damaged)
        }
    }
}
