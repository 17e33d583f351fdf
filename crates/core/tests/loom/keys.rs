//! Threads that each offer a key to one state.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc as StdArc, Mutex as StdMutex};

use frazil::abi::{Frame, Handles, KEYLESS, KINDS, slot};
use frazil::mint::{Key, Machine, Outcome, SequenceStart, Window};
use frazil::{Node, Registry};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::model::{Model, PLAIN, WRAPPING};
use crate::{REPEATED, explore, panic_of};

/// Mints two IDs at tick 1 through a frame, as a host does, and offers the key if it is asked for one.
fn mint_two_through_a_frame(
    registry: &Mutex<Registry>,
    start: SequenceStart,
    [high, low]: [u32; 2],
) -> (Handles, Box<Frame>, [u64; 2]) {
    let (mut handles, mut frame) = (Handles::new(), Box::new(Frame::new()));
    let fields = [("time", 3), ("node", 1), ("sequence", 4)];
    for (at, (name, bits)) in fields.into_iter().enumerate() {
        let kind = KINDS.iter().position(|kind| kind.0 == name).unwrap();
        frame.numbers[slot::FIELDS + 2 * at] = f64::from(u8::try_from(kind).unwrap());
        frame.numbers[slot::FIELDS + 2 * at + 1] = f64::from(bits);
    }
    frame.numbers[slot::FIELD_COUNT] = 3.0;
    let start = SequenceStart::ALL.iter().position(|known| *known == start).unwrap();
    frame.numbers[slot::SEQUENCE_START] = f64::from(u8::try_from(start).unwrap());
    for at in [slot::TICK_MS, slot::HAS_NODE, slot::NODE] {
        frame.numbers[at] = 1.0;
    }
    frame.numbers[slot::START_MS] = f64::NAN;
    assert_eq!(handles.open(&mut frame, &mut registry.lock().unwrap()), 0);

    let mut ids = [(); 2].map(|()| 0);
    for id in &mut ids {
        if handles.reserve(&mut frame, 0.0, 1.0, 1, true) == KEYLESS {
            frame.numbers[slot::HAS_KEY] = 1.0;
            frame.numbers[slot::KEY + 1] = f64::from(high);
            frame.numbers[slot::KEY + 3] = f64::from(low);
            assert_eq!(handles.reserve(&mut frame, 0.0, 1.0, 1, true), 0);
        }
        *id = frame.ids[0];
    }
    (handles, frame, ids)
}

/// The IDs of a key: four of tick 1, and one of each later tick.
fn ids_under(start: SequenceStart, key: Key) -> BTreeSet<u64> {
    let machine = Machine::new(&Model { sequence_bits: 4, ..PLAIN }.layout(), Node::Id(1), 0).unwrap().starting(start, key);
    let (mut word, mut ids) = (0, BTreeSet::new());
    for now_ms in [1, 1, 1, 1, 2, 3, 4, 5, 6, 7] {
        let Outcome::Issued { word: next, block, .. } = machine.reserve(word, Window::OPEN, &[], now_ms, 1, true) else {
            unreachable!()
        };
        word = next;
        ids.insert(block.first());
    }
    ids
}

#[test]
fn threads_that_open_one_state_and_each_offer_a_key_use_one_key() {
    for start in [SequenceStart::Random, SequenceStart::Wrap] {
        let keys = StdArc::new(StdMutex::new(BTreeSet::new()));
        let used = StdArc::clone(&keys);
        explore(move || {
            let registry = Arc::new(Mutex::new(Registry::new()));
            let hosts = [[1, 2], [3, 4]].map(|key| {
                let registry = Arc::clone(&registry);
                // The stack size is in words. A frame is created on the stack before it is boxed, and loom's default is too small.
                thread::Builder::new().stack_size(1 << 16).spawn(move || mint_two_through_a_frame(&registry, start, key)).unwrap()
            });
            let hosts = hosts.map(|host| host.join().unwrap());
            let mut ids: Vec<u64> = hosts.iter().flat_map(|(_, _, ids)| *ids).collect();
            for ((handles, mut frame, _), later) in hosts.into_iter().zip([[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]) {
                for now_ms in later {
                    assert_eq!(handles.reserve(&mut frame, 0.0, now_ms, 1, true), 0);
                    ids.push(frame.ids[0]);
                }
            }
            let all: BTreeSet<u64> = ids.iter().copied().collect();
            assert_eq!(all.len(), ids.len(), "{REPEATED} {ids:?}");
            let key =
                [(1, 2), (1, 4), (3, 2), (3, 4)].into_iter().find(|(high, low)| ids_under(start, Key::new(*high, *low)) == all);
            used.lock().unwrap().insert(key.unwrap());
        });
        // Mixed keys are possible too: each half is that of the thread that offered it first.
        assert!(keys.lock().unwrap().is_superset(&BTreeSet::from([(1, 2), (3, 4)])), "{keys:?}");
    }
}

/// How a thread offers a key: swapped in as the library does, or stored over a key that another thread offered and may have used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offer {
    Swapped,
    Stored,
}

/// Two threads each offer a key and mint two IDs of one tick with the key that they then read.
fn offer_keys(offer: Offer) {
    fn mint_two(state: &[AtomicU64; 3], own: [u64; 2], offer: Offer) -> [u64; 2] {
        let [word, key @ ..] = state;
        for (cell, half) in key.iter().zip(own) {
            match offer {
                Offer::Swapped => drop(cell.compare_exchange(0, half, Ordering::Relaxed, Ordering::Relaxed)),
                Offer::Stored => cell.store(half, Ordering::Relaxed),
            }
        }
        let [high, low] = [0, 1].map(|half: usize| key[half].load(Ordering::Relaxed));
        let machine = Machine::new(&WRAPPING.layout(), Node::Id(1), 0).unwrap();
        let machine = machine.starting(SequenceStart::Wrap, Key::new(high, low));
        let mut read = word.load(Ordering::Relaxed);
        loop {
            let Outcome::Issued { word: next, block, .. } = machine.reserve(read, Window::OPEN, &[], 1, 2, true) else {
                unreachable!()
            };
            match word.compare_exchange_weak(read, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    let mut ids = [0; 2];
                    block.write(&mut ids);
                    return ids;
                }
                Err(current) => read = current,
            }
        }
    }
    explore(move || {
        let state = Arc::new([(); 3].map(|()| AtomicU64::new(0)));
        let other = thread::spawn({
            let state = Arc::clone(&state);
            move || mint_two(&state, [1, 2], offer)
        });
        let ids = [mint_two(&state, [3, 4], offer), other.join().unwrap()].concat();
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 4, "{REPEATED} {ids:?}");
    });
}

#[test]
fn a_key_that_overwrites_another_repeats_an_id() {
    offer_keys(Offer::Swapped);
    let panic = panic_of(|| offer_keys(Offer::Stored));
    assert!(panic.contains(REPEATED), "{panic}");
}
