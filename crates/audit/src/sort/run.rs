//! A sorted run: differences of keys as varints, each followed by the number of the host if there are hosts.

use super::item::{Item, NO_HOST};
use super::varint;
use crate::disk::Disk;

/// Bytes that are collected before they are written.
const WRITE_BYTES: usize = 1 << 18;
/// Items that are decoded at once.
pub(crate) const DECODED_ITEMS: usize = 512;

/// A run on disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    number: u32,
    items: u64,
    has_host: bool,
}

/// Writes a run. Its items come in order of their keys.
pub(crate) struct Writer {
    run: Run,
    last: u64,
    bytes: Box<[u8]>,
    filled: usize,
    written_bytes: u64,
}

impl Writer {
    pub(crate) fn new(number: u32, has_host: bool) -> Self {
        let bytes = vec![0; WRITE_BYTES].into_boxed_slice();
        Self { run: Run { number, items: 0, has_host }, last: 0, bytes, filled: 0, written_bytes: 0 }
    }

    pub(crate) fn write<T: Item, D: Disk>(&mut self, items: &[T], disk: &mut D) -> Result<(), D::Error> {
        for item in items {
            if self.filled + 2 * varint::MAX_BYTES > self.bytes.len() {
                self.flush(disk)?;
            }
            varint::write(&mut self.bytes, &mut self.filled, item.key() - self.last);
            self.last = item.key();
            if T::HAS_HOST {
                // NO_HOST, the most frequent one where a file has no hosts, becomes 0.
                varint::write(&mut self.bytes, &mut self.filled, u64::from(item.host().wrapping_add(1)));
            }
        }
        self.run.items += items.len() as u64;
        Ok(())
    }

    fn flush<D: Disk>(&mut self, disk: &mut D) -> Result<(), D::Error> {
        disk.append(self.run.number, &self.bytes[..self.filled])?;
        self.written_bytes += self.filled as u64;
        self.filled = 0;
        Ok(())
    }

    /// The run, and how many bytes it has.
    pub(crate) fn finish<D: Disk>(mut self, disk: &mut D) -> Result<(Run, u64), D::Error> {
        self.flush(disk)?;
        Ok((self.run, self.written_bytes))
    }
}

/// Reads sorted items: of a run, or of memory.
pub(crate) struct Cursor<T> {
    items: Vec<T>,
    next: usize,
    rest: Option<Rest>,
}

/// What a run still has on disk.
struct Rest {
    run: Run,
    /// Items that are not decoded yet.
    items: u64,
    offset: u64,
    last: u64,
    bytes: Vec<u8>,
    at: usize,
    filled: usize,
}

impl<T: Item> Cursor<T> {
    pub(crate) fn in_memory(items: Vec<T>) -> Self {
        Self { items, next: 0, rest: None }
    }

    pub(crate) fn of_run(run: Run, block_bytes: usize) -> Self {
        let bytes = vec![0; block_bytes];
        let rest = Rest { run, items: run.items, offset: 0, last: 0, bytes, at: 0, filled: 0 };
        Self { items: Vec::with_capacity(DECODED_ITEMS), next: 0, rest: Some(rest) }
    }

    /// Decodes more items if there are none left; `false` at the end.
    pub(crate) fn fill<D: Disk>(&mut self, disk: &mut D) -> Result<bool, D::Error> {
        if self.next < self.items.len() {
            return Ok(true);
        }
        let Some(rest) = &mut self.rest else { return Ok(false) };
        self.items.clear();
        self.next = 0;
        rest.decode(&mut self.items, disk)?;
        Ok(!self.items.is_empty())
    }

    /// The items that are at hand, at least one after `fill` said so.
    pub(crate) fn at_hand(&self) -> &[T] {
        &self.items[self.next..]
    }

    pub(crate) fn skip(&mut self, count: usize) {
        self.next += count;
    }

    /// Gives back the run's room. Called at its end.
    pub(crate) fn discard<D: Disk>(&self, disk: &mut D) {
        if let Some(rest) = &self.rest {
            disk.discard(rest.run.number);
        }
    }
}

impl Rest {
    fn decode<T: Item, D: Disk>(&mut self, items: &mut Vec<T>, disk: &mut D) -> Result<(), D::Error> {
        while self.items > 0 && items.len() < DECODED_ITEMS {
            // Two varints never lie across the end of what was read, unless that is the end of the run.
            if self.filled - self.at < 2 * varint::MAX_BYTES {
                self.refill(disk)?;
            }
            let Some(difference) = varint::read(&self.bytes[..self.filled], &mut self.at) else { break };
            let host = if self.run.has_host {
                let Some(host) = varint::read(&self.bytes[..self.filled], &mut self.at) else { break };
                (host as u32).wrapping_sub(1)
            } else {
                NO_HOST
            };
            // Wrapping, since a disk that returns other bytes must not end the program.
            self.last = self.last.wrapping_add(difference);
            self.items -= 1;
            items.push(T::new(self.last, host));
        }
        Ok(())
    }

    fn refill<D: Disk>(&mut self, disk: &mut D) -> Result<(), D::Error> {
        self.bytes.copy_within(self.at..self.filled, 0);
        self.filled -= self.at;
        self.at = 0;
        while self.filled < self.bytes.len() {
            let count = disk.read(self.run.number, self.offset, &mut self.bytes[self.filled..])?;
            if count == 0 {
                break;
            }
            self.filled += count;
            self.offset += count as u64;
        }
        Ok(())
    }
}
