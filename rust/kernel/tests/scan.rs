//! Rows and scan against the naive twin: rows kept in a plain map, every cosine computed.

mod naive;

use std::collections::BTreeMap;

use memstore_kernel::dot::Dot;
use memstore_kernel::rows::{Refused, Rows};
use memstore_kernel::scan::{Filter, Question, scan, scan_on};
use memstore_kernel::top_k::{Hit, TopK};
use naive::{Random, on_every_instruction_set};
use proptest::prelude::*;

/// Rows as a map from id to partition and vector.
type Model = BTreeMap<i64, (i64, Vec<f32>)>;

fn filled(seed: u64, count: i64, dimension: usize, partitions: u64) -> (Rows, Model) {
    let mut random = Random::new(seed);
    let (mut rows, mut model) = (Rows::new(dimension), Model::new());
    for id in 0..count {
        let (partition, vector) = (random.below(partitions) as i64, random.vector(dimension));
        rows.put(&[id], &[partition], &vector).unwrap();
        model.insert(id, (partition, vector));
    }
    (rows, model)
}

fn sees(question: &Question<'_>, id: i64, partition: i64) -> bool {
    let filtered = match question.filter {
        Filter::All => true,
        Filter::Only(ids) => ids.contains(&id),
        Filter::Excluding(ids) => !ids.contains(&id),
    };
    filtered
        && question
            .partitions
            .is_none_or(|chosen| chosen.contains(&partition))
}

/// What the scan must find to the last bit: every row's cosine, as `similarity` gives it, sorted.
fn every_row_sorted(
    rows: &Rows,
    model: &Model,
    question: &Question<'_>,
    dot: &Dot,
) -> Vec<Vec<Hit>> {
    let visible = model
        .iter()
        .filter(|(id, (partition, _))| sees(question, **id, *partition));
    let ids: Vec<i64> = visible.map(|(id, _)| *id).collect();
    let of = |query| {
        let mut best = TopK::new(question.limit);
        let cosines = rows.similarity(query, &ids, dot);
        ids.iter()
            .zip(cosines)
            .for_each(|(id, cosine)| best.offer(Hit { id: *id, cosine }));
        best.into_best_first()
    };
    question.queries.chunks(rows.dimension()).map(of).collect()
}

fn bits(found: &[Vec<Hit>]) -> Vec<Vec<(i64, u32)>> {
    let bits = |hits: &Vec<Hit>| {
        hits.iter()
            .map(|hit| (hit.id, hit.cosine.to_bits()))
            .collect()
    };
    found.iter().map(bits).collect()
}

#[test]
fn similarity_agrees_with_the_naive_twin() {
    on_every_instruction_set(|dot| {
        for dimension in [1, 3, 63, 64, 65, 384, 768] {
            let (rows, model) = filled(11, 50, dimension, 3);
            let query = Random::new(12).vector(dimension);
            let ids: Vec<i64> = (0..50).collect();
            for (id, cosine) in ids.iter().zip(rows.similarity(&query, &ids, dot)) {
                let exact = naive::cosine(&query, &model[id].1);
                assert!(
                    (f64::from(cosine) - exact).abs() < 5e-6,
                    "{cosine} for {exact}"
                );
            }
        }
    });
}

#[test]
fn scan_finds_what_sorting_every_row_finds() {
    let (rows, model) = filled(21, 3000, 70, 4);
    let queries = Random::new(22).vector(70 * 3);
    let listed: Vec<i64> = (0..3000)
        .filter(|id| id % 3 == 0)
        .chain([-5, 9999])
        .collect();
    let few = [7, 2999, 12, 7];
    let filters = [
        Filter::All,
        Filter::Only(&listed),
        Filter::Only(&few),
        Filter::Only(&[]),
        Filter::Excluding(&listed),
        Filter::Excluding(&few),
    ];
    on_every_instruction_set(|dot| {
        for filter in filters {
            for partitions in [None, Some(&[2, 0, 2, 77][..]), Some(&[][..])] {
                for limit in [0, 1, 10, 5000] {
                    let question = Question {
                        queries: &queries,
                        limit,
                        partitions,
                        filter,
                    };
                    let expected = bits(&every_row_sorted(&rows, &model, &question, dot));
                    assert_eq!(bits(&scan(&rows, &question, dot)), expected);
                    for threads in [1, 2, 5] {
                        let found = scan_on(&rows, &question, dot, Some(threads));
                        assert_eq!(bits(&found), expected);
                    }
                }
            }
        }
    });
}

#[test]
fn scan_is_exact_where_the_coarse_halves_cannot_tell_rows_apart() {
    // Rows that differ from one another by less than a coarse half resolves.
    let mut random = Random::new(31);
    let base = random.vector(128);
    let (mut rows, mut model) = (Rows::new(128), Model::new());
    for id in 0..2000 {
        let noise = random.vector(128);
        let vector: Vec<f32> = base.iter().zip(noise).map(|(x, y)| x + y * 1e-3).collect();
        rows.put(&[id], &[0], &vector).unwrap();
        model.insert(id, (0, vector));
    }
    let question = Question {
        queries: &base,
        limit: 10,
        partitions: None,
        filter: Filter::All,
    };
    on_every_instruction_set(|dot| {
        let expected = every_row_sorted(&rows, &model, &question, dot);
        assert_eq!(bits(&scan(&rows, &question, dot)), bits(&expected));
    });
}

#[test]
fn scan_crosses_segments() {
    let (mut rows, vector) = (Rows::new(2000), Random::new(41).vector(2000));
    let count = 9000; // more than the 16 MiB of one segment hold
    for id in 0..count {
        rows.put(&[id], &[0], &vector).unwrap();
    }
    let question = Question {
        queries: &vector,
        limit: 9000,
        partitions: None,
        filter: Filter::All,
    };
    let found = scan(&rows, &question, &Dot::best());
    assert!(found[0].iter().map(|hit| hit.id).eq(0..count));
    assert_eq!(
        rows.drop_ids(&(0..count).collect::<Vec<_>>()),
        count as usize
    );
    assert_eq!((rows.len(), rows.nbytes()), (0, 0));
}

#[test]
fn scan_leaves_out_zeros_and_opposites() {
    let mut rows = Rows::new(2);
    rows.put(
        &[1, 2, 3, 4],
        &[0; 4],
        &[0.0, 0.0, -1.0, 0.0, 0.0, 1.0, 1.0, 1.0],
    )
    .unwrap();
    let question = Question {
        queries: &[1.0, 0.0],
        limit: 9,
        partitions: None,
        filter: Filter::All,
    };
    let found = scan(&rows, &question, &Dot::best());
    assert_eq!(found[0].iter().map(|hit| hit.id).collect::<Vec<_>>(), [4]);
}

#[test]
fn put_takes_nothing_of_a_refused_batch() {
    let mut rows = Rows::new(2);
    let refused = rows
        .put(&[1, 2], &[0, 0], &[1.0, 2.0, 3.0, f32::NAN])
        .unwrap_err();
    assert!(matches!(refused, Refused::NotFinite { row: 1, at } if at.position == 1));
    let refused = rows.put_blobs(&[1, 2], &[0, 0], &[&[0; 8][..], &[0; 7][..]]);
    assert_eq!(
        refused,
        Err(Refused::Length {
            row: 1,
            bytes: 7,
            expected: 8
        })
    );
    assert!(rows.is_empty());
}

/// One change to the rows.
#[derive(Clone, Debug)]
enum Change {
    Put(i64, i64, Vec<f32>),
    Assign(i64, i64),
    Drop(i64),
    Clear,
}

fn change() -> impl Strategy<Value = Change> {
    let vector = prop::collection::vec(-8_i8..8, 3);
    let vector = vector.prop_map(|vector| vector.into_iter().map(f32::from).collect());
    prop_oneof![
        8 => (0..40_i64, 0..4_i64, vector).prop_map(|(id, to, vector)| Change::Put(id, to, vector)),
        3 => (0..40_i64, 0..4_i64).prop_map(|(id, to)| Change::Assign(id, to)),
        3 => (0..40_i64).prop_map(Change::Drop),
        1 => Just(Change::Clear),
    ]
}

/// Do it to both; they must agree on what happened.
fn apply(rows: &mut Rows, model: &mut Model, change: Change) {
    match change {
        Change::Put(id, partition, vector) => {
            rows.put(&[id], &[partition], &vector).unwrap();
            model.insert(id, (partition, vector));
        }
        Change::Assign(id, to) => {
            let moves = model
                .get_mut(&id)
                .is_some_and(|(at, _)| std::mem::replace(at, to) != to);
            assert_eq!(rows.assign(&[id], &[to]), usize::from(moves));
        }
        Change::Drop(id) => {
            assert_eq!(
                rows.drop_ids(&[id]),
                usize::from(model.remove(&id).is_some())
            );
        }
        Change::Clear => {
            rows.clear();
            model.clear();
        }
    }
}

proptest! {
    #[test]
    fn rows_agree_with_a_map_after_any_changes(changes in prop::collection::vec(change(), 0..150)) {
        let (mut rows, mut model) = (Rows::new(3), Model::new());
        for change in changes {
            apply(&mut rows, &mut model, change);
            prop_assert_eq!(rows.len(), model.len());
        }
        let dot = Dot::best();
        for partition in 0..4 {
            let partitions = [partition];
            let question = Question {
                queries: &[1.0, -2.0, 0.5], limit: 7, partitions: Some(&partitions),
                filter: Filter::All,
            };
            let expected = every_row_sorted(&rows, &model, &question, &dot);
            prop_assert_eq!(bits(&scan(&rows, &question, &dot)), bits(&expected));
        }
        for (id, (_, vector)) in &model {
            let query = [0.3, 0.2, -0.9];
            let cosine = f64::from(rows.similarity(&query, &[*id], &dot)[0]);
            prop_assert!((cosine - naive::cosine(&query, vector)).abs() < 1e-6);
        }
    }
}
