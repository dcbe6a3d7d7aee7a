//! The contextual ranking compared with the cosines of the rows.

use memstore_kernel::index::features::{Features, Row, read};
use memstore_kernel::index::words::Words;
use memstore_kernel::ranking::contextual::{Candidate, Request, rank};

#[test]
fn the_contextual_ranking_compares_rows_with_the_vector_of_the_query() {
    let said = ["tea", "harbour", "a long walk", "東京", "rain", ""];
    let mut features = Features::default();
    let pairs = said.iter().flat_map(|a| said.map(|b| format!("{a} {b}")));
    for (id, text) in (0..).zip(pairs) {
        let row = Row {
            text: &text,
            ..Row::default()
        };
        features.put(id, &read(&row).unwrap()).unwrap();
    }
    let ids: Vec<u32> = (0..features.len() as u32).rev().collect();
    let candidate = |id: &u32| Candidate {
        id: *id,
        cosine: None,
    };
    let candidates: Vec<Candidate> = ids.iter().map(candidate).collect();
    let long = said.repeat(9).join(" of the sea and ");
    for query in ["tea in the harbour, tea", "", "zzz", &long] {
        let request = Request {
            limit: ids.len(),
            query,
            phrases: &[],
            telling: query,
            visible: None,
            lives: &[],
            now: 0,
            compares: true,
            until: None,
        };
        let ranked = rank(&features, &Words::default(), &request, &candidates).unwrap();
        assert_eq!(ranked.len(), ids.len());
        let vector = features.query(query).unwrap().vector;
        for one in ranked {
            let cosine = features.cosines(&vector, &[one.id])[0].unwrap().max(0.0);
            let difference = one.vector - f64::from(cosine);
            assert!(difference.abs() < 1e-6, "{query}, row {}", one.id);
        }
    }
}
