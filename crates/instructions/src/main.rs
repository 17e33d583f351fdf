//! A program that calls each hot path once, for callgrind, which counts the instructions of that one call.
//!
//! `npm test -- instructions` compares the counts with `docs/reference/benchmarks/instructions.json`. Every call that is counted goes
//! through [`counted`]. callgrind collects within that function only (`--toggle-collect`) and writes its counts each time when it
//! returns (`--dump-after`). The program prints the name of each call, in that order. Of calls with the same name the least count is taken.
//! The first call, `nothing`, is empty; its count is subtracted from the others.
//!
//! * **Deterministic**: the clock stands still until it is set, no random number is drawn, and nothing that is counted allocates
//!   or calls the operating system. The state file begins at the time of the system; no count depends on it.
//! * **Each call is checked**: one that is refused where it should not be, or not where it should, ends the program.
//! * **Mutant**: with the feature `mutant`, [`next`] makes a reservation more than it needs.
//! * **Not covered**: caches, branch prediction, contention, and the read of the system's clock. Those are in the benchmark of
//!   `crates/core/bench`.
//!
//! Why one function for all calls: callgrind 3.19 mixes up the options of functions whose names begin alike. Why not gungraun: its
//! runner has 172 crates, and to install it takes longer than this suite may.
#![allow(clippy::print_stdout, reason = "the names are the output of this program")]
#![allow(clippy::unwrap_used, reason = "a set-up that fails ends the program")]

use std::hint::black_box;
use std::path::PathBuf;

use frazil::abi::{Frame, Handles, KINDS, slot};
use frazil::asking::Nonce;
use frazil::ceiling::CeilingGenerator;
use frazil::clock::ManualClock;
use frazil::layout::{Columns, Field, LayoutSpec};
use frazil::lease::{Granted, IdTime, LeaseRandom, LeaseTerms, LeasedGenerator, LeasedOptions, Readings, Request};
use frazil::mint::Reservation;
use frazil::segment::{Allocated, Segment, SegmentRange, SegmentTerms};
use frazil::{Clock, Code, Generator, GeneratorOptions, Layout, Node, Registry, SystemClock, TextForm};
use frazil_local::{Local, LocalOptions};

/// A time after the epoch of every layout here: 2024-07-03.
const NOW_MS: u64 = 1_720_000_000_000;
/// IDs of a call on many of them.
const MANY: usize = 1000;

/// What callgrind looks for. Never inlined, so that it has a name.
#[inline(never)]
fn counted(call: &mut dyn FnMut()) {
    call();
    // Otherwise the call is a jump, and this function has returned before it.
    black_box(());
}

/// Makes a call that is counted under a name, and returns its answer.
fn count<T>(name: &str, mut call: impl FnMut() -> T) -> T {
    println!("{name}");
    let mut answer = None;
    counted(&mut || answer = Some(call()));
    black_box(answer).unwrap()
}

/// The next ID, as a caller writes it.
fn next(ids: &Generator, clock: &ManualClock) -> frazil::Result<u64> {
    let id = black_box(ids).next(clock);
    if cfg!(feature = "mutant") {
        black_box(ids.reserve(clock.now_ms()?, 1, true).is_ok());
    }
    id
}

fn default_layout() -> Layout {
    Layout::named("default").unwrap()
}

/// Four million IDs in a millisecond.
fn wide_layout() -> Layout {
    let fields = vec![Field::time(40), Field::node(1), Field::sequence(22)];
    Layout::new(LayoutSpec { epoch_ms: 1_704_067_200_000, tick_ms: 1, unsigned: false, fields }).unwrap()
}

/// A process that has run for an hour, so that a lead is allowed.
fn options(max_lead_ms: u64) -> GeneratorOptions<'static> {
    let start_ms = Some(NOW_MS - 3_600_000);
    GeneratorOptions { start_ms, max_lead_ms: Some(max_lead_ms), ..GeneratorOptions::new(Node::Id(1)) }
}

/// A generator of a state that has minted within the tick of the clock, as one that is in use.
fn in_use(ids: &Generator, clock: &ManualClock) {
    for _ in 0..3 {
        ids.next(clock).unwrap();
    }
}

/// A generator in use, with its clock.
fn opened(layout: &Layout, max_lead_ms: u64) -> (Generator, ManualClock) {
    let (ids, clock) = (Registry::new().open(layout, options(max_lead_ms)).unwrap(), ManualClock::new(NOW_MS));
    in_use(&ids, &clock);
    (ids, clock)
}

/// The same, with no ID left in the tick of the clock.
fn at_the_end_of_a_tick(max_lead_ms: u64) -> (Generator, ManualClock) {
    let (ids, clock) = opened(&default_layout(), max_lead_ms);
    assert_eq!(ids.fill(&clock, &mut vec![0; 4093]).unwrap(), 4093);
    (ids, clock)
}

fn single_ids() {
    for (subject, layout) in [
        ("next, default layout", default_layout()),
        ("next, wide layout", wide_layout()),
        ("next, layout with clock ids", Layout::named("multi-clock").unwrap()),
    ] {
        let (ids, clock) = opened(&layout, 10);
        count(subject, || next(&ids, &clock)).unwrap();

        clock.set_ms(NOW_MS + 1);
        count(&format!("{subject}, in a new tick"), || next(&ids, &clock)).unwrap();
    }

    let (ids, clock) = (Generator::private(&default_layout(), options(10)).unwrap(), ManualClock::new(NOW_MS));
    in_use(&ids, &clock);
    count("next, private state", || next(&ids, &clock)).unwrap();

    let (ids, clock) = opened(&default_layout(), 10);
    let mut alone = ids.unshared();
    // Its blocks are of 1, 2 and 4 IDs: the last of these begins one.
    for _ in 0..4 {
        alone.next(&clock).unwrap();
    }
    count("unshared: next", || black_box(&mut alone).next(&clock)).unwrap();
    clock.set_ms(NOW_MS + 1);
    count("unshared: next, in a new tick", || black_box(&mut alone).next(&clock)).unwrap();

    let (ids, clock) = at_the_end_of_a_tick(10);
    count("next, borrowed from the next tick", || next(&ids, &clock)).unwrap();

    let (ids, clock) = at_the_end_of_a_tick(0);
    let error = count("next, refused: SEQUENCE_EXHAUSTED", || next(&ids, &clock)).unwrap_err();
    assert_eq!(error.code(), Code::SequenceExhausted);

    let (ids, clock) = opened(&default_layout(), 0);
    clock.set_ms(NOW_MS - 1000);
    let error = count("next, refused: CLOCK_BACKWARD", || next(&ids, &clock)).unwrap_err();
    assert_eq!(error.code(), Code::ClockBackward);
}

fn state_file() {
    // The caller chooses a disk. The temporary folder of a container is on overlayfs, where state files are refused.
    let dir = std::env::args_os().nth(1).map(PathBuf::from).expect("the folder for the state file is the first argument");
    let ids = Local::open(&default_layout(), LocalOptions { dir: Some(dir), ..LocalOptions::default() }).unwrap();
    // The file trusts no time but that of the system.
    let clock = ManualClock::new(SystemClock.now_ms().unwrap());
    in_use(&ids, &clock);
    // A file may begin in a tick after this reading. The calls that are counted are those of the tick that it is in.
    let now_ms = default_layout().decode(ids.next(&clock).unwrap()).unwrap().timestamp_ms;
    clock.set_ms(now_ms);
    ids.next(&clock).unwrap();
    // The thread that raises the ceiling may do so before any of these calls, which then goes another way. The least count is that
    // of a call before which it did not.
    for _ in 0..25 {
        count("next, state file", || next(&ids, &clock)).unwrap();
    }
    for tick in 1..=25 {
        clock.set_ms(now_ms + tick);
        count("next, state file, in a new tick", || next(&ids, &clock)).unwrap();
    }
}

fn blocks() {
    for want in [1, 1000, 4096] {
        let (ids, clock) = opened(&wide_layout(), 10);
        let mut out = vec![0; want];
        assert_eq!(count(&format!("fill of {want}"), || black_box(&ids).fill(&clock, &mut out)).unwrap(), want);
    }
    for want in [1, 64] {
        let (ids, _) = opened(&default_layout(), 10);
        let reservation = count(&format!("reserve of {want}"), || black_box(&ids).reserve(NOW_MS, want, false));
        let Reservation::Issued { block, .. } = reservation.unwrap() else { panic!("rechecked") };
        assert_eq!(block.len(), want);
    }
}

/// The calls of the addon and the WebAssembly module.
#[expect(clippy::cast_precision_loss, reason = "times are below 2^53")]
fn frame() {
    let (mut handles, mut frame, mut registry) = (Handles::new(), Frame::new(), Registry::new());
    let spec = default_layout().spec();
    let numbers = &mut frame.numbers;
    numbers[slot::EPOCH_MS] = spec.epoch_ms as f64;
    numbers[slot::TICK_MS] = spec.tick_ms as f64;
    numbers[slot::FIELD_COUNT] = spec.fields.len() as f64;
    for (at, field) in spec.fields.iter().enumerate() {
        numbers[slot::FIELDS + 2 * at] = KINDS.iter().position(|row| row.1 == field.kind).unwrap() as f64;
        numbers[slot::FIELDS + 2 * at + 1] = f64::from(field.bits);
    }
    numbers[slot::HAS_NODE] = 1.0;
    numbers[slot::NODE] = 1.0;
    numbers[slot::START_MS] = f64::NAN;
    assert_eq!(handles.open(&mut frame, &mut registry), 0);
    let (handle, now_ms) = (frame.numbers[slot::HANDLE], NOW_MS as f64);
    assert_eq!(handles.reserve(&mut frame, handle, now_ms, 1, false), 0);

    for (name, now_ms, want) in [
        ("frame: reserve of 1", now_ms, 1),
        ("frame: reserve of 1, in a new tick", now_ms + 1.0, 1),
        ("frame: reserve of 64", now_ms + 1.0, 64),
    ] {
        assert_eq!(count(name, || black_box(&handles).reserve(&mut frame, handle, now_ms, want, false)), 0);
    }
    frame.numbers[slot::FILL_FROM] = 0.0;
    frame.numbers[slot::FILL_UNTIL] = 1000.0;
    let mut array = vec![0; 1000];
    let status =
        count("frame: fill of 1000", || black_box(&handles).fill(&mut frame, handle, now_ms + 1.0, black_box(&mut array), false));
    assert_eq!(status, 0);
}

fn leases() {
    for (subject, id_time) in [("lease: reserve of 1", IdTime::Wall), ("lease: reserve of 1, store time", IdTime::Store)] {
        let terms = LeaseTerms::new(30_000, 10_000, 3000, 1).unwrap();
        let options = LeasedOptions { id_time, ..LeasedOptions::new(terms) };
        let mut ids = LeasedGenerator::new(&default_layout(), options).unwrap();
        let now = Readings { wall_ms: NOW_MS, monotonic_ms: 0 };
        let Request::Acquire { grant, .. } = ids.ask(0, LeaseRandom { grant: 1, nonce: 2 }) else { panic!("nothing asked") };
        let (from_ms, until_ms) = (NOW_MS - 5000, NOW_MS + 30_000);
        let answer = Granted { grant, node: 7, from_ms, until_ms, store_now_ms: NOW_MS };
        ids.take(&answer, now, &mut Registry::new()).unwrap();
        ids.reserve(ids.now_ms(now), now, 3, true).unwrap();
        let reservation = count(subject, || {
            let ids = black_box(&ids);
            ids.reserve(ids.now_ms(now), now, 1, false)
        });
        assert!(matches!(reservation.unwrap(), Reservation::Issued { .. }));
    }
}

fn ceiling() {
    let mut ids = CeilingGenerator::new(&default_layout(), Node::Id(7), None, 42).unwrap();
    let row = ids.look(None, NOW_MS);
    ids.look(row, NOW_MS);
    ids.reserve(NOW_MS, 3, true).unwrap();
    let reservation = count("ceiling: look, and reserve of 1", || {
        let ids = black_box(&mut ids);
        black_box(ids.look(row, NOW_MS));
        ids.reserve(NOW_MS, 1, false)
    });
    assert!(matches!(reservation.unwrap(), Reservation::Issued { .. }));
}

fn segments() {
    let mut segment = Segment::new(SegmentTerms::new(Some(100), 1000, 900_000, 1_800_000).unwrap());
    segment.ask(0, 1, 0, 7);
    let range = SegmentRange { first: 1, stride: 1, count: 100 };
    let answer = Allocated { attempt: Nonce(7), range, step: None };
    assert!(segment.take(&answer, 0).unwrap());
    segment.draw(0, 1).unwrap();
    let range = count("segment: draw of 1", || black_box(&mut segment).draw(0, 1));
    assert_eq!(range, Some(SegmentRange { first: 2, stride: 1, count: 1 }));
}

/// Returns the IDs that it decoded.
fn decoding() -> [u64; MANY] {
    let layout = default_layout();
    let (ids, clock) = opened(&layout, 10);
    let mut many = [0; MANY];
    assert_eq!(ids.fill(&clock, &mut many).unwrap(), MANY);
    let id = many[0];
    let decoded = count("decode", || black_box(&layout).decode(black_box(id)));
    assert_eq!(decoded.unwrap().timestamp_ms, NOW_MS);
    assert_eq!(count("timestamp_of", || black_box(&layout).timestamp_of(black_box(id))), Ok(NOW_MS));
    let refused = count("decode, refused: INVALID_ID", || black_box(&layout).decode(black_box(u64::MAX)));
    assert_eq!(refused.unwrap_err().code(), Code::InvalidId);

    let (mut timestamp_ms, mut node, mut clock, mut sequence) = ([0; MANY], [0; MANY], [0; MANY], [0; MANY]);
    let many_decoded = count(&format!("decode_many of {MANY}"), || {
        let (timestamp_ms, node, clock, sequence) = (&mut timestamp_ms, &mut node, &mut clock, &mut sequence);
        black_box(&layout).decode_many(black_box(&many), Columns { timestamp_ms, node, clock, sequence })
    });
    many_decoded.unwrap();
    assert_eq!((timestamp_ms, node), ([NOW_MS; MANY], [1; MANY]));
    many
}

fn texts(ids: &[u64]) {
    for (form, form_name) in [(TextForm::Base62, "base62"), (TextForm::Base32, "base32")] {
        let (id, mut room) = (ids[0], [0; TextForm::MAX_WIDTH]);
        let width = count(&format!("{form_name}: encode"), || form.encode_into(black_box(id), black_box(&mut room)).len());
        let text = std::str::from_utf8(&room[..width]).unwrap();
        assert_eq!(text, form.encode(id));
        assert_eq!(count(&format!("{form_name}: decode"), || form.decode(black_box(text))), Ok(id));
        let mut texts = vec![0; ids.len() * form.width()];
        let encoded =
            count(&format!("{form_name}: encode_many of {}", ids.len()), || form.encode_many(ids, black_box(&mut texts)));
        encoded.unwrap();
        assert!(texts.starts_with(text.as_bytes()));
    }
}

fn main() {
    count("nothing", || ());
    single_ids();
    state_file();
    blocks();
    frame();
    leases();
    ceiling();
    segments();
    texts(&decoding());
}
