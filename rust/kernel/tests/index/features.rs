//! The features of rows compared with a plain map.

use std::collections::{BTreeMap, BTreeSet};

use crate::folder::Folder;
#[cfg(feature = "model")]
use memstore_kernel::index::codes::{Batch, Codes, Lanes, Scan};
use memstore_kernel::index::features::{self, Features, KIND, Row, VERSION};
use memstore_kernel::index::ids::Ids;
use memstore_kernel::index::mapped::Tag;
#[cfg(feature = "model")]
use memstore_kernel::model::BuiltInModel;
use proptest::prelude::*;

const TAG: Tag = Tag {
    kind: KIND,
    version: VERSION,
    database: [5; 16],
    generation: 0,
};

const WORDS: [&str; 5] = ["tea", "harbour", "東京", "a long walk", ""];
const THREADS: [Option<&str>; 3] = [None, Some("one"), Some("two")];

#[derive(Clone, Debug)]
struct Given {
    text: String,
    thread: Option<&'static str>,
    seq: i64,
}

#[derive(Clone, Debug)]
enum Change {
    Put(u32, Given),
    Drop(u32),
    Save,
}

fn given() -> impl Strategy<Value = Given> {
    let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 0..6);
    let thread = prop::sample::select(&THREADS[..]);
    (words, thread, -2_i64..4).prop_map(|(words, thread, seq)| Given {
        text: words.join(" "),
        thread,
        seq,
    })
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => (0_u32..40, given()).prop_map(|(id, given)| Change::Put(id, given)),
        3 => (0_u32..40).prop_map(Change::Drop),
        1 => Just(Change::Save),
    ]
}

type Model = BTreeMap<u32, Given>;

fn apply(stored: &mut Features, model: &mut Model, change: Change, folder: &Folder) {
    match change {
        Change::Put(id, given) => {
            let row = Row {
                text: &given.text,
                thread: given.thread,
                seq: given.seq,
                ..Row::default()
            };
            stored.put(id, &features::read(&row).unwrap()).unwrap();
            model.insert(id, given);
        }
        Change::Drop(id) => {
            let was_here = stored.remove(id).unwrap();
            assert_eq!(was_here, model.remove(&id).is_some());
        }
        Change::Save => {
            let path = folder.file();
            stored.save(&path, &TAG, 7).unwrap();
            let (opened, file) = Features::open(&path, &TAG).unwrap();
            assert_eq!(file.position(), 7);
            *stored = opened;
        }
    }
}

#[cfg(feature = "model")]
fn tokens(text: &str) -> BTreeSet<u16> {
    let model = BuiltInModel::embedded();
    model.token_ids(&[text]).unwrap()[0]
        .iter()
        .copied()
        .collect()
}

fn check_statistics(stored: &Features, model: &Model) {
    assert_eq!(stored.len(), model.len());
    let words: usize = model.values().map(|row| words(&row.text)).sum();
    let mean = words as f64 / model.len().max(1) as f64;
    assert!((stored.mean_words() - mean).abs() < 1e-9);
    #[cfg(feature = "model")]
    for word in WORDS {
        for (token, weight) in stored.query(word).unwrap().weights() {
            let having = model
                .values()
                .filter(|row| tokens(&row.text).contains(&token))
                .count();
            let idf = ((model.len() as f64 + 1.0) / (having as f64 + 0.5))
                .ln()
                .max(0.0);
            assert!((weight - idf).abs() < 1e-9, "{word}");
        }
    }
}

/// Two characters of 東京 are a word more.
fn words(text: &str) -> usize {
    let unspaced = text.chars().filter(|one| !one.is_ascii()).count() / 2;
    text.split_whitespace().count() + unspaced
}

fn neighbours(model: &Model, id: u32, reach: usize, visible: &Ids) -> BTreeSet<u32> {
    let Some(thread) = model.get(&id).and_then(|row| row.thread) else {
        return BTreeSet::new();
    };
    let seen = |other: u32| other == id || visible.contains(other);
    let mut order: Vec<(i64, u32)> = model
        .iter()
        .filter(|(other, row)| row.thread == Some(thread) && seen(**other))
        .map(|(other, row)| (row.seq, *other))
        .collect();
    order.sort_unstable();
    let at = order.iter().position(|one| one.1 == id).unwrap();
    let near = order[at.saturating_sub(reach)..(at + reach + 1).min(order.len())].iter();
    near.map(|one| one.1).filter(|other| *other != id).collect()
}

proptest! {
    #[test]
    fn rows_statistics_and_neighbours_match_a_plain_map(
        changes in prop::collection::vec(change(), 1..60),
        hidden in prop::collection::btree_set(0_u32..40, 0..20),
        reach in 0_usize..4,
    ) {
        let folder = Folder::new("features");
        let (mut stored, mut model) = (Features::default(), Model::new());
        let seen: Vec<u32> = (0..40).filter(|id| !hidden.contains(id)).collect();
        let visible = Ids::of(&seen).unwrap();
        for change in changes {
            apply(&mut stored, &mut model, change, &folder);
            for id in (0..41).step_by(7) {
                let found = stored.neighbours(&[id], reach, Some(&visible));
                let found: BTreeSet<u32> = found.into_iter().collect();
                prop_assert_eq!(found, neighbours(&model, id, reach, &visible));
            }
        }
        check_statistics(&stored, &model);
    }
}

#[cfg(feature = "model")]
#[test]
fn the_cosine_of_a_text_equals_that_of_its_vector() {
    let model = BuiltInModel::embedded();
    let mut stored = Features::default();
    let all = ["tea at the harbour", "東京", "tea tea tea", ""];
    for (id, text) in (0..).zip(all) {
        let row = Row {
            text,
            ..Row::default()
        };
        stored.put(id, &features::read(&row).unwrap()).unwrap();
    }
    let query: [f32; 256] = model
        .embed(&["tea in the morning"])
        .unwrap()
        .try_into()
        .unwrap();
    let found = stored.cosines(&query, &[0, 1, 2, 3, 4]);
    for (text, found) in all.iter().zip(&found) {
        let vector = model.embed(&[text]).unwrap();
        let cosine: f32 = vector.iter().zip(&query).map(|(x, y)| x * y).sum();
        assert!((found.unwrap() - cosine).abs() < 1e-5, "{text}");
    }
    assert_eq!(found[4], None);
}

#[cfg(feature = "model")]
fn embedded(text: &str) -> [f32; 256] {
    let vector = BuiltInModel::embedded().embed(&[text]).unwrap();
    vector.try_into().unwrap()
}

#[cfg(feature = "model")]
fn codes_of(rows: &[(u32, String)]) -> Codes {
    let blob = |(_, text): &(u32, String)| -> Vec<u8> {
        embedded(text)
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect()
    };
    let ids: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let blobs: Vec<_> = rows.iter().map(blob).collect();
    let mut codes = Codes::new(256);
    codes
        .put(&Batch::new(256, &ids, &ids, &blobs).unwrap())
        .unwrap();
    codes
}

#[cfg(feature = "model")]
#[test]
fn nearest_equals_comparing_every_row() {
    let said = [
        "tea",
        "harbour",
        "a long walk",
        "東京",
        "rain",
        "",
        "the sum of 3 and 4",
    ];
    let pairs = said.iter().flat_map(|a| said.map(|b| format!("{a} {b}")));
    let rows: Vec<(u32, String)> = (0..).zip(pairs.cycle().take(120)).collect();
    let mut stored = Features::default();
    for (id, text) in rows.iter().filter(|(id, _)| *id != 3) {
        let row = Row {
            text,
            ..Row::default()
        };
        stored.put(*id, &features::read(&row).unwrap()).unwrap();
    }
    let codes = codes_of(&rows);
    let visible = Ids::of(&(0..120).filter(|id| id % 5 != 0).collect::<Vec<_>>()).unwrap();
    let queries = [embedded("tea in the harbour"), embedded("it rains")];
    for (limit, visible) in [(0, None), (1, None), (7, Some(&visible)), (500, None)] {
        let scan = Scan {
            queries: queries.as_flattened(),
            limit,
            visible: visible.into(),
        };
        let found = stored.nearest(&codes, &scan, &Lanes::best());
        for (query, found) in queries.iter().zip(found) {
            let ids = (0..120).filter(|id| visible.is_none_or(|visible| visible.contains(*id)));
            let ids: Vec<u32> = ids.collect();
            let cosines = ids.iter().zip(stored.cosines(query, &ids));
            let mut all: Vec<(u32, f32)> = cosines
                .filter_map(|(id, cosine)| Some((*id, cosine?)))
                .filter(|(_, cosine)| *cosine > 0.0)
                .collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            all.truncate(limit);
            assert_eq!(found, all, "{limit}");
        }
    }
}
