//! Resident vectors: found by id, grouped by partition, kept as unit vectors.

use std::fmt;

use crate::codec::{self, COMPONENT_BYTES, NotFinite};
use crate::dot::Dot;
use crate::id_hash::IdMap;
use crate::partition::{Layout, Partition, SEGMENT_BYTES};
use crate::unit::write_unit;

/// Why a batch of rows was refused. Nothing of it was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refused {
    /// A vector holds NaN or an infinity.
    NotFinite {
        /// Index of the vector in the batch.
        row: usize,
        /// Where in it.
        at: NotFinite,
    },
    /// A BLOB has the wrong size.
    Length {
        /// Index of the BLOB in the batch.
        row: usize,
        /// Its size in bytes.
        bytes: usize,
        /// The size of a BLOB of the right dimension.
        expected: usize,
    },
    /// There is no memory for the rows.
    Memory {
        /// How many rows.
        rows: usize,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite { row, at } => write!(out, "vector {row} holds {at}"),
            Self::Length {
                row,
                bytes,
                expected,
            } => {
                write!(out, "blob {row} has {bytes} bytes, expected {expected}")
            }
            Self::Memory { rows } => write!(out, "there is no memory for {rows} more rows"),
        }
    }
}

impl std::error::Error for Refused {}

/// Where a row is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub partition: i64,
    pub slot: usize,
}

/// Vectors by id, each in one partition.
///
/// A scan of a partition reads only that partition's memory, from front to back.
#[derive(Debug)]
pub struct Rows {
    layout: Layout,
    places: IdMap<Place>,
    partitions: IdMap<Partition>,
}

/// Components a row may have at most: far more than any model's, and few enough that one row of
/// scratch space is no burden.
pub const MOST_DIMENSIONS: usize = 1 << 16;

impl Rows {
    /// No rows yet.
    ///
    /// # Panics
    /// If the dimension is zero.
    pub fn new(dimension: usize) -> Self {
        assert!(dimension > 0, "a vector has at least one component");
        let layout = Layout::new(dimension);
        Self {
            layout,
            places: IdMap::default(),
            partitions: IdMap::default(),
        }
    }

    /// Components a vector has.
    pub fn dimension(&self) -> usize {
        self.layout.dimension
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Bytes that vectors, ids and the index of ids take, without the room to grow.
    pub fn nbytes(&self) -> usize {
        let index = self.len() * size_of::<(i64, Place)>();
        index
            + self
                .partitions
                .values()
                .map(Partition::nbytes)
                .sum::<usize>()
    }

    /// Add or replace rows, in order; of an id that occurs twice the last one stays.
    ///
    /// `vectors` holds one vector after the other.
    ///
    /// # Panics
    /// If the three lengths do not agree.
    pub fn put(&mut self, ids: &[i64], partitions: &[i64], vectors: &[f32]) -> Result<(), Refused> {
        let dimension = self.dimension();
        assert_eq!(vectors.len(), ids.len() * dimension, "one vector an id");
        let vectors = vectors.chunks_exact(dimension);
        for (row, vector) in vectors.clone().enumerate() {
            codec::check_finite(vector).map_err(|at| Refused::NotFinite { row, at })?;
        }
        self.check_memory(ids.len())?;
        let mut unit = self.scratch();
        for ((id, partition), vector) in pairs(ids, partitions).zip(vectors) {
            write_unit(vector, &mut unit);
            self.put_unit(id, partition, &unit);
        }
        Ok(())
    }

    /// The same as [`Rows::put`], from BLOBs.
    ///
    /// # Panics
    /// If the three lengths do not agree.
    pub fn put_blobs<B: AsRef<[u8]>>(
        &mut self,
        ids: &[i64],
        partitions: &[i64],
        blobs: &[B],
    ) -> Result<(), Refused> {
        assert_eq!(blobs.len(), ids.len(), "one BLOB an id");
        let mut vector = vec![0.0; self.dimension()];
        for (row, blob) in blobs.iter().enumerate() {
            let (bytes, expected) = (blob.as_ref().len(), vector.len() * COMPONENT_BYTES);
            if bytes != expected {
                return Err(Refused::Length {
                    row,
                    bytes,
                    expected,
                });
            }
            codec::decode_into(blob.as_ref(), &mut vector);
            codec::check_finite(&vector).map_err(|at| Refused::NotFinite { row, at })?;
        }
        self.check_memory(ids.len())?;
        let mut unit = self.scratch();
        for ((id, partition), blob) in pairs(ids, partitions).zip(blobs) {
            codec::decode_into(blob.as_ref(), &mut vector);
            write_unit(&vector, &mut unit);
            self.put_unit(id, partition, &unit);
        }
        Ok(())
    }

    /// Move rows to other partitions; ids that are not here are passed over.
    ///
    /// Returns how many changed their partition.
    ///
    /// # Panics
    /// If the two lengths do not agree.
    pub fn assign(&mut self, ids: &[i64], partitions: &[i64]) -> usize {
        let mut unit = self.scratch();
        let mut moved = 0;
        for (id, partition) in pairs(ids, partitions) {
            let Some(place) = self.places.get(&id).copied() else {
                continue;
            };
            if place.partition != partition {
                self.partitions[&place.partition].read(place.slot, &mut unit);
                self.put_unit(id, partition, &unit);
                moved += 1;
            }
        }
        moved
    }

    /// Remove rows; returns how many were there.
    pub fn drop_ids(&mut self, ids: &[i64]) -> usize {
        ids.iter().filter(|id| self.drop_id(**id)).count()
    }

    /// Remove every row and give the memory back.
    pub fn clear(&mut self) {
        *self = Self::new(self.dimension());
    }

    /// The cosine of the query with each id, in order; 0.0 for an id that is not here.
    pub fn similarity(&self, query: &[f32], ids: &[i64], dot: &Dot) -> Vec<f32> {
        let (mut unit, mut row) = (self.scratch(), self.scratch());
        write_unit(query, &mut unit);
        let mut cosine = |id| {
            let Some(place) = self.places.get(id) else {
                return 0.0;
            };
            self.partitions[&place.partition].read(place.slot, &mut row);
            dot.unit_cosine(&unit, &row)
        };
        ids.iter().map(&mut cosine).collect()
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn place(&self, id: i64) -> Option<Place> {
        self.places.get(&id).copied()
    }

    pub(crate) fn partition(&self, partition: i64) -> Option<&Partition> {
        self.partitions.get(&partition)
    }

    pub(crate) fn partition_ids(&self) -> impl Iterator<Item = i64> {
        self.partitions.keys().copied()
    }

    /// Room for one padded row.
    pub(crate) fn scratch(&self) -> Vec<f32> {
        vec![0.0; self.layout.stride]
    }

    /// Refuse a batch that there is no memory for: an allocation that fails while the rows go in
    /// would end the process, so the whole is asked for first, and given back untouched.
    fn check_memory(&self, rows: usize) -> Result<(), Refused> {
        let row = self.layout.stride * size_of::<f32>() + 2 * size_of::<(i64, Place)>();
        let bytes = rows
            .checked_mul(row)
            .and_then(|bytes| {
                bytes.checked_add(if bytes < SEGMENT_BYTES {
                    0
                } else {
                    2 * SEGMENT_BYTES
                })
            })
            .ok_or(Refused::Memory { rows })?;
        Vec::<u8>::new()
            .try_reserve_exact(bytes)
            .map_err(|_| Refused::Memory { rows })
    }

    fn put_unit(&mut self, id: i64, partition: i64, unit: &[f32]) {
        if let Some(place) = self.places.get(&id).copied() {
            if place.partition == partition {
                return self.partition_mut(partition).write(place.slot, unit);
            }
            self.drop_id(id);
        }
        let slot = self.partition_mut(partition).push(id, unit);
        self.places.insert(id, Place { partition, slot });
    }

    fn drop_id(&mut self, id: i64) -> bool {
        let Some(Place { partition, slot }) = self.places.remove(&id) else {
            return false;
        };
        let rows = self.partition_mut(partition);
        let moved = rows.swap_remove(slot);
        if rows.len() == 0 {
            self.partitions.remove(&partition);
        }
        if let Some(place) = moved.and_then(|id| self.places.get_mut(&id)) {
            place.slot = slot;
        }
        true
    }

    fn partition_mut(&mut self, partition: i64) -> &mut Partition {
        self.partitions
            .entry(partition)
            .or_insert_with(|| Partition::new(self.layout))
    }
}

fn pairs<'a>(ids: &'a [i64], partitions: &'a [i64]) -> impl Iterator<Item = (i64, i64)> {
    assert_eq!(ids.len(), partitions.len(), "one partition an id");
    ids.iter().copied().zip(partitions.iter().copied())
}
