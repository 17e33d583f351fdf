//! A program that links only if nothing on the minting path and in public IDs can panic.
//!
//! `#[no_panic]` adds to a function a call of a symbol that does not exist, which runs if a panic unwinds through the function.
//! If the optimiser proves that no panic is possible, it removes the call and the program links; otherwise the linker names the
//! function. The functions take their input as arguments and are never inlined, so the optimiser knows only the types: the
//! result holds for every machine, word, clock and frame.
//!
//! * **Mutant**: with the feature `mutant` the program has a function that can panic, and must not link.
//! * **AES**: the crate `aes` by the processor's instructions and in software. With `--cfg aes_backend_soft="compact" --cfg cpubits="32"`,
//!   as in the WebAssembly module, it links as well (rustc 1.95.0, 2026-11-29).
//! * **Not shown**: panics in a caller's own `Clock` or `ClockIds`, and in functions that allocate (opening, layouts).
//!
//! `npm test -- no-panic` runs it; it needs the profile `no-panic` of the workspace.
//!
//! Source: D. Tolnay's crate `no-panic`, and the way `itoa` uses it.

use core::hint::black_box;

use frazil::abi::{Frame, Handles, PublicFrame};
use frazil::clock::ManualClock;
use frazil::layout::{Columns, Parts};
use frazil::mint::{Block, Health, Machine, Outcome, Reservation, Stats, Unshared, Window};
use frazil::segment::{Segment, SegmentRange};
use frazil::{Decoded, Generator, Layout, Result};
use no_panic::no_panic;

#[no_panic]
#[inline(never)]
fn machine_reserve(
    machine: &Machine,
    (word, window): (u64, Window),
    clocks: &[u64],
    now_ms: u64,
    want: usize,
    confirmed: bool,
) -> Outcome {
    machine.reserve(word, window, clocks, now_ms, want, confirmed)
}

#[no_panic]
#[inline(never)]
fn machine_max_count(machine: &Machine, wait_ms: u64) -> u64 {
    machine.max_count(wait_ms)
}

#[no_panic]
#[inline(never)]
fn block_first(block: &Block) -> u64 {
    block.first()
}

#[no_panic]
#[inline(never)]
fn block_write(block: &Block, out: &mut [u64]) {
    block.write(out);
}

#[no_panic]
#[inline(never)]
fn generator_reserve(generator: &Generator, now_ms: u64, want: usize, confirmed: bool) -> Result<Reservation> {
    generator.reserve(now_ms, want, confirmed)
}

#[no_panic]
#[inline(never)]
fn generator_next(generator: &Generator, clock: &ManualClock) -> Result<u64> {
    generator.next(clock)
}

#[no_panic]
#[inline(never)]
fn unshared_next(ids: &mut Unshared, clock: &ManualClock) -> Result<u64> {
    ids.next(clock)
}

#[no_panic]
#[inline(never)]
fn generator_fill(generator: &Generator, clock: &ManualClock, out: &mut [u64]) -> Result<usize> {
    generator.fill(clock, out)
}

#[no_panic]
#[inline(never)]
fn generator_health(generator: &Generator, now_ms: u64) -> Health {
    generator.health(now_ms)
}

#[no_panic]
#[inline(never)]
fn generator_stats(generator: &Generator) -> Stats {
    generator.stats()
}

#[no_panic]
#[inline(never)]
fn handles_reserve(handles: &Handles, frame: &mut Frame, handle: f64, now_ms: f64, want: u32, confirmed: bool) -> u32 {
    handles.reserve(frame, handle, now_ms, want, confirmed)
}

#[no_panic]
#[inline(never)]
fn handles_admit(handles: &Handles, frame: &mut Frame, handle: f64, count: f64, wait_ms: f64) -> u32 {
    handles.admit(frame, handle, count, wait_ms)
}

#[no_panic]
#[inline(never)]
fn handles_health(handles: &Handles, frame: &mut Frame, handle: f64, now_ms: f64) -> u32 {
    handles.health(frame, handle, now_ms)
}

#[no_panic]
#[inline(never)]
fn segment_draw(segment: &mut Segment, monotonic_ms: u64, want: u64) -> Option<SegmentRange> {
    segment.draw(monotonic_ms, want)
}

#[no_panic]
#[inline(never)]
fn layout_decode(layout: &Layout, id: u64) -> Result<Decoded> {
    layout.decode(id)
}

#[no_panic]
#[inline(never)]
fn layout_decode_many(layout: &Layout, ids: &[u64], columns: Columns<'_>) -> Result<()> {
    layout.decode_many(ids, columns)
}

#[no_panic]
#[inline(never)]
fn layout_timestamp_of(layout: &Layout, id: u64) -> Result<u64> {
    layout.timestamp_of(id)
}

#[no_panic]
#[inline(never)]
fn layout_parse(layout: &Layout, text: &str) -> Result<u64> {
    layout.parse(text)
}

#[no_panic]
#[inline(never)]
fn layout_compose(layout: &Layout, parts: Parts) -> Result<u64> {
    layout.compose(parts)
}

#[no_panic]
#[inline(never)]
fn layout_range(layout: &Layout, timestamp_ms: u64, node: Option<u64>) -> Result<(u64, u64)> {
    Ok((layout.min_id_at(timestamp_ms, node)?, layout.max_id_at(timestamp_ms, node)?))
}

#[no_panic]
#[inline(never)]
fn layout_stretch(layout: &Layout, from_ms: u64, to_ms: u64, node: Option<u64>) -> Result<core::ops::Range<u64>> {
    layout.range(from_ms, to_ms, node)
}

#[no_panic]
#[inline(never)]
fn public_open(frame: &mut PublicFrame, key: usize, kind: usize, bits: u32, (slot, at): (i32, usize)) -> u32 {
    frame.open(key, kind, bits, slot, at)
}

#[no_panic]
#[inline(never)]
fn public_facts(frame: &mut PublicFrame, key: usize, kind: usize, is_short: bool) -> u32 {
    frame.facts(key, kind, is_short)
}

#[no_panic]
#[inline(never)]
fn public_encode(frame: &mut PublicFrame) -> u32 {
    frame.encode()
}

#[no_panic]
#[inline(never)]
fn public_decode(frame: &mut PublicFrame, length: usize) -> u32 {
    frame.decode(length)
}

/// A broken variant of `Block::write`: it panics if the output is shorter than the block.
#[cfg(feature = "mutant")]
#[no_panic]
#[inline(never)]
fn mutant(block: &Block, out: &mut [u64]) {
    block.write(&mut out[..block.len()]);
}

fn main() {
    for function in [
        machine_reserve as *const (),
        machine_max_count as *const (),
        block_first as *const (),
        block_write as *const (),
        generator_reserve as *const (),
        generator_next as *const (),
        unshared_next as *const (),
        generator_fill as *const (),
        generator_health as *const (),
        generator_stats as *const (),
        handles_reserve as *const (),
        handles_admit as *const (),
        handles_health as *const (),
        segment_draw as *const (),
        layout_decode as *const (),
        layout_decode_many as *const (),
        layout_timestamp_of as *const (),
        layout_parse as *const (),
        layout_compose as *const (),
        layout_range as *const (),
        layout_stretch as *const (),
        public_open as *const (),
        public_facts as *const (),
        public_encode as *const (),
        public_decode as *const (),
        #[cfg(feature = "mutant")]
        {
            mutant as *const ()
        },
    ] {
        black_box(function);
    }
}
