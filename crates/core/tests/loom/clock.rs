//! Clocks, and what is known of a generator while its clock moves.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc as StdArc, Mutex as StdMutex};

use frazil::{Clock, Generator};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::call::{Answer, Mints, at};
use crate::model::{CLOCKS, Model, PLAIN};
use crate::{REPEATED, explore};

/// A clock of one call.
pub(crate) struct At(pub(crate) u64);

impl Clock for At {
    fn now_ms(&self) -> frazil::Result<u64> {
        Ok(self.0)
    }
}

/// A clock that threads share and set.
struct SharedClock(AtomicU64);

impl Clock for SharedClock {
    fn now_ms(&self) -> frazil::Result<u64> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}

/// Two threads mint with one generator and one clock, which the first thread sets between its calls.
fn on_one_clock(model: Model, from_ms: u64, to_ms: u64, check: impl Fn(&Generator) + Send + Sync + 'static) {
    explore(move || {
        let shared = Arc::new((model.generator(), SharedClock(AtomicU64::new(from_ms))));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.0.next(&shared.1).ok()
        });
        let (ids, clock) = &*shared;
        let before = ids.next(clock).ok();
        clock.0.store(to_ms, Ordering::Relaxed);
        let after = ids.next(clock).ok();
        let minted: Vec<u64> = [before, after].into_iter().chain([other.join().unwrap()]).flatten().collect();
        assert_eq!(minted.iter().collect::<HashSet<_>>().len(), minted.len(), "{REPEATED} {minted:?}");
        assert_eq!(ids.stats().issued, minted.len() as u64);
        check(ids);
    });
}

#[test]
fn a_clock_that_is_set_back_between_calls_of_next_causes_no_repeat() {
    let switched = StdArc::new(StdMutex::new(BTreeSet::new()));
    let seen = StdArc::clone(&switched);
    on_one_clock(CLOCKS, 5, 2, move |ids| {
        seen.lock().unwrap().insert(ids.stats().switches);
    });
    assert!(switched.lock().unwrap().contains(&1), "{switched:?}");
}

#[test]
fn a_clock_that_goes_forward_is_never_counted_as_a_step_back() {
    on_one_clock(PLAIN, 1, 2, |ids| assert_eq!(ids.stats().steps_back, 0));
}

#[test]
fn health_and_stats_can_be_read_at_any_time_and_change_no_state() {
    let model = CLOCKS;
    let leads = StdArc::new(StdMutex::new(BTreeSet::new()));
    let seen = StdArc::clone(&leads);
    explore(move || {
        let shared = Arc::new(model.generator());
        shared.mint(at(5));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let (health, stats) = (shared.health(2), shared.stats());
                assert_eq!(shared.health(5).refusal, None);
                assert!((1..=3).contains(&stats.issued) && stats.switches <= 1);
                health
            }
        });
        let minted = [(); 2].map(|()| shared.mint(at(2)));
        let health = other.join().unwrap();
        assert_eq!(minted, [0, 1].map(|number| Answer::Ids(vec![model.id(2, 1, number)])));
        assert_eq!((shared.stats().issued, shared.stats().switches), (3, 1));
        seen.lock().unwrap().insert((health.lead_ms, health.refusal.map(|error| error.code().name())));
    });
    let full = Some("SEQUENCE_EXHAUSTED");
    assert_eq!(*leads.lock().unwrap(), BTreeSet::from([(3, None), (0, None), (0, full)]));
}
