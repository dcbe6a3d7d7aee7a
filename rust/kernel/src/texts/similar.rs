//! How similar pieces are to those of a query; each is compared once, when it is first met.

use super::Held;
use crate::dot::Dot;
use crate::model::{DIMENSION, StaticModel};
use crate::unit::write_unit;

const UNKNOWN: u16 = u16::MAX;

pub(super) struct Similarities {
    dot: Dot,
    /// Of the query's pieces, each of length one, and of the query.
    asked: Vec<[f32; DIMENSION]>,
    /// By piece, where its values are.
    places: Vec<u16>,
    /// For each piece that was met its cosines with the query's pieces, and the product of its
    /// vector with the query's.
    values: Vec<f32>,
}

impl Similarities {
    pub fn new(pieces: &[u16], query: &[f32; DIMENSION]) -> Self {
        let model = StaticModel::embedded();
        let unit = |piece: &u16| {
            let mut unit = [0.0; DIMENSION];
            write_unit(&model.vector(*piece), &mut unit);
            unit
        };
        Self {
            dot: Dot::best(),
            asked: pieces.iter().map(unit).chain([*query]).collect(),
            places: vec![UNKNOWN; model.pieces()],
            values: Vec::new(),
        }
    }

    fn of(&mut self, piece: u16) -> &[f32] {
        let width = self.asked.len();
        if self.places[usize::from(piece)] == UNKNOWN {
            self.places[usize::from(piece)] = (self.values.len() / width) as u16;
            let vector = StaticModel::embedded().vector(piece);
            let length = self.dot.whole(&vector, &vector).sqrt();
            let (query, asked) = self.asked.split_last().expect("the query is the last");
            let cosine = |one: &[f32; DIMENSION]| self.dot.whole(one, &vector) / length;
            self.values.extend(asked.iter().map(cosine));
            self.values.push(self.dot.whole(query, &vector));
        }
        let place = usize::from(self.places[usize::from(piece)]);
        &self.values[place * width..][..width]
    }

    /// For each of the query's pieces the best cosine with one of the row's; 0 where it has none.
    pub fn best(&mut self, held: &Held<'_>) -> Vec<f32> {
        let least = if held.pieces().is_empty() { 0.0 } else { -1.0 };
        let mut best = vec![least; self.asked.len() - 1];
        for piece in held.distinct() {
            for (best, cosine) in best.iter_mut().zip(self.of(piece)) {
                *best = f32::max(*best, *cosine);
            }
        }
        best
    }

    /// The cosine of a row's vector with the query's.
    pub fn cosine(&mut self, held: &Held<'_>) -> f32 {
        let product = |piece: &u16| *self.of(*piece).last().expect("the query is the last");
        let sum: f32 = held.pieces().iter().map(product).sum();
        if held.record.norm > 0.0 {
            (sum / held.record.norm).clamp(-1.0, 1.0)
        } else {
            0.0
        }
    }
}
