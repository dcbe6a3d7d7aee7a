//! Exact vector search over codes of a quarter of the size.
//!
//! A vector is stored as eight bits per component (`code`), in a coarse and a finer plane, with
//! bounds on the error of each. A search (`scan`) reads the coarse plane of every row and the finer
//! plane of the few rows that it cannot rule out, and returns the rows that can be among the
//! nearest: none that is among them is ever left out. The caller then compares the true vectors of
//! these, which are not stored here.
//!
//! Rows are saved to a file that is mapped and shared by all processes (`table`); later rows are in
//! memory. The arithmetic is implemented once per instruction set (`lanes`).

mod code;
mod lanes;
mod query;
mod scan;
mod table;

use std::collections::TryReserveError;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use self::table::{File, Slices, Table};
use crate::index::id_hash::RowMap;
use crate::index::mapped::{self, Mapped, Tag};
use crate::vectors::codec::{self, COMPONENT_BYTES, NotFinite};
use crate::vectors::dot::{BLOCK, Dot};
use crate::vectors::packed;
use crate::vectors::unit::write_unit;

pub use self::lanes::Lanes;
pub use self::scan::{Scan, Visible, scan, scan_on};

/// Identifies files of codes in their [`Tag`].
pub const KIND: [u8; 8] = *b"codes   ";
/// See [`KIND`].
pub const VERSION: u64 = 2;

/// The most components of a vector.
pub const MAX_DIMENSION: usize = 65_536;

/// Up to this many dropped rows are not worth compacting.
const FEW: usize = 1024;

/// Why rows were refused; none of them was added.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// A BLOB is not as long as a vector.
    Length {
        /// Its index.
        row: usize,
        /// How long it is.
        bytes: usize,
        /// How long it should be.
        expected: usize,
    },
    /// A vector holds NaN or an infinity.
    NotFinite {
        /// Its index.
        row: usize,
        /// Where in it.
        at: NotFinite,
    },
    /// There is no memory for them.
    Memory,
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length {
                row,
                bytes,
                expected,
            } => write!(
                out,
                "vector {row} has {bytes} bytes, expected {expected} (4 per component)"
            ),
            Self::NotFinite { row, at } => write!(out, "vector {row} holds {at}"),
            Self::Memory => write!(out, "not enough memory for the vectors"),
        }
    }
}

impl std::error::Error for Refused {}

impl From<TryReserveError> for Refused {
    fn from(_: TryReserveError) -> Self {
        Self::Memory
    }
}

/// Codes of new rows, made before anything is changed.
pub struct Batch(Table);

impl Batch {
    /// Make the codes of vectors, each given as a BLOB of little-endian float32.
    ///
    /// # Errors
    /// A vector is of another dimension or not finite, or there is no memory.
    ///
    /// # Panics
    /// If there is not one owner and one BLOB per id.
    pub fn new<B: AsRef<[u8]>>(
        dimension: usize,
        ids: &[u32],
        owners: &[u32],
        blobs: &[B],
    ) -> Result<Self, Refused> {
        assert!(
            ids.len() == owners.len() && ids.len() == blobs.len(),
            "one owner and one BLOB an id"
        );
        let mut table = Table::new(dimension);
        table.reserve(ids.len())?;
        let (mut vector, mut unit) = (vec![0.0; dimension], vec![0.0; dimension]);
        for (row, blob) in blobs.iter().enumerate() {
            read(row, blob.as_ref(), &mut vector)?;
            write_unit(&vector, &mut unit);
            table.push(ids[row], owners[row], &unit);
        }
        Ok(Self(table))
    }
}

/// The cosine of a query with each vector, given as BLOBs, for comparing the rows that [`scan`]
/// returns. 0.0 for a vector of zeros.
///
/// # Errors
/// A vector is of another dimension or not finite.
pub fn cosines<B: AsRef<[u8]>>(query: &[f32], blobs: &[B], dot: &Dot) -> Result<Vec<f32>, Refused> {
    let mut vector = vec![0.0; query.len()];
    let mut unit = vec![0.0; query.len().next_multiple_of(BLOCK)];
    let mut other = unit.clone();
    write_unit(query, &mut unit);
    let mut cosine = |(row, blob): (usize, &B)| {
        read(row, blob.as_ref(), &mut vector)?;
        write_unit(&vector, &mut other);
        Ok(dot.unit_cosine(&unit, &other))
    };
    blobs.iter().enumerate().map(&mut cosine).collect()
}

/// The cosine of a query with each vector as it is stored, packed or whole.
///
/// `None` for one of another dimension or damaged, 0 for one that is not finite.
pub fn cosines_of_stored<B: AsRef<[u8]>>(
    query: &[f32],
    blobs: impl IntoIterator<Item = B>,
    dot: &Dot,
) -> Vec<Option<f32>> {
    let mut vector = vec![0.0; query.len()];
    let mut unit = vec![0.0; query.len().next_multiple_of(BLOCK)];
    let mut other = unit.clone();
    write_unit(query, &mut unit);
    let mut cosine = |blob: &[u8]| {
        let is_read = match packed::unpack_into(blob, &mut vector) {
            Some(()) => codec::check_finite(&vector).map_err(|_| true),
            None => read(0, blob, &mut vector)
                .map_err(|refused| matches!(refused, Refused::NotFinite { .. })),
        };
        match is_read {
            Err(is_stored) => is_stored.then_some(0.0),
            Ok(()) => {
                write_unit(&vector, &mut other);
                Some(dot.unit_cosine(&unit, &other))
            }
        }
    };
    blobs
        .into_iter()
        .map(|blob| cosine(blob.as_ref()))
        .collect()
}

fn read(row: usize, blob: &[u8], vector: &mut [f32]) -> Result<(), Refused> {
    let (bytes, expected) = (blob.len(), vector.len() * COMPONENT_BYTES);
    if bytes != expected {
        return Err(Refused::Length {
            row,
            bytes,
            expected,
        });
    }
    codec::decode_into(blob, vector);
    codec::check_finite(vector).map_err(|at| Refused::NotFinite { row, at })
}

/// Rows of a file, and which of them are still valid.
struct Base {
    file: File,
    valid: Marks,
}

/// The codes of all vectors of a file.
pub struct Codes {
    dimension: usize,
    base: Option<Base>,
    tail: Table,
    /// The row of each id in the tail. A row of the tail that is not in here was dropped.
    places: RowMap,
}

impl Codes {
    /// No rows yet.
    ///
    /// # Panics
    /// If the dimension is 0 or above [`MAX_DIMENSION`].
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        assert!((1..=MAX_DIMENSION).contains(&dimension), "dimension");
        Self {
            dimension,
            base: None,
            tail: Table::new(dimension),
            places: RowMap::default(),
        }
    }

    /// Map a file that [`Codes::save`] wrote; also returns the file.
    ///
    /// # Errors
    /// It is not such a file, or of another database, or there is no memory.
    pub fn open(path: &Path, tag: &Tag) -> Result<(Self, Arc<Mapped>), mapped::Refused> {
        let mapped = Mapped::open(path, tag)?;
        let file = File::open(&mapped)?;
        let valid = Marks::of(file.slices().ids)
            .map_err(|error| mapped::Refused::Unreadable(io::Error::other(error)))?;
        let mut codes = Self::new(file.dimension());
        codes.base = Some(Base { file, valid });
        Ok((codes, mapped))
    }

    /// Write all rows to a file, ordered by their owners.
    ///
    /// # Errors
    /// It cannot be written, or there is no memory to merge the rows.
    pub fn save(&self, path: &Path, tag: &Tag, position: u64) -> io::Result<()> {
        let head = [self.dimension as u64];
        let merged = self.merged().map_err(io::Error::other)?;
        mapped::write(
            path,
            tag,
            position,
            &File::sections(&head, &merged.slices()),
        )
    }

    /// Components of a vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len() + self.base.as_ref().map_or(0, |base| base.valid.len)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes in this process's own memory, without mapped files.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        let marks = self
            .base
            .as_ref()
            .map_or(0, |base| base.valid.words.len() * 8);
        self.tail.nbytes() + self.places.capacity() * size_of::<(u32, u32, u8)>() + marks
    }

    /// Add rows, or replace those whose ids are here; if an id occurs twice, the last one counts.
    ///
    /// # Errors
    /// There is no memory; then none is added.
    ///
    /// # Panics
    /// If the vectors are of another dimension.
    pub fn put(&mut self, batch: &Batch) -> Result<(), Refused> {
        let rows = batch.0.slices();
        self.tail.reserve(rows.len())?;
        self.places.try_reserve(rows.len())?;
        for row in 0..rows.len() {
            let id = rows.ids[row];
            self.drop_id(id);
            self.places.insert(id, self.tail.slices().len() as u32);
            self.tail.push_row(&rows, row);
        }
        self.close_up();
        Ok(())
    }

    /// Free the space of dropped rows once they outnumber the others. If there is no memory for
    /// that, they stay.
    fn close_up(&mut self) {
        let rows = self.tail.slices();
        if rows.len() < 2 * self.places.len() + FEW {
            return;
        }
        let mut kept = Table::new(self.dimension);
        if kept.reserve(self.places.len()).is_err() {
            return;
        }
        for row in 0..rows.len() {
            if let Some(place) = self.places.get_mut(&rows.ids[row])
                && *place == row as u32
            {
                *place = kept.slices().len() as u32;
                kept.push_row(&rows, row);
            }
        }
        self.tail = kept;
    }

    /// Remove rows; returns how many existed.
    pub fn drop_ids(&mut self, ids: &[u32]) -> usize {
        ids.iter().filter(|id| self.drop_id(**id)).count()
    }

    fn drop_id(&mut self, id: u32) -> bool {
        if let Some(row) = self.places.remove(&id) {
            self.tail.hide(row as usize);
            return true;
        }
        self.base.as_mut().is_some_and(|base| base.valid.remove(id))
    }

    /// The valid rows of the file, and the later ones.
    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let base = self.base.iter().map(|base| Part {
            rows: base.file.slices(),
            valid: Some(&base.valid),
        });
        base.chain([Part {
            rows: self.tail.slices(),
            valid: None,
        }])
    }

    /// All rows, ordered by their owners and then by their ids.
    fn merged(&self) -> Result<Table, TryReserveError> {
        let parts: Vec<_> = self.parts().collect();
        let mut order = Vec::new();
        order.try_reserve_exact(self.len())?;
        for (part, Part { rows, valid }) in parts.iter().enumerate() {
            for row in 0..rows.len() {
                let id = rows.ids[row];
                let here = match valid {
                    Some(valid) => valid.contains(id),
                    None => self.places.get(&id) == Some(&(row as u32)),
                };
                if here {
                    order.push((rows.owners[row], id, part as u32, row as u32));
                }
            }
        }
        order.sort_unstable();
        let mut merged = Table::new(self.dimension);
        merged.reserve(order.len())?;
        for (_, _, part, row) in order {
            merged.push_row(&parts[part as usize].rows, row as usize);
        }
        Ok(merged)
    }
}

/// Rows stored together.
struct Part<'a> {
    rows: Slices<'a>,
    /// The ids of the valid ones; `None` if all are.
    valid: Option<&'a Marks>,
}

impl Part<'_> {
    fn is_valid(&self, row: usize) -> bool {
        self.valid
            .is_none_or(|valid| valid.contains(self.rows.ids[row]))
    }
}

/// A set of ids from which some are removed.
struct Marks {
    words: Vec<u64>,
    len: usize,
}

impl Marks {
    fn of(ids: &[u32]) -> Result<Self, TryReserveError> {
        let set = crate::index::ids::Ids::of(ids)?;
        Ok(Self {
            words: set.words().to_vec(),
            len: set.len(),
        })
    }

    fn contains(&self, id: u32) -> bool {
        self.words
            .get(id as usize / 64)
            .is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    fn remove(&mut self, id: u32) -> bool {
        let here = self.contains(id);
        if here {
            self.words[id as usize / 64] &= !(1 << (id % 64));
            self.len -= 1;
        }
        here
    }
}
