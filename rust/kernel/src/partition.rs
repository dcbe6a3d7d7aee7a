//! The rows of one partition, side by side in memory.

use crate::dot::BLOCK;
use crate::halves;
use crate::huge_pages;

/// Bytes of a full segment's coarse halves, and as many of its fine ones. Growth copies at most
/// one segment, so a partition of hundreds of megabytes never needs twice its memory; and of what
/// is allocated at once seven eighths or more can lie in large pages.
pub(crate) const SEGMENT_BYTES: usize = 16 << 20;

/// Rows looked at together: one word of a visibility mask.
pub(crate) const ROWS_PER_WORD: usize = u64::BITS as usize;

/// Rows a partition makes room for at first. Thousands of small partitions stay small.
const FIRST_ROWS: usize = 4;

/// How rows lie in memory: the same for every partition of a `Rows`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub dimension: usize,
    /// Components a row takes: the dimension rounded up to whole blocks, the rest zeros.
    pub stride: usize,
    pub rows_per_segment: usize,
}

impl Layout {
    pub fn new(dimension: usize) -> Self {
        let stride = dimension.next_multiple_of(BLOCK);
        let fitting = SEGMENT_BYTES / (stride * size_of::<u16>());
        let rows_per_segment = (fitting / ROWS_PER_WORD).max(1) * ROWS_PER_WORD;
        Self {
            dimension,
            stride,
            rows_per_segment,
        }
    }
}

/// A run of rows in two planes of the same shape.
#[derive(Debug, Default)]
struct Segment {
    coarse: Vec<u16>,
    fine: Vec<u16>,
}

/// Rows in slots `0..len`, without gaps.
#[derive(Debug)]
pub(crate) struct Partition {
    layout: Layout,
    ids: Vec<i64>,
    /// All but the last are full.
    segments: Vec<Segment>,
}

impl Partition {
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            ids: Vec::new(),
            segments: Vec::new(),
        }
    }

    pub fn ids(&self) -> &[i64] {
        &self.ids
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Bytes the rows take, without the room to grow.
    pub fn nbytes(&self) -> usize {
        self.len() * (self.layout.stride * size_of::<f32>() + size_of::<i64>())
    }

    /// Coarse halves from a slot to the end of its segment, at most `rows` rows.
    pub fn coarse(&self, slot: usize, rows: usize) -> &[u16] {
        let (segment, start) = self.locate(slot);
        let plane = &self.segments[segment].coarse;
        &plane[start..plane.len().min(start + rows * self.layout.stride)]
    }

    /// Write the whole unit vector of a slot into `row`.
    pub fn read(&self, slot: usize, row: &mut [f32]) {
        let (segment, start) = self.locate(slot);
        let Segment { coarse, fine } = &self.segments[segment];
        let range = start..start + self.layout.stride;
        halves::join_row(&coarse[range.clone()], &fine[range], row);
    }

    /// Replace the unit vector of a slot.
    pub fn write(&mut self, slot: usize, row: &[f32]) {
        let (segment, start) = self.locate(slot);
        let Segment { coarse, fine } = &mut self.segments[segment];
        let range = start..start + self.layout.stride;
        halves::split_row(row, &mut coarse[range.clone()], &mut fine[range]);
    }

    /// Add a row; returns its slot.
    pub fn push(&mut self, id: i64, row: &[f32]) -> usize {
        let slot = self.ids.len();
        self.make_room();
        self.ids.push(id);
        self.write(slot, row);
        slot
    }

    /// Remove a row; the last one moves into its slot, and its id is returned if there is one.
    pub fn swap_remove(&mut self, slot: usize) -> Option<i64> {
        let last = self.ids.len() - 1;
        let stride = self.layout.stride;
        if slot != last {
            self.copy_row(last, slot);
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.coarse.truncate(segment.coarse.len() - stride);
            segment.fine.truncate(segment.fine.len() - stride);
            if segment.coarse.is_empty() {
                self.segments.pop();
            }
        }
        self.ids.swap_remove(slot);
        self.ids.get(slot).copied()
    }

    fn copy_row(&mut self, from: usize, to: usize) {
        let mut row = vec![0.0; self.layout.stride];
        self.read(from, &mut row);
        self.write(to, &row);
    }

    /// The segment of a slot, and where in its planes the row begins.
    fn locate(&self, slot: usize) -> (usize, usize) {
        let rows = self.layout.rows_per_segment;
        (slot / rows, slot % rows * self.layout.stride)
    }

    /// One more row of zeros at the end of the last segment.
    fn make_room(&mut self) {
        let Layout {
            stride,
            rows_per_segment,
            ..
        } = self.layout;
        let within = self.ids.len() % rows_per_segment;
        if within == 0 {
            self.segments.push(Segment::default());
        }
        // Only the first segment grows in steps: a partition that filled one will fill another,
        // and room that nobody has touched yet takes no memory.
        let room = match self.segments.len() {
            1 => (within * 2).clamp(FIRST_ROWS, rows_per_segment),
            _ => rows_per_segment,
        };
        if let Some(Segment { coarse, fine }) = self.segments.last_mut() {
            for plane in [coarse, fine] {
                if plane.capacity() - plane.len() < stride {
                    *plane = roomier(plane, room * stride);
                }
                plane.resize((within + 1) * stride, 0);
            }
        }
    }
}

/// The same plane with more room. The advice must come before the memory is first touched, which
/// rules out growing in place.
fn roomier(plane: &[u16], capacity: usize) -> Vec<u16> {
    let mut roomier = Vec::with_capacity(capacity);
    huge_pages::advise(&roomier);
    roomier.extend_from_slice(plane);
    roomier
}
