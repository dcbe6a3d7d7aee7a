//! Which rows a scan may see, as stretches of slots with a bit for each row.
//!
//! A filter is turned into one bit per row by looking its ids up, so its cost is the filter's
//! size, not the rows'. The scan then walks the bits: a small `only` set touches just its own
//! rows, a large one is a pass with a test of one bit, and no threshold decides between them.

use crate::id_hash::IdMap;
use crate::partition::{Partition, ROWS_PER_WORD};
use crate::rows::Rows;

/// Words of a mask that one thread takes at a time: enough rows to make the hand-over cheap, few
/// enough that threads finish together.
const WORDS_AT_ONCE: usize = 4;

/// A restriction by id.
#[derive(Clone, Copy, Debug)]
pub enum Filter<'a> {
    /// Every row.
    All,
    /// Rows whose id is in the list.
    Only(&'a [i64]),
    /// Rows whose id is not in the list.
    Excluding(&'a [i64]),
}

/// A few neighbouring words of a partition's rows.
#[derive(Debug)]
pub(crate) struct Stretch<'a> {
    pub partition: &'a Partition,
    pub first_slot: usize,
    /// Bit `b` of word `w` stands for slot `first_slot + 64 * w + b`.
    pub words: Vec<u64>,
}

/// The rows a scan may see, in the order of memory.
pub(crate) fn stretches<'a>(
    rows: &'a Rows,
    partitions: Option<&[i64]>,
    filter: Filter<'_>,
) -> Vec<Stretch<'a>> {
    let mut chosen: Vec<i64> = match partitions {
        Some(partitions) => partitions.to_vec(),
        None => rows.partition_ids().collect(),
    };
    chosen.sort_unstable();
    chosen.dedup();
    let mut masks = masks(rows, &chosen, filter);
    let mut stretches = Vec::new();
    for partition in chosen {
        if let (Some(words), Some(partition)) =
            (masks.remove(&partition), rows.partition(partition))
        {
            cut(partition, &words, &mut stretches);
        }
    }
    stretches
}

/// A mask for each chosen partition that has rows.
fn masks(rows: &Rows, chosen: &[i64], filter: Filter<'_>) -> IdMap<Vec<u64>> {
    let none_yet = matches!(filter, Filter::Only(_));
    let mut masks = IdMap::default();
    for id in chosen {
        if let Some(partition) = rows.partition(*id) {
            masks.insert(
                *id,
                if none_yet {
                    none(partition)
                } else {
                    all(partition)
                },
            );
        }
    }
    let (listed, visible) = match filter {
        Filter::All => return masks,
        Filter::Only(ids) => (ids, true),
        Filter::Excluding(ids) => (ids, false),
    };
    for place in listed.iter().filter_map(|id| rows.place(*id)) {
        if let Some(words) = masks.get_mut(&place.partition) {
            let (word, bit) = (
                place.slot / ROWS_PER_WORD,
                1 << (place.slot % ROWS_PER_WORD),
            );
            if visible {
                words[word] |= bit
            } else {
                words[word] &= !bit
            }
        }
    }
    masks
}

fn none(partition: &Partition) -> Vec<u64> {
    vec![0; partition.len().div_ceil(ROWS_PER_WORD)]
}

fn all(partition: &Partition) -> Vec<u64> {
    let mut words = vec![u64::MAX; partition.len().div_ceil(ROWS_PER_WORD)];
    let beyond = words.len() * ROWS_PER_WORD - partition.len();
    if let Some(last) = words.last_mut() {
        *last >>= beyond;
    }
    words
}

fn cut<'a>(partition: &'a Partition, words: &[u64], stretches: &mut Vec<Stretch<'a>>) {
    for (index, words) in words.chunks(WORDS_AT_ONCE).enumerate() {
        if words.iter().any(|word| *word != 0) {
            let first_slot = index * WORDS_AT_ONCE * ROWS_PER_WORD;
            stretches.push(Stretch {
                partition,
                first_slot,
                words: words.to_vec(),
            });
        }
    }
}
