//! Which facts mention the names of a graph: in blocks, so that all are read as few rows.
//!
//! A name is known by its place in the graph. A block is about successive names: for each, how many
//! facts mention it, and their ids as distances, each from the one before. Its numbers are in base
//! 128, the lowest digit first, and all digits but the last of a number have the highest bit set.

use std::collections::{HashMap, TryReserveError};

use crate::index::ids::Ids;

/// The mentions cannot be packed: they are not in order, or one is there twice, or is of a name
/// before the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unordered;

/// Why mentions cannot be counted.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// A block ends within a number, or has one that is too large.
    Damaged,
    /// There is no memory.
    NoMemory(TryReserveError),
}

impl From<TryReserveError> for Refused {
    fn from(error: TryReserveError) -> Self {
        Self::NoMemory(error)
    }
}

/// The block of the names from a place on, with their mentions: the name's place and the fact's id,
/// in this order.
///
/// # Errors
/// They are not in this order.
pub fn pack(first: u32, mentions: &[(u32, u32)]) -> Result<Vec<u8>, Unordered> {
    let mut block = Vec::with_capacity(3 * mentions.len());
    let mut next = first;
    for of_name in mentions.chunk_by(|one, other| one.0 == other.0) {
        let place = of_name[0].0;
        let ids = of_name.iter().map(|mention| mention.1);
        if place < next || !ids.clone().is_sorted_by(|one, other| one < other) {
            return Err(Unordered);
        }
        for _ in next..place {
            put(&mut block, 0);
        }
        put_name(&mut block, ids);
        next = place.checked_add(1).ok_or(Unordered)?;
    }
    Ok(block)
}

fn put_name(block: &mut Vec<u8>, ids: impl ExactSizeIterator<Item = u32>) {
    put(block, ids.len() as u32);
    let mut before = 0;
    for id in ids {
        put(block, id - before);
        before = id;
    }
}

fn put(block: &mut Vec<u8>, mut number: u32) {
    while number > 0x7F {
        block.push(number as u8 | 0x80);
        number >>= 7;
    }
    block.push(number as u8);
}

/// Take a number from the beginning of a block.
#[inline]
fn take(block: &mut &[u8]) -> Option<u32> {
    let (mut number, mut shift) = (0_u32, 0);
    loop {
        let (byte, rest) = block.split_first()?;
        *block = rest;
        let digit = u32::from(byte & 0x7F);
        number |= digit << shift;
        if number >> shift != digit {
            return None;
        }
        if *byte < 0x80 {
            return Some(number);
        }
        shift += 7;
        if shift > 28 {
            return None;
        }
    }
}

/// Call with each id of the next name.
#[inline]
fn take_name(block: &mut &[u8], mut call: impl FnMut(u32)) -> Option<()> {
    let mut id = 0_u32;
    for _ in 0..take(block)? {
        id = id.checked_add(take(block)?)?;
        call(id);
    }
    Some(())
}

/// The same block without the mentions by a fact.
///
/// # Errors
/// The block is damaged.
pub fn without(mut block: &[u8], fact: u32) -> Result<Vec<u8>, Refused> {
    let mut kept = Vec::with_capacity(block.len());
    let mut ids = Vec::new();
    while !block.is_empty() {
        ids.clear();
        take_name(&mut block, |id| ids.push(id)).ok_or(Refused::Damaged)?;
        ids.retain(|id| *id != fact);
        put_name(&mut kept, ids.iter().copied());
    }
    Ok(kept)
}

/// How many of certain facts mention each name, and each entity.
#[derive(Debug, Default)]
pub struct Counts {
    /// Names with any, in their order.
    names: Vec<(u32, u32)>,
    /// Entities with any, in their order.
    entities: Vec<(u32, u32)>,
}

impl Counts {
    /// Count the mentions of blocks by the facts that are among some.
    ///
    /// # Args
    /// - `blocks`: each with the place of its first name, in this order.
    /// - `merged`: names that have an entity's place besides their own.
    ///
    /// # Errors
    /// A block is damaged, or there is no memory.
    pub fn new(
        blocks: &[(u32, &[u8])],
        among: &Ids,
        merged: &[(u32, u32)],
    ) -> Result<Self, Refused> {
        let mut entity: HashMap<u32, u32> = HashMap::new();
        for (name, whose) in merged {
            entity.insert(*name, *whose);
            entity.insert(*whose, *whose);
        }
        let mut counts = Self::default();
        let mut facts: HashMap<u32, Vec<u32>> = HashMap::new();
        for (first, block) in blocks {
            let (mut place, mut block) = (*first, *block);
            while !block.is_empty() {
                let mut number = 0;
                if let Some(whose) = entity.get(&place) {
                    let found = facts.entry(*whose).or_default();
                    let before = found.len();
                    take_name(&mut block, |id| {
                        found.extend(among.contains(id).then_some(id))
                    })
                    .ok_or(Refused::Damaged)?;
                    number = (found.len() - before) as u32;
                } else {
                    take_name(&mut block, |id| number += u32::from(among.contains(id)))
                        .ok_or(Refused::Damaged)?;
                    counts.entities.try_reserve(1)?;
                    counts
                        .entities
                        .extend((number > 0).then_some((place, number)));
                }
                counts.names.try_reserve(1)?;
                counts.names.extend((number > 0).then_some((place, number)));
                place = place.checked_add(1).ok_or(Refused::Damaged)?;
            }
        }
        for (whose, mut ids) in facts {
            ids.sort_unstable();
            ids.dedup();
            counts
                .entities
                .extend((!ids.is_empty()).then_some((whose, ids.len() as u32)));
        }
        counts.names.sort_unstable();
        counts.entities.sort_unstable();
        Ok(counts)
    }

    /// The places of the names that a fact mentions.
    ///
    /// # Errors
    /// There is no memory for a bit for each place.
    pub fn names(&self) -> Result<Ids, TryReserveError> {
        let places: Vec<u32> = self.names.iter().map(|name| name.0).collect();
        Ids::of(&places)
    }

    /// How many facts mention a name.
    #[must_use]
    pub fn mentions(&self, name: u32) -> u32 {
        number_of(&self.names, name)
    }

    /// How many facts mention an entity by any of its names.
    #[must_use]
    pub fn facts(&self, entity: u32) -> u32 {
        number_of(&self.entities, entity)
    }

    /// How many entities a fact mentions.
    #[must_use]
    pub fn entities(&self) -> usize {
        self.entities.len()
    }

    /// The entities that most facts mention, with their number; of equals, the first.
    #[must_use]
    pub fn most(&self, limit: usize) -> Vec<(u32, u32)> {
        let order = |one: &(u32, u32)| (u32::MAX - one.1, one.0);
        let mut found = self.entities.clone();
        if limit < found.len() {
            found.select_nth_unstable_by_key(limit, order);
            found.truncate(limit);
        }
        found.sort_unstable_by_key(order);
        found
    }
}

fn number_of(counted: &[(u32, u32)], place: u32) -> u32 {
    let at = counted.binary_search_by_key(&place, |one| one.0);
    at.map_or(0, |at| counted[at].1)
}
