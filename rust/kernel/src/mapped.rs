//! Derived files: sections of plain numbers, written once and then mapped.
//!
//! A file names its source ([`Tag`]) and has a checksum over its contents. It is written under a
//! temporary name, renamed, and never changed after that, so all processes that open it can share
//! its pages. It is not synced: if a power cut damages it, the checksum fails and it is derived
//! again.

use std::collections::TryReserveError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};
use memmap2::Mmap;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const MAGIC: [u8; 8] = *b"memstore";

/// Sections begin at multiples of this, a cache line.
const ALIGNMENT: usize = 64;

/// What a file was derived from. A file with another tag is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Tag {
    /// Which structure it holds.
    pub kind: [u8; 8],
    /// Of the structure's format.
    pub version: u64,
    /// The database.
    pub database: [u8; 16],
    /// Of the vectors; 0 where there are none.
    pub generation: u64,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    /// Over everything after it.
    checksum: u64,
    tag: Tag,
    position: u64,
    sections: u64,
}

const HASHED_FROM: usize = 16;

/// Why a file was not opened.
#[derive(Debug)]
pub enum Refused {
    /// It does not exist, or cannot be read.
    Unreadable(io::Error),
    /// It was derived from something else, or written by another version.
    Other,
    /// Its checksum or its structure is wrong.
    Damaged,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "the file cannot be read: {error}"),
            Self::Other => write!(f, "the file was derived from something else"),
            Self::Damaged => write!(f, "the file is damaged"),
        }
    }
}

impl std::error::Error for Refused {}

/// Write a file; `position` is the position in the database's changes that it is current for.
///
/// # Errors
/// The file cannot be written; then `path` is unchanged.
pub fn write(path: &Path, tag: &Tag, position: u64, sections: &[&[u8]]) -> io::Result<()> {
    let part = part_of(path);
    let written = write_part(&part, tag, position, sections).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // It may not exist, and another error would add nothing to the first.
        let _ = fs::remove_file(&part);
    }
    written
}

/// The temporary name, different for each process, so that two can write at once.
fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!("-{}.part", std::process::id()));
    name.into()
}

fn write_part(part: &Path, tag: &Tag, position: u64, sections: &[&[u8]]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = BufWriter::with_capacity(1 << 20, options.open(part)?);
    let header = Header {
        magic: MAGIC,
        checksum: 0,
        tag: *tag,
        position,
        sections: sections.len() as u64,
    };
    let lengths: Vec<u64> = sections.iter().map(|bytes| bytes.len() as u64).collect();
    let mut hash = Xxh3::new();
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        let from = HASHED_FROM.saturating_sub(at).min(bytes.len());
        hash.update(&bytes[from..]);
        at += bytes.len();
        file.write_all(bytes)
    };
    put(bytemuck::bytes_of(&header))?;
    put(bytemuck::cast_slice(&lengths))?;
    let mut end = size_of::<Header>() + size_of_val(&lengths[..]);
    for section in sections {
        put(&[0; ALIGNMENT][..end.next_multiple_of(ALIGNMENT) - end])?;
        put(section)?;
        end = end.next_multiple_of(ALIGNMENT) + section.len();
    }
    file.seek(SeekFrom::Start(MAGIC.len() as u64))?;
    file.write_all(&hash.digest().to_ne_bytes())?;
    file.flush()
}

/// A checked file that can be read in place.
pub struct Mapped {
    map: Mmap,
    sections: Vec<Range<usize>>,
    position: u64,
}

impl Mapped {
    /// Map a file and check that it has this tag and is complete.
    ///
    /// # Errors
    /// It has not, or is not.
    pub fn open(path: &Path, tag: &Tag) -> Result<Arc<Self>, Refused> {
        let file = File::open(path).map_err(Refused::Unreadable)?;
        // SAFETY: the bytes must not change while they are mapped. This program writes such a file
        // under another name, renames it and never opens it for writing again; it is readable and
        // writable by its owner alone.
        let map = unsafe { Mmap::map(&file) }.map_err(Refused::Unreadable)?;
        let header: Header = *plain(&map, 0..size_of::<Header>())?
            .first()
            .ok_or(Refused::Damaged)?;
        if header.magic != MAGIC || header.tag != *tag {
            return Err(Refused::Other);
        }
        let sections = sections(&map, header.sections)?;
        if xxh3_64(&map[HASHED_FROM..]) != header.checksum {
            return Err(Refused::Damaged);
        }
        Ok(Arc::new(Self {
            map,
            sections,
            position: header.position,
        }))
    }

    /// The position in the database's changes that it is current for.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// A section's numbers, in place.
    ///
    /// # Errors
    /// There is no such section, or its size is not a multiple of theirs.
    pub fn numbers<T: AnyBitPattern + NoUninit>(
        self: &Arc<Self>,
        section: usize,
    ) -> Result<Numbers<T>, Refused> {
        let range = self.sections.get(section).ok_or(Refused::Damaged)?.clone();
        plain::<T>(&self.map, range.clone())?;
        Ok(Numbers(Place::Mapped(Arc::clone(self), range, PhantomData)))
    }
}

/// The ranges of the sections, checked to be within the file.
fn sections(map: &[u8], count: u64) -> Result<Vec<Range<usize>>, Refused> {
    let count = usize::try_from(count)
        .ok()
        .filter(|count| *count <= map.len() / size_of::<u64>())
        .ok_or(Refused::Damaged)?;
    let mut end = size_of::<Header>() + count * size_of::<u64>();
    let lengths: &[u64] = plain(map, size_of::<Header>()..end)?;
    let mut found = Vec::with_capacity(count);
    for length in lengths {
        let start = end.next_multiple_of(ALIGNMENT);
        end = usize::try_from(*length)
            .ok()
            .and_then(|length| start.checked_add(length))
            .filter(|end| *end <= map.len())
            .ok_or(Refused::Damaged)?;
        found.push(start..end);
    }
    Ok(found)
}

fn plain<T: AnyBitPattern>(bytes: &[u8], range: Range<usize>) -> Result<&[T], Refused> {
    let bytes = bytes.get(range).ok_or(Refused::Damaged)?;
    bytemuck::try_cast_slice(bytes).map_err(|_| Refused::Damaged)
}

/// Numbers in memory, or in a file that is mapped for as long as they are held.
pub struct Numbers<T>(Place<T>);

enum Place<T> {
    Owned(Vec<T>),
    Mapped(Arc<Mapped>, Range<usize>, PhantomData<T>),
}

impl<T> From<Vec<T>> for Numbers<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self(Place::Owned(numbers))
    }
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: AnyBitPattern + NoUninit> Numbers<T> {
    /// As the section of a file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }

    /// Bytes in this process's own memory.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        match &self.0 {
            Place::Owned(numbers) => numbers.capacity() * size_of::<T>(),
            Place::Mapped(..) => 0,
        }
    }
}

impl<T: AnyBitPattern + NoUninit> Numbers<T> {
    /// The numbers as a vector to change; those of a file are copied first.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn to_mut(&mut self) -> Result<&mut Vec<T>, TryReserveError> {
        if let Place::Mapped(..) = &self.0 {
            let mut copy = Vec::new();
            copy.try_reserve_exact(self.len())?;
            copy.extend_from_slice(self);
            self.0 = Place::Owned(copy);
        }
        match &mut self.0 {
            Place::Owned(numbers) => Ok(numbers),
            Place::Mapped(..) => unreachable!("it was copied"),
        }
    }
}

impl<T: AnyBitPattern + NoUninit> Deref for Numbers<T> {
    type Target = [T];

    /// Checks the alignment of mapped numbers: take the slice once, outside of a loop.
    fn deref(&self) -> &[T] {
        match &self.0 {
            Place::Owned(numbers) => numbers,
            Place::Mapped(file, range, _) => bytemuck::cast_slice(&file.map[range.clone()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: Tag = Tag {
        kind: *b"test    ",
        version: 1,
        database: [7; 16],
        generation: 3,
    };

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("memstore-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn written_sections_are_read_in_place() {
        let path = folder("round").join("file");
        let (floats, bytes) = ([1.5_f32, -2.0, 0.25], [1_u8, 2, 3]);
        let sections: [&[u8]; 3] = [bytemuck::cast_slice(&floats), &[], &bytes];
        write(&path, &TAG, 41, &sections).unwrap();

        let file = Mapped::open(&path, &TAG).unwrap();

        assert_eq!(file.position(), 41);
        assert_eq!(*file.numbers::<f32>(0).unwrap(), floats);
        assert!(file.numbers::<u64>(1).unwrap().is_empty());
        assert_eq!(*file.numbers::<u8>(2).unwrap(), bytes);
        assert_eq!(file.numbers::<u8>(2).unwrap().nbytes(), 0);
        assert!(matches!(file.numbers::<u64>(2), Err(Refused::Damaged)));
        assert!(matches!(file.numbers::<u8>(3), Err(Refused::Damaged)));
        drop(file); // Windows does not remove a mapped file
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn changed_bytes_and_truncations_are_detected() {
        let path = folder("damage").join("file");
        write(&path, &TAG, 1, &[&[5; 100], &[6; 70]]).unwrap();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            fs::write(&path, &flipped).unwrap();
            assert!(Mapped::open(&path, &TAG).is_err(), "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert!(Mapped::open(&path, &TAG).is_err(), "cut at {at}");
        }
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn file_with_another_tag_is_refused() {
        let path = folder("other").join("file");
        write(&path, &TAG, 1, &[]).unwrap();
        for other in [
            Tag {
                kind: *b"another ",
                ..TAG
            },
            Tag { version: 2, ..TAG },
            Tag {
                database: [8; 16],
                ..TAG
            },
            Tag {
                generation: 4,
                ..TAG
            },
        ] {
            assert!(matches!(Mapped::open(&path, &other), Err(Refused::Other)));
        }
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        assert!(matches!(
            Mapped::open(&path, &TAG),
            Err(Refused::Unreadable(_))
        ));
    }
}
