//! Mentions in blocks against the pairs that they were packed from.

use std::collections::{BTreeMap, BTreeSet};

use memstore_kernel::index::ids::Ids;
use memstore_kernel::index::mentions::{Counts, Refused, Unordered, pack, without};
use proptest::prelude::*;

type Mentions = BTreeSet<(u32, u32)>;

fn mentions() -> impl Strategy<Value = Mentions> {
    let id = prop_oneof![0..40_u32, 100..20_000_u32, u32::MAX - 2..=u32::MAX];
    prop::collection::btree_set((0..30_u32, id), 0..80)
}

/// Blocks that begin at 0 and at these places.
fn blocks(mentions: &Mentions, ends: &BTreeSet<u32>) -> Vec<(u32, Vec<u8>)> {
    let starts: Vec<u32> = std::iter::once(0).chain(ends.iter().copied()).collect();
    let block = |at: usize| {
        let end = starts.get(at + 1).copied().unwrap_or(u32::MAX);
        let part: Vec<_> = mentions.range((starts[at], 0)..(end, 0)).copied().collect();
        (starts[at], pack(starts[at], &part).unwrap())
    };
    (0..starts.len()).map(block).collect()
}

proptest! {
    #[test]
    fn counts_equal_those_of_the_pairs(
        mentions in mentions(),
        ends in prop::collection::btree_set(1..35_u32, 0..4),
        among in prop::collection::vec(0..20_000_u32, 0..60),
        share in any::<u64>(),
        merged in prop::collection::btree_map(10..30_u32, 0..10_u32, 0..6),
        limit in 0..12_usize,
        erased in 0..40_u32,
    ) {
        let chosen = mentions.iter().filter(|one| share >> (one.1 % 64) & 1 == 1 && one.1 < 20_000);
        let among: Vec<u32> = among.into_iter().chain(chosen.map(|one| one.1)).collect();
        let among = Ids::of(&among).unwrap();
        let blocks = blocks(&mentions, &ends);
        let merged: Vec<(u32, u32)> = merged.into_iter().collect();
        let of = |blocks: &[(u32, Vec<u8>)]| {
            let blocks: Vec<(u32, &[u8])> = blocks.iter().map(|one| (one.0, &*one.1)).collect();
            Counts::new(&blocks, &among, &merged).unwrap()
        };
        let kept: Vec<_> = blocks
            .iter()
            .map(|(first, block)| (*first, without(block, erased).unwrap()))
            .collect();
        let remaining = mentions.iter().copied().filter(|one| one.1 != erased).collect();
        for (counts, mentions) in [(of(&blocks), &mentions), (of(&kept), &remaining)] {
            let mut names: BTreeMap<u32, u32> = BTreeMap::new();
            let mut entities: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            for (name, fact) in mentions.iter().filter(|one| among.contains(one.1)) {
                let whose = merged.iter().find(|one| one.0 == *name).map_or(*name, |one| one.1);
                *names.entry(*name).or_default() += 1;
                entities.entry(whose).or_default().insert(*fact);
            }
            let facts = |one: u32| entities.get(&one).map_or(0, BTreeSet::len) as u32;
            prop_assert!(counts.names().unwrap().iter().eq(names.keys().copied()));
            prop_assert_eq!(counts.entities(), entities.len());
            for place in 0..40 {
                let number = names.get(&place).copied().unwrap_or(0);
                prop_assert_eq!(counts.mentions(place), number);
                prop_assert_eq!(counts.facts(place), facts(place));
            }
            let mut most: Vec<_> = entities.keys().map(|one| (*one, facts(*one))).collect();
            most.sort_by_key(|one| (u32::MAX - one.1, one.0));
            most.truncate(limit);
            prop_assert_eq!(counts.most(limit), most);
        }
    }

    #[test]
    fn damaged_blocks_are_refused_or_counted(block in prop::collection::vec(any::<u8>(), 0..40)) {
        let among = Ids::of(&[1, 2, 3]).unwrap();
        if let Err(error) = Counts::new(&[(u32::MAX - 3, &block)], &among, &[]) {
            prop_assert_eq!(error, Refused::Damaged);
        }
    }
}

#[test]
fn pack_wants_order() {
    for mentions in [[(2, 1), (1, 1)], [(1, 2), (1, 1)], [(1, 1), (1, 1)]] {
        assert_eq!(pack(0, &mentions), Err(Unordered));
    }
    assert_eq!(pack(2, &[(1, 1)]), Err(Unordered));
}

#[test]
fn a_block_that_ends_within_a_number_is_refused() {
    let block = pack(0, &[(0, 5), (0, 700)]).unwrap();
    for length in 1..block.len() {
        let counts = Counts::new(&[(0, &block[..length])], &Ids::default(), &[]);
        assert_eq!(counts.unwrap_err(), Refused::Damaged);
        assert_eq!(without(&block[..length], 1).unwrap_err(), Refused::Damaged);
    }
}
