//! Derived files: sections of plain numbers, written once and then mapped.
//!
//! A file names its source ([`Tag`]) and has a checksum over its contents. It is never changed after
//! it was written, so all processes that open it can share its pages. It is not synced: if a power
//! cut damages it, the checksum fails and it is derived again.
//!
//! Other programs may change it nevertheless. What was read from it counts only if it
//! [is intact](Mapped::is_intact) afterwards: structures may then panic or return wrong rows, but
//! they neither end the process nor read other memory.

#[cfg(unix)]
mod lost;
#[cfg(not(unix))]
#[path = "kept.rs"]
mod lost;

use std::collections::TryReserveError;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};
use lost::Watched;
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
/// The file must exist: who takes it away before or meanwhile can be sure that it does not come back.
///
/// # Errors
/// It does not exist, or cannot be written; then it is incomplete.
pub fn write(path: &Path, tag: &Tag, position: u64, sections: &[&[u8]]) -> io::Result<()> {
    let file = OpenOptions::new().write(true).truncate(true).open(path)?;
    let mut file = BufWriter::with_capacity(1 << 20, file);
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

/// The length of a file, and when it was last written.
type Stamp = (u64, Option<SystemTime>);

fn stamp(of: &Metadata) -> Stamp {
    (of.len(), of.modified().ok())
}

/// How old a file's time must be before it stands for the contents. A system sets the time before
/// the data of a write arrive, and several writes may share one time.
const SETTLED: Duration = Duration::from_secs(2);

fn is_settled((_, written): Stamp) -> bool {
    let now = SystemTime::now();
    written.is_none_or(|written| {
        let apart = now
            .duration_since(written)
            .or_else(|_| written.duration_since(now));
        apart.is_ok_and(|apart| apart >= SETTLED)
    })
}

/// A checked file that can be read in place.
pub struct Mapped {
    watched: Watched, // dropped before the mapping
    map: Mmap,
    sections: Vec<Range<usize>>,
    position: u64,
    checksum: u64,
    file: File,
    /// When the contents were compared last.
    stamp: Mutex<Stamp>,
}

impl Mapped {
    /// Map a file and check that it has this tag and is complete.
    ///
    /// # Errors
    /// It has not, or is not.
    pub fn open(path: &Path, tag: &Tag) -> Result<Arc<Self>, Refused> {
        let (file, found) = regular(path).map_err(Refused::Unreadable)?;
        if found.len() < size_of::<Header>() as u64 {
            return Err(Refused::Damaged);
        }
        // SAFETY: the bytes should not change while they are mapped. This program never writes to a
        // file that is complete, which is readable and writable by its owner alone. If another
        // program does, every number is still one: all structures are read with checked indices.
        let map = unsafe { Mmap::map(&file) }.map_err(Refused::Unreadable)?;
        let watched = Watched::new(&map);
        let header: Header = *plain(&map, 0..size_of::<Header>())?
            .first()
            .ok_or(Refused::Damaged)?;
        if header.magic != MAGIC || header.tag != *tag {
            return Err(Refused::Other);
        }
        let opened = Self {
            watched,
            sections: sections(&map, header.sections)?,
            map,
            position: header.position,
            checksum: header.checksum,
            file,
            stamp: Mutex::new(stamp(&found)),
        };
        if !opened.is_whole() {
            return Err(Refused::Damaged);
        }
        Ok(Arc::new(opened))
    }

    /// Whether what has been read from it so far is what was written: nothing was unreadable, and the
    /// file was not written to.
    ///
    /// The latter is read off its length and time, in 0.4 µs. After a change of these, the contents are
    /// compared, each time until the change is two seconds old.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        if self.watched.is_lost() {
            return false;
        }
        let Ok(now) = self.file.metadata().map(|now| stamp(&now)) else {
            return true; // another machine removed it, and what cannot be read is noticed
        };
        let mut known = self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == now {
            return true;
        }
        let is_whole = self.is_whole();
        if is_whole && is_settled(now) {
            *known = now;
        }
        is_whole
    }

    /// Whether the contents still have their checksum. This reads all of them.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        xxh3_64(&self.map[HASHED_FROM..]) == self.checksum && !self.watched.is_lost()
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
    let mut found = Vec::new();
    for length in lengths {
        let start = end.next_multiple_of(ALIGNMENT);
        end = usize::try_from(*length)
            .ok()
            .and_then(|length| start.checked_add(length))
            .filter(|end| *end <= map.len())
            .ok_or(Refused::Damaged)?;
        found.push(start..end);
    }
    // Before the checksum: a sparse file may be longer than anybody can wait for.
    (end == map.len()).then_some(found).ok_or(Refused::Damaged)
}

/// Open a file for reading, if it is one: a pipe or a device may block or never end.
fn regular(path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    let found = file.metadata()?;
    if found.is_file() {
        Ok((file, found))
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
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
    use std::fs;
    use std::path::PathBuf;

    const TAG: Tag = Tag {
        kind: *b"test    ",
        version: 1,
        database: [7; 16],
        generation: 3,
    };

    fn claimed(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("memstore-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file");
        fs::write(&path, []).unwrap();
        path
    }

    #[test]
    fn written_sections_are_read_in_place() {
        let path = claimed("round");
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
        let path = claimed("damage");
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
    fn a_file_that_was_taken_away_is_not_written() {
        let path = claimed("taken");
        fs::remove_file(&path).unwrap();

        assert!(write(&path, &TAG, 1, &[&[5; 100]]).is_err());

        assert!(!path.exists());
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_longer_file_is_refused_before_it_is_compared() {
        let path = claimed("sparse");
        write(&path, &TAG, 1, &[&[5; 100]]).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(1 << 40).unwrap(); // an hour, if all of it were read

        assert!(matches!(Mapped::open(&path, &TAG), Err(Refused::Damaged)));
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn bytes_that_change_later_are_noticed() {
        let path = claimed("changed");
        write(&path, &TAG, 1, &[&[5; 100]]).unwrap();
        let file = Mapped::open(&path, &TAG).unwrap();
        assert!(file.is_intact() && file.is_whole());
        let mut other = OpenOptions::new().write(true).open(&path).unwrap();
        other.seek(SeekFrom::End(-3)).unwrap();
        other.write_all(&[6]).unwrap();
        // The clock of the file system may be too coarse to show it.
        other.set_modified(SystemTime::UNIX_EPOCH).unwrap();

        assert!(!file.is_whole());
        assert!(!file.is_intact());

        other.seek(SeekFrom::End(-3)).unwrap();
        other.write_all(&[5]).unwrap();
        assert!(file.is_whole() && file.is_intact());
        drop(file);
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn removed_file_stays_readable() {
        let path = claimed("removed");
        write(&path, &TAG, 1, &[&[5; 100]]).unwrap();
        let file = Mapped::open(&path, &TAG).unwrap();
        if fs::remove_file(&path).is_ok() {
            assert!(file.is_intact() && file.is_whole()); // Windows does not remove it
        }
        drop(file);
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn truncated_file_is_lost_and_the_process_lives() {
        let path = claimed("truncated");
        let others = claimed("not-truncated");
        let numbers = vec![7_u64; 100_000];
        write(&path, &TAG, 1, &[bytemuck::cast_slice(&numbers)]).unwrap();
        write(&others, &TAG, 1, &[bytemuck::cast_slice(&numbers)]).unwrap();
        for _ in 0..3 {
            let other = Mapped::open(&others, &TAG).unwrap();
            let file = Mapped::open(&path, &TAG).unwrap();
            let stored = file.numbers::<u64>(0).unwrap();
            let whole = fs::read(&path).unwrap();
            fs::write(&path, []).unwrap();

            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| assert!(stored.iter().sum::<u64>() < 700_000));
                }
            });

            assert!(!file.is_intact());
            assert!(!file.is_whole());
            assert!(other.is_intact() && other.is_whole());
            fs::write(&path, whole).unwrap();
        }
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        fs::remove_dir_all(others.parent().unwrap()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_at_once() {
        let path = claimed("pipe");
        fs::remove_file(&path).unwrap();
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the name ends in NUL.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);

        assert!(matches!(
            Mapped::open(&path, &TAG),
            Err(Refused::Unreadable(_))
        ));
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn file_with_another_tag_is_refused() {
        let path = claimed("other");
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
