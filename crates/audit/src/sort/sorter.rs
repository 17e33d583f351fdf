//! The buffers of keys, and when they go to disk.

use super::item::{Hosted, Item};
use super::merge::Merge;
use super::radix;
use super::run::{Cursor, DECODED_ITEMS, Run, Writer};
use crate::disk::Disk;

/// The smallest block that is worth a read from disk.
const MIN_BLOCK_BYTES: usize = 1 << 14;
const MAX_BLOCK_BYTES: usize = 1 << 18;
/// The first size of a buffer.
const FIRST_ITEMS: usize = 1 << 12;

/// Collects keys, and writes a sorted run when its share of the memory is full.
pub(crate) struct Sorter {
    memory_bytes: usize,
    plain: Vec<u64>,
    hosted: Vec<Hosted>,
    has_hosts: bool,
    /// How many items a buffer holds.
    limit: usize,
    runs: Vec<Run>,
    next_run: u32,
    pub(crate) spilled_bytes: u64,
}

impl Sorter {
    pub(crate) fn new(memory_bytes: usize) -> Self {
        Self {
            memory_bytes,
            plain: Vec::new(),
            hosted: Vec::new(),
            has_hosts: false,
            limit: items_in(memory_bytes, size_of::<u64>()),
            runs: Vec::new(),
            next_run: 0,
            spilled_bytes: 0,
        }
    }

    /// From now on a host goes with each key.
    pub(crate) fn expect_hosts<D: Disk>(&mut self, disk: &mut D) -> Result<(), D::Error> {
        if !self.has_hosts {
            self.spill(disk)?;
            self.plain = Vec::new();
            self.has_hosts = true;
            self.limit = items_in(self.memory_bytes, size_of::<Hosted>());
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn push<D: Disk>(&mut self, key: u64, host: u32, disk: &mut D) -> Result<(), D::Error> {
        if self.has_hosts {
            if self.hosted.len() == self.hosted.capacity() {
                self.make_room(disk)?;
            }
            self.hosted.push(Hosted::new(key, host));
        } else {
            if self.plain.len() == self.plain.capacity() {
                self.make_room(disk)?;
            }
            self.plain.push(key);
        }
        Ok(())
    }

    /// Doubles the buffer until it has its share of the memory, and then empties it.
    #[cold]
    fn make_room<D: Disk>(&mut self, disk: &mut D) -> Result<(), D::Error> {
        let length = if self.has_hosts { self.hosted.len() } else { self.plain.len() };
        if length >= self.limit {
            return self.spill(disk);
        }
        let more = (self.limit - length).min(length.max(FIRST_ITEMS));
        if self.has_hosts {
            self.hosted.reserve_exact(more);
        } else {
            self.plain.reserve_exact(more);
        }
        Ok(())
    }

    #[cold]
    fn spill<D: Disk>(&mut self, disk: &mut D) -> Result<(), D::Error> {
        if self.has_hosts {
            let mut items = std::mem::take(&mut self.hosted);
            self.write(&mut items, disk)?;
            self.hosted = items;
        } else {
            let mut items = std::mem::take(&mut self.plain);
            self.write(&mut items, disk)?;
            self.plain = items;
        }
        Ok(())
    }

    fn write<T: Item, D: Disk>(&mut self, items: &mut Vec<T>, disk: &mut D) -> Result<(), D::Error> {
        if items.is_empty() {
            return Ok(());
        }
        sort(items);
        let mut writer = self.writer(T::HAS_HOST);
        writer.write(items, disk)?;
        self.finish(writer, disk)?;
        items.clear();
        Ok(())
    }

    fn writer(&mut self, has_host: bool) -> Writer {
        self.next_run += 1;
        Writer::new(self.next_run - 1, has_host)
    }

    fn finish<D: Disk>(&mut self, writer: Writer, disk: &mut D) -> Result<(), D::Error> {
        let (run, bytes) = writer.finish(disk)?;
        self.runs.push(run);
        self.spilled_bytes += bytes;
        Ok(())
    }

    /// How many runs are merged at once.
    fn fan_in(&self) -> usize {
        (self.memory_bytes / (MIN_BLOCK_BYTES + DECODED_ITEMS * size_of::<Hosted>())).max(2)
    }

    /// Begins the merge, of as many runs as the memory has room for. If there are more, a step merges some of them to one run.
    pub(crate) fn sorted<D: Disk>(mut self, disk: &mut D) -> Result<Sorted, D::Error> {
        if self.runs.len() + 1 > self.fan_in() {
            self.spill(disk)?;
            self.plain = Vec::new();
            self.hosted = Vec::new();
        }
        let has_hosts = self.has_hosts;
        let stage = if has_hosts { Stage::Hosted(self.stage(disk)?) } else { Stage::Plain(self.stage(disk)?) };
        Ok(Sorted { sorter: self, stage })
    }

    fn stage<T: Buffered, D: Disk>(&mut self, disk: &mut D) -> Result<OneStage<T>, D::Error> {
        let count = self.runs.len().min(self.fan_in());
        let is_last = count == self.runs.len();
        let mut buffer = std::mem::take(T::buffer(self));
        let block_bytes = (self.memory_bytes / 2 / count.max(1)).clamp(MIN_BLOCK_BYTES, MAX_BLOCK_BYTES);
        let mut cursors: Vec<_> = self.runs.drain(..count).map(|run| Cursor::of_run(run, block_bytes)).collect();
        if !buffer.is_empty() {
            sort(&mut buffer);
            cursors.push(Cursor::in_memory(buffer));
        }
        let merge = Merge::new(cursors, disk)?;
        Ok(OneStage { merge, into: if is_last { None } else { Some(self.writer(T::HAS_HOST)) }, items: Vec::new() })
    }
}

/// The items that fit in the memory with as much again for the sort.
fn items_in(memory_bytes: usize, item_bytes: usize) -> usize {
    (memory_bytes / (2 * item_bytes)).max(1)
}

fn sort<T: Item>(items: &mut [T]) {
    radix::sort(items, &mut Vec::new());
}

/// Which of the sorter's buffers has items of the type.
trait Buffered: Item {
    fn buffer(sorter: &mut Sorter) -> &mut Vec<Self>;
}

impl Buffered for u64 {
    fn buffer(sorter: &mut Sorter) -> &mut Vec<Self> {
        &mut sorter.plain
    }
}

impl Buffered for Hosted {
    fn buffer(sorter: &mut Sorter) -> &mut Vec<Self> {
        &mut sorter.hosted
    }
}

struct OneStage<T> {
    merge: Merge<T>,
    /// Where to, if it is not the last merge.
    into: Option<Writer>,
    items: Vec<T>,
}

enum Stage {
    Plain(OneStage<u64>),
    Hosted(OneStage<Hosted>),
}

/// All keys in order, in steps.
pub(crate) struct Sorted {
    sorter: Sorter,
    stage: Stage,
}

impl Sorted {
    /// Takes up to about `at_most` keys a step further; `take` gets those that are in their final order. `true` at the end.
    pub(crate) fn step<D: Disk>(
        &mut self,
        at_most: usize,
        disk: &mut D,
        take: &mut impl FnMut(u64, u32),
    ) -> Result<bool, D::Error> {
        let next = match &mut self.stage {
            Stage::Plain(stage) => step(&mut self.sorter, stage, at_most, disk, take)?.map(Stage::Plain),
            Stage::Hosted(stage) => step(&mut self.sorter, stage, at_most, disk, take)?.map(Stage::Hosted),
        };
        match next {
            Next::Same => {}
            Next::Stage(stage) => self.stage = stage,
            Next::End => return Ok(true),
        }
        Ok(false)
    }

    pub(crate) fn spilled_bytes(&self) -> u64 {
        self.sorter.spilled_bytes
    }
}

/// What follows a step.
enum Next<T> {
    Same,
    Stage(T),
    End,
}

impl<T> Next<T> {
    fn map<U>(self, map: impl FnOnce(T) -> U) -> Next<U> {
        match self {
            Self::Same => Next::Same,
            Self::Stage(stage) => Next::Stage(map(stage)),
            Self::End => Next::End,
        }
    }
}

fn step<T: Buffered, D: Disk>(
    sorter: &mut Sorter,
    stage: &mut OneStage<T>,
    at_most: usize,
    disk: &mut D,
    take: &mut impl FnMut(u64, u32),
) -> Result<Next<OneStage<T>>, D::Error> {
    stage.items.clear();
    let goes_on = stage.merge.next(&mut stage.items, at_most, disk)?;
    if let Some(writer) = &mut stage.into {
        writer.write(&stage.items, disk)?;
        if goes_on {
            return Ok(Next::Same);
        }
        if let Some(writer) = stage.into.take() {
            sorter.finish(writer, disk)?;
        }
        return Ok(Next::Stage(sorter.stage(disk)?));
    }
    for item in &stage.items {
        take(item.key(), item.host());
    }
    Ok(if goes_on { Next::Same } else { Next::End })
}
