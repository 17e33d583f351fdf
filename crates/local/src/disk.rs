//! The header and the records of the state file, as they are on disk.
//!
//! | offset | what | written |
//! |---|---|---|
//! | 0 | header: which file this is | once |
//! | 4096 | record with an even number | alternately with the other, each time the ceiling moves |
//! | 8192 | record with an odd number | |
//! | 16384 … | second copies of the three | with the first ones |
//! | 65536 | the mapped state ([`crate::mapped`]) | whenever an ID is minted; the copy on disk may be of any age |
//!
//! * **A block** has 512 bytes, which disks write as a whole, and its own page: a magic number, numbers of 64 bits (little-endian), and at
//!   the end a checksum (SipHash-2-4 with the key 0).
//! * **The ceiling** is in the valid record with the highest number. A new record never overwrites the newest one, so a torn write leaves
//!   the last ceiling that was in force. A ceiling is in force once it is on disk.
//! * **A record that is damaged in both copies** may have been the newest, so the file is refused.
//! * **The file is allocated and written in full** when it is made, so a disk that is full later does not matter.

use std::fs::File;
use std::io;

use siphasher::sip::SipHasher24;

use crate::os;

const BLOCK: usize = 512;
const HEADER_AT: u64 = 0;
const RECORD_AT: [u64; 2] = [4096, 8192];
/// The distance from the first copy of a block to the second.
const COPY: u64 = 16384;
/// Where the mapped state begins: a multiple of every page size in use.
pub(crate) const MAPPED_AT: u64 = 65536;
const HEADER_MAGIC: u64 = u64::from_le_bytes(*b"frazil 2");
const RECORD_MAGIC: u64 = u64::from_le_bytes(*b"ceiling1");
/// Stands for a generation that is not known. Generations have 32 bits.
const UNKNOWN: u64 = u64::MAX;
/// The longest scope, in bytes.
pub(crate) const MAX_SCOPE: usize = 32;

/// Which file it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) fingerprint: u64,
    pub(crate) node: u64,
    pub(crate) scope: String,
    /// The inode of the file itself: a copy has another.
    pub(crate) inode: u64,
    /// When the inode was made, in nanoseconds, to tell apart files that had the same inode number; 0 if the file system does not
    /// say.
    pub(crate) created_ns: u64,
    /// The generation of the inode number; `None` if the file system does not say.
    pub(crate) generation: Option<u32>,
    /// The key that decides where sequences start.
    pub(crate) key: [u64; 2],
}

/// What is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Record {
    pub(crate) number: u64,
    /// Nothing at or after this Unix millisecond was issued.
    pub(crate) ceiling_ms: u64,
}

/// The bytes of a block.
struct Block([u8; BLOCK]);

impl Block {
    const WORDS: usize = BLOCK / 8;

    fn encode(numbers: &[u64]) -> Self {
        let mut block = Self([0; BLOCK]);
        for (bytes, number) in block.0.chunks_exact_mut(8).zip(numbers) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        let checksum = block.checksum();
        block.0[BLOCK - 8..].copy_from_slice(&checksum.to_le_bytes());
        block
    }

    fn checksum(&self) -> u64 {
        SipHasher24::new().hash(&self.0[..BLOCK - 8])
    }

    fn write(&self, file: &File, at: u64) -> io::Result<()> {
        os::write_at(file, &self.0, at)?;
        os::write_at(file, &self.0, at + COPY)
    }

    /// The numbers of both copies; `None` for a copy whose checksum or magic is wrong.
    fn read(file: &File, at: u64, magic: u64) -> io::Result<[Option<[u64; Self::WORDS]>; 2]> {
        let mut copies = [None; 2];
        for (copy, at) in copies.iter_mut().zip([at, at + COPY]) {
            let mut block = Self([0; BLOCK]);
            os::read_at(file, &mut block.0, at)?;
            let mut numbers = [0; Self::WORDS];
            for (number, bytes) in numbers.iter_mut().zip(block.0.chunks_exact(8)) {
                *number = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
            *copy = (numbers[Self::WORDS - 1] == block.checksum() && numbers[0] == magic).then_some(numbers);
        }
        Ok(copies)
    }
}

impl Header {
    /// Writes it to a new file.
    pub(crate) fn write(&self, file: &File) -> io::Result<()> {
        let Self { fingerprint, node, scope, inode, created_ns, generation, key } = self;
        let generation = generation.map_or(UNKNOWN, u64::from);
        let mut numbers =
            vec![HEADER_MAGIC, *fingerprint, *node, *inode, *created_ns, generation, key[0], key[1], scope.len() as u64];
        let mut text = [0; MAX_SCOPE];
        text[..scope.len()].copy_from_slice(scope.as_bytes());
        numbers.extend(text.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default())));
        Block::encode(&numbers).write(file, HEADER_AT)
    }

    /// `None` if neither copy is valid, or if both are and differ.
    pub(crate) fn read(file: &File) -> io::Result<Option<Self>> {
        let [first, second] = Block::read(file, HEADER_AT, HEADER_MAGIC)?.map(|numbers| {
            let [_, fingerprint, node, inode, created_ns, generation, high, low, length, text @ ..] = numbers?;
            let mut scope: Vec<u8> = text.iter().take(MAX_SCOPE / 8).flat_map(|word| word.to_le_bytes()).collect();
            scope.truncate(usize::try_from(length).ok()?);
            let scope = String::from_utf8(scope).ok()?;
            let generation = u32::try_from(generation).ok();
            Some(Self { fingerprint, node, scope, inode, created_ns, generation, key: [high, low] })
        });
        Ok(match (first, second) {
            (Some(first), Some(second)) if first != second => None,
            (first, second) => first.or(second),
        })
    }
}

impl Record {
    /// Writes the record, not over the one before it. It is in force once the file is flushed.
    pub(crate) fn write(self, file: &File) -> io::Result<()> {
        let at = RECORD_AT[usize::from(self.number % 2 == 1)];
        Block::encode(&[RECORD_MAGIC, self.number, self.ceiling_ms]).write(file, at)
    }

    /// The newest record. `None` if one of the two is damaged in both copies.
    pub(crate) fn read(file: &File) -> io::Result<Option<Self>> {
        let mut newest = None;
        for at in RECORD_AT {
            let copies = Block::read(file, at, RECORD_MAGIC)?;
            let records = copies.into_iter().flatten().map(|[_, number, ceiling_ms, ..]| Self { number, ceiling_ms });
            let Some(record) = records.max() else { return Ok(None) };
            newest = newest.max(Some(record));
        }
        Ok(newest)
    }
}
