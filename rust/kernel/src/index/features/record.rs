//! The data of a row besides its tokens.

use bytemuck::{Pod, Zeroable};

use crate::language::{Calendar, Day};

/// A row as it is given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Row<'a> {
    /// The text that is compared with queries.
    pub text: &'a str,
    /// Its speaker or subject.
    pub speaker: Option<&'a str>,
    /// The unique name of its conversation; `None` is a conversation of its own.
    pub thread: Option<&'a str>,
    /// Its place there.
    pub seq: i64,
    /// The moment that it is about.
    pub valid: Option<&'a str>,
    /// When it was stored.
    pub created: Option<&'a str>,
    /// When it was last confirmed.
    pub confirmed: Option<&'a str>,
    /// The kind that determines how fast it ages; `None` for not at all.
    pub ages_as: Option<&'a str>,
}

/// The same with texts as hashes, and the place of its tokens.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Record {
    /// The start of its tokens in its layer; the names' hashes follow them.
    pub start: u64,
    /// 0 where there is none.
    pub thread: u64,
    pub seq: i64,
    /// When it was stored or last confirmed, whichever is later, in microseconds since 1970.
    pub known: i64,
    /// The same of the moment that it is about, if there is one.
    pub said: i64,
    /// Of the sum of its tokens' vectors.
    pub norm: f32,
    /// The number of its tokens, which are sorted, with repetitions.
    pub tokens: u32,
    pub words: u32,
    /// 0 where there is none, like the next.
    pub speaker: u32,
    pub ages_as: u32,
    pub year: u16,
    /// Of the day, in UTC like the day itself.
    pub minute: u16,
    pub month: u8,
    pub day: u8,
    pub flags: u8,
    pub names: u8,
    /// 1 if there is a row.
    pub is_row: u8,
    pub unused: [u8; 3],
}

/// Two tokens' worth of memory for the hash of a name.
pub(super) const PER_NAME: usize = 2;

impl Record {
    /// The day that it is about.
    pub fn day_in(&self, calendar: &Calendar) -> Day {
        calendar.day((self.year, self.month, self.day), self.minute)
    }

    /// Elements that it has in its layer.
    pub fn length(&self) -> usize {
        self.tokens as usize + PER_NAME * usize::from(self.names)
    }

    /// Its place among the rows of its thread.
    pub fn place(&self, id: u32) -> Place {
        (self.thread, self.seq, id)
    }
}

/// Thread, place in it and id: the order of the rows in their threads.
pub(crate) type Place = (u64, i64, u32);
