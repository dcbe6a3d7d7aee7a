//! Codes compared with the naive twin: every cosine of the true vectors, sorted.

use std::collections::BTreeMap;

use crate::folder::Folder;
use crate::naive::Random;
use memstore_kernel::index::codes::{
    Batch, Codes, KIND, Lanes, Refused, Scan, VERSION, Visible, cosines, scan, scan_on,
};
use memstore_kernel::index::ids::Ids;
use memstore_kernel::index::mapped::Tag;
use memstore_kernel::vectors::dot::Dot;
use proptest::prelude::*;

/// Owner and vector of each id.
type Model = BTreeMap<u32, (u32, Vec<f32>)>;

const TAG: Tag = Tag {
    kind: KIND,
    version: VERSION,
    database: [3; 16],
    generation: 2,
};

fn blob(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn put(codes: &mut Codes, model: &mut Model, id: u32, owner: u32, vector: Vec<f32>) {
    let batch = Batch::new(codes.dimension(), &[id], &[owner], &[blob(&vector)]).unwrap();
    codes.put(&batch).unwrap();
    model.insert(id, (owner, vector));
}

fn filled(dimension: usize, vectors: impl IntoIterator<Item = Vec<f32>>) -> (Codes, Model) {
    let model: Model = vectors
        .into_iter()
        .zip(1..)
        .map(|(vector, id)| (id, (id, vector)))
        .collect();
    let ids: Vec<u32> = model.keys().copied().collect();
    let blobs: Vec<_> = model.values().map(|(_, vector)| blob(vector)).collect();
    let mut codes = Codes::new(dimension);
    codes
        .put(&Batch::new(dimension, &ids, &ids, &blobs).unwrap())
        .unwrap();
    (codes, model)
}

/// The nearest, as comparing every true vector gives them: best first, ties by the smaller id.
fn nearest(
    model: &Model,
    query: &[f32],
    limit: usize,
    visible: Option<&Ids>,
    dot: &Dot,
) -> Vec<u32> {
    let seen = |(_, (owner, _)): &(&u32, &(u32, Vec<f32>))| {
        visible.is_none_or(|visible| visible.contains(*owner))
    };
    let seen: Vec<_> = model.iter().filter(seen).collect();
    let blobs: Vec<_> = seen.iter().map(|(_, (_, vector))| blob(vector)).collect();
    let cosines = cosines(query, &blobs, dot).unwrap();
    let mut found: Vec<_> = cosines
        .into_iter()
        .zip(seen.iter().map(|(id, _)| **id))
        .collect();
    found.retain(|(cosine, _)| *cosine > 0.0);
    found.sort_by(|(a, a_id), (b, b_id)| b.total_cmp(a).then(a_id.cmp(b_id)));
    found.into_iter().map(|(_, id)| id).take(limit).collect()
}

/// Check with every instruction set; returns how many rows were returned.
fn check(
    codes: &Codes,
    model: &Model,
    queries: &[Vec<f32>],
    limit: usize,
    visible: Option<&Ids>,
) -> Vec<usize> {
    let joined = queries.concat();
    let question = Scan {
        queries: &joined,
        limit,
        visible: visible.into(),
    };
    let alone = |lanes| (lanes, Dot::best(), 1);
    let several = |dot| (Lanes::best(), dot, 3);
    let all = Lanes::available().into_iter().map(alone);
    let mut sizes = Vec::new();
    let twin = scan_on(codes, &question, &scalar(), Some(1));
    for (lanes, dot, threads) in all.chain(Dot::available().into_iter().map(several)) {
        let found = scan_on(codes, &question, &lanes, Some(threads));
        assert_eq!(found.len(), queries.len());
        assert_eq!(found, twin, "{} returns what plain Rust does", lanes.name());
        for (query, found) in queries.iter().zip(&found) {
            for id in nearest(model, query, limit, visible, &dot) {
                assert!(
                    found.binary_search(&id).is_ok(),
                    "{id} is missing with {} and {}, limit {limit}",
                    lanes.name(),
                    dot.name()
                );
            }
            let seen = |id| visible.is_none_or(|visible| visible.contains(model[id].0));
            assert!(found.iter().all(seen));
            assert!(found.is_sorted_by(|a, b| a < b), "ids ascend, each once");
        }
        sizes = found.iter().map(Vec::len).collect();
    }
    sizes
}

/// Plain Rust, whose results every instruction set has, because all arithmetic is on integers.
fn scalar() -> Lanes {
    *Lanes::available().last().unwrap()
}

/// Vectors around a few topics, like those of models.
fn topical(seed: u64, count: usize, dimension: usize) -> Vec<Vec<f32>> {
    let mut random = Random::new(seed);
    let topics: Vec<_> = (0..7).map(|_| random.vector(dimension)).collect();
    let mut vector = |_| {
        let topic = &topics[random.below(7) as usize];
        let own = random.vector(dimension);
        own.iter().zip(topic).map(|(x, y)| x + 0.7 * y).collect()
    };
    (0..count).map(&mut vector).collect()
}

#[test]
fn unavailable_instruction_sets_are_reported() {
    let here: Vec<_> = Lanes::available().iter().map(Lanes::name).collect();
    for name in Lanes::NAMES {
        if !here.contains(&name) {
            crate::naive::skipped(name);
        }
    }
    assert_eq!(here.last(), Some(&"scalar"));
    assert_eq!(Some(&Lanes::best().name()), here.first());
}

#[test]
fn scan_misses_none_of_the_nearest() {
    // Miri is a thousand times slower; two dimensions use a register in part, and several.
    let (dimensions, count, limits): (&[usize], _, &[usize]) = if cfg!(miri) {
        (&[17, 130], 40, &[5])
    } else {
        (
            &[1, 2, 15, 16, 17, 64, 100, 256, 300],
            300,
            &[0, 1, 10, 299, 5000],
        )
    };
    for &dimension in dimensions {
        let vectors = topical(dimension as u64, count, dimension);
        let (codes, model) = filled(dimension, vectors);
        let queries = topical(99, 3, dimension);
        for &limit in limits {
            check(&codes, &model, &queries, limit, None);
        }
    }
}

#[test]
fn scan_returns_few_extra_candidates() {
    let (codes, model) = filled(256, topical(5, 1000, 256));
    let queries = topical(6, 4, 256);
    for (limit, most) in [(0, 0), (1, 10), (10, 40), (50, 120)] {
        for size in check(&codes, &model, &queries, limit, None) {
            assert!(size <= most, "{size} of {limit}");
        }
    }
}

#[test]
fn adversarial_vectors_are_found_too() {
    let dimension = 40;
    let one_hot = |at: usize, x: f32| {
        let mut vector = vec![0.0; dimension];
        vector[at % dimension] = x;
        vector
    };
    let mut random = Random::new(8);
    let base = random.vector(dimension);
    let scaled = |scale: f32| base.iter().map(|x| x * scale).collect::<Vec<f32>>();
    let mut vectors: Vec<Vec<f32>> = (0..60).map(|at| one_hot(at, 1.0)).collect();
    vectors.extend((0..60).map(|at| one_hot(at, -f32::MAX)));
    vectors.extend((0..40).map(|at| one_hot(at, f32::from_bits(1 + at as u32))));
    vectors.extend((0..50).map(|_| scaled(1.0)));
    vectors.extend((0..50).map(|_| scaled(-1.0)));
    vectors.extend([1e30, 1e-30, 1e-44, -1e38, 3.0].map(scaled));
    vectors.extend((0..30).map(|_| vec![0.0; dimension]));
    vectors.extend((0..40).map(|at| {
        // One large component, and many that are nearly zero.
        let mut vector = scaled(1e-7);
        vector[at % dimension] = 1.0;
        vector
    }));
    vectors.extend((0..40).map(|at| {
        // Neighbours of one vector, a rounding apart.
        let mut vector = base.clone();
        vector[at % dimension] = f32::from_bits(vector[at % dimension].to_bits() + 1);
        vector
    }));
    let (codes, model) = filled(dimension, vectors);
    let queries = [
        one_hot(3, 1.0),
        one_hot(4, -1e-40),
        base.clone(),
        scaled(-1e-20),
        vec![1.0; dimension],
        vec![0.0; dimension],
        vec![f32::MAX; dimension],
    ];
    for limit in [1, 5, 40, 1000] {
        let sizes = check(&codes, &model, &queries, limit, None);
        assert_eq!(sizes[5], 0, "nothing is near to a vector of zeros");
    }
}

#[test]
fn only_visible_owners_are_found_even_if_they_are_few() {
    let mut model = Model::new();
    let mut codes = Codes::new(20);
    for (vector, id) in topical(3, 1000, 20).into_iter().zip(0..) {
        put(&mut codes, &mut model, id, id / 3, vector);
    }
    let queries = topical(4, 2, 20);
    let folder = Folder::new("codes-visible");
    let path = folder.file();
    codes.save(&path, &TAG, 5).unwrap();
    let (mapped, _) = Codes::open(&path, &TAG).unwrap();
    let mut shuffled = Codes::new(20);
    for (id, (owner, vector)) in model.iter().rev() {
        let batch = Batch::new(20, &[*id], &[*owner], &[blob(vector)]).unwrap();
        shuffled.put(&batch).unwrap();
    }
    for codes in [&codes, &mapped, &shuffled] {
        for owners in [
            vec![],
            vec![0],
            vec![333],
            vec![334, 1_000_000],
            vec![5, 6, 100, 101, 333],
            (0..334).step_by(2).collect(),
            (0..10_000).collect(),
        ] {
            let visible = Ids::of(&owners).unwrap();
            for limit in [1, 4, 100] {
                check(codes, &model, &queries, limit, Some(&visible));
            }
        }
    }
}

#[test]
fn only_visible_owners_are_found_where_each_has_one_row() {
    let (mut model, mut codes) = (Model::new(), Codes::new(20));
    for (vector, id) in topical(3, 500, 20).into_iter().zip(0..) {
        // A gap in one block of sixteen; in the others the owners are consecutive.
        put(
            &mut codes,
            &mut model,
            id,
            id + 60 + u32::from(id > 250),
            vector,
        );
    }
    let queries = topical(4, 2, 20);
    for owners in [
        vec![],
        vec![60, 310],
        (100..130).collect(),
        (0..600).step_by(3).collect(),
        (0..10_000).collect(),
    ] {
        let visible = Ids::of(&owners).unwrap();
        for limit in [1, 4, 100] {
            check(&codes, &model, &queries, limit, Some(&visible));
        }
    }
}

#[test]
fn a_refused_batch_names_the_vector() {
    let nan = blob(&[1.0, f32::NAN]);
    let refused = |blobs: &[Vec<u8>]| Batch::new(2, &[1, 2], &[1, 2], blobs).err().unwrap();
    assert!(matches!(
        refused(&[blob(&[1.0, 2.0]), nan]),
        Refused::NotFinite { row: 1, .. }
    ));
    assert_eq!(
        refused(&[blob(&[1.0]), blob(&[1.0, 2.0])]),
        Refused::Length {
            row: 0,
            bytes: 4,
            expected: 8
        }
    );
}

#[test]
fn a_damaged_or_truncated_file_is_refused() {
    let folder = Folder::new("codes-damage");
    let path = folder.file();
    let (codes, _) = filled(24, topical(1, 50, 24));
    codes.save(&path, &TAG, 9).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(83) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        std::fs::write(&path, &flipped).unwrap();
        assert!(Codes::open(&path, &TAG).is_err(), "byte {at}");
        std::fs::write(&path, &whole[..at]).unwrap();
        assert!(Codes::open(&path, &TAG).is_err(), "cut at {at}");
    }
}

#[derive(Clone, Debug)]
enum Change {
    Put(u32, u32, Vec<f32>),
    Drop(u32),
    SaveAndOpen,
}

fn change() -> impl Strategy<Value = Change> {
    let vector = prop::collection::vec(-8_i8..8, 3);
    let vector = vector.prop_map(|vector| vector.into_iter().map(f32::from).collect());
    prop_oneof![
        10 => (0..60_u32, 0..9_u32, vector).prop_map(|(id, owner, x)| Change::Put(id, owner, x)),
        4 => (0..60_u32).prop_map(Change::Drop),
        1 => Just(Change::SaveAndOpen),
    ]
}

proptest! {
    #![proptest_config(crate::naive::sixty_cases())]

    #[test]
    fn codes_agree_with_a_map_after_any_changes(
        changes in prop::collection::vec(change(), 0..200),
        limit in 0..30_usize,
        owners in prop::option::of(prop::collection::vec(0..9_u32, 0..5)),
    ) {
        let folder = Folder::new("codes-changes");
        let (mut codes, mut model) = (Codes::new(3), Model::new());
        for (change, position) in changes.into_iter().zip(1..) {
            match change {
                Change::Put(id, owner, vector) => put(&mut codes, &mut model, id, owner, vector),
                Change::Drop(id) => {
                    let here = usize::from(model.remove(&id).is_some());
                    prop_assert_eq!(codes.drop_ids(&[id]), here);
                }
                Change::SaveAndOpen => {
                    let path = folder.file();
                    codes.save(&path, &TAG, position).unwrap();
                    let (opened, file) = Codes::open(&path, &TAG).unwrap();
                    prop_assert_eq!(file.position(), position);
                    codes = opened;
                }
            }
            prop_assert_eq!(codes.len(), model.len());
        }
        let visible = owners.map(|owners| Ids::of(&owners).unwrap());
        let queries = [vec![1.0, -2.0, 0.5], vec![-1.0, 0.0, 0.0]];
        check(&codes, &model, &queries, limit, visible.as_ref());
    }

    #[test]
    fn any_finite_vectors_are_searched_exactly(
        vectors in prop::collection::vec(prop::collection::vec(any::<f32>(), 19), 1..60),
        limit in 1..20_usize,
    ) {
        let finite = |x: f32| if x.is_finite() { x } else { 1.0 };
        let vectors = vectors.into_iter().map(|x| x.into_iter().map(finite).collect::<Vec<_>>());
        let vectors: Vec<_> = vectors.collect();
        let query = vectors[0].clone();
        let (codes, model) = filled(19, vectors);
        check(&codes, &model, &[query], limit, None);
    }
}

/// Some sets have a row or two in a block, which are compared one by one, and some have all.
#[test]
fn each_query_finds_what_it_finds_alone() {
    let (codes, _) = filled(40, topical(3, 700, 40));
    let queries = topical(4, 4, 40);
    let owners = |keep: &dyn Fn(u32) -> bool| {
        Ids::of(&(0..700).filter(|id| keep(*id)).collect::<Vec<_>>()).unwrap()
    };
    let sets = [
        owners(&|id| id % 11 == 0),
        owners(&|id| id > 300),
        owners(&|id| id % 2 == 0 && id < 200),
        owners(&|_| false),
    ];
    let joined = queries.concat();
    let each: Vec<&Ids> = sets.iter().collect();
    for lanes in Lanes::available() {
        let scan = |queries: &[f32], visible: Visible<'_>| {
            let question = Scan {
                queries,
                limit: 6,
                visible,
            };
            scan_on(&codes, &question, &lanes, Some(1))
        };
        let together = scan(&joined, Visible::Each(&each));
        for ((query, set), found) in queries.iter().zip(&sets).zip(&together) {
            assert_eq!(found, &scan(query, Visible::These(set))[0]);
        }
        assert!(together[..3].iter().all(|found| found.len() >= 6));
        assert!(together[3].is_empty());
    }
}

#[test]
fn the_number_of_threads_is_chosen_by_the_work() {
    let (codes, model) = filled(8, topical(2, 300, 8));
    let query = vec![1.0; 8];
    let question = Scan {
        queries: &query,
        limit: 5,
        visible: None.into(),
    };
    let dot = Dot::best();
    let found = scan(&codes, &question, &Lanes::best());
    for id in nearest(&model, &query, 5, None, &dot) {
        assert!(found[0].contains(&id));
    }
}
