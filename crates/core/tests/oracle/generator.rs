//! A generator, and what the model says of the same calls.

use std::collections::HashSet;

use frazil::clock::ManualClock;
use frazil::mint::{ENDS_SOON_MS, Health, Key, Reservation, SequenceStart, Stats};
use frazil::{Error, Generator, GeneratorOptions, Layout, Node};
use frazil_reference::{Kind, Refusal};
use proptest::prelude::*;

use crate::{Step, cases, count, model, small_layout, start, step};

/// One generator, the model, and the IDs that were issued.
struct Walk {
    layout: Layout,
    max_lead_ms: u64,
    sequence_start: SequenceStart,
    generator: Generator,
    model: frazil_reference::Generator,
    issued: HashSet<u64>,
    last: Option<u64>,
    read_ms: u64,
    stats: Stats,
}

impl Walk {
    /// Checks the IDs of a call against those of the model, and against what the docs claim.
    fn issue(&mut self, now_ms: u64, want: usize, ids: &[u64]) -> Result<(), TestCaseError> {
        let switched = self.model.next(now_ms.into()).is_ok_and(|(_, follows_back)| follows_back);
        let expected = self.model.reserve(now_ms.into(), want, true);
        prop_assert_eq!(ids.iter().copied().map(u128::from).collect::<Vec<_>>(), expected.unwrap());
        for (at, &id) in ids.iter().enumerate() {
            prop_assert!(self.issued.insert(id), "{} is repeated", id);
            let is_ordered = self.layout.plan().ordered && self.sequence_start != SequenceStart::Wrap;
            prop_assert!(!is_ordered || (switched && at == 0) || self.last < Some(id), "{} is out of order", id);
            self.last = Some(id);
        }
        prop_assert!(self.lead_ms(now_ms) <= self.max_lead_ms, "the lead is over its maximum");
        self.stats.issued += ids.len() as u64;
        self.stats.switches += u64::from(switched);
        self.stats.worst_lead_ms = self.stats.worst_lead_ms.max(self.lead_ms(now_ms));
        Ok(())
    }

    /// By how much the tick of the last ID is ahead of the clock.
    fn lead_ms(&self, now_ms: u64) -> u64 {
        self.model.lead_ms(now_ms.into()).try_into().unwrap()
    }

    /// Makes one call, and checks the state after it. A call for one ID is now [`Generator::next`], now a reservation.
    fn step(&mut self, now_ms: u64, want: usize, confirmed: bool) -> Result<(), TestCaseError> {
        if want == 1 && self.issued.len().is_multiple_of(2) {
            self.answer_next(now_ms)?;
        } else {
            self.answer(now_ms, want, confirmed)?;
        }
        prop_assert_eq!(self.generator.stats(), self.stats);
        let Health { end_ms, remaining_ms, ends_soon, lead_ms, refusal, .. } = self.generator.health(now_ms);
        prop_assert_eq!(u128::from(end_ms), model::layout(&self.layout).end_ms());
        prop_assert_eq!((remaining_ms, ends_soon), (end_ms.saturating_sub(now_ms), remaining_ms < ENDS_SOON_MS));
        prop_assert_eq!(lead_ms, self.lead_ms(now_ms));
        match (refusal, self.model.next(now_ms.into())) {
            (None, Ok(_)) => Ok(()),
            (Some(error), Err(refusal)) => check_refusal(&error, refusal),
            (refusal, expected) => Err(TestCaseError::fail(format!("{refusal:?} instead of {expected:?}"))),
        }
    }

    fn count_reading(&mut self, now_ms: u64) {
        let back_ms = self.read_ms.saturating_sub(now_ms);
        self.stats.steps_back += u64::from(back_ms > 0);
        self.stats.largest_step_back_ms = self.stats.largest_step_back_ms.max(back_ms);
        self.read_ms = now_ms;
    }

    fn reserve(&mut self, now_ms: u64, want: usize, confirmed: bool) -> frazil::Result<Reservation> {
        self.count_reading(now_ms);
        let answer = self.generator.reserve(now_ms, want, confirmed);
        self.stats.stalls += u64::from(answer.is_err_and(|error| error.code().retryable()));
        answer
    }

    fn answer_next(&mut self, now_ms: u64) -> Result<(), TestCaseError> {
        self.count_reading(now_ms);
        match (self.generator.next(&ManualClock::new(now_ms)), self.model.next(now_ms.into())) {
            (Ok(id), Ok(_)) => self.issue(now_ms, 1, &[id]),
            (Err(error), Err(refusal)) => {
                self.stats.stalls += u64::from(error.code().retryable());
                check_refusal(&error, refusal)
            }
            (answer, expected) => Err(TestCaseError::fail(format!("{answer:?} instead of {expected:?}"))),
        }
    }

    fn answer(&mut self, now_ms: u64, want: usize, confirmed: bool) -> Result<(), TestCaseError> {
        match (self.reserve(now_ms, want, confirmed), self.model.next(now_ms.into())) {
            (Ok(Reservation::Issued { block, wall_tick_ms: (from_ms, until_ms) }), Ok((_, switched))) => {
                prop_assert!(confirmed || !switched, "a switch without a confirmed reading");
                let mut ids = vec![0; block.len()];
                block.write(&mut ids);
                prop_assert_eq!(block.first(), ids[0]);
                let layout = model::layout(&self.layout);
                prop_assert!(from_ms <= now_ms && now_ms < until_ms);
                prop_assert_eq!(u128::from(until_ms - from_ms), layout.tick_ms);
                prop_assert_eq!((u128::from(from_ms) - layout.epoch_ms) % layout.tick_ms, 0);
                self.issue(now_ms, want, &ids)
            }
            (Ok(Reservation::Recheck), expected) => {
                prop_assert!(!confirmed && !matches!(expected, Ok((_, false))));
                Ok(())
            }
            (Err(error), Err(refusal)) => {
                prop_assert!(confirmed);
                check_refusal(&error, refusal)?;
                self.check_end_of_refusal(now_ms, error.retry_after_ms())
            }
            (answer, expected) => Err(TestCaseError::fail(format!("{answer:?} instead of {expected:?}"))),
        }
    }

    /// Checks that a temporary refusal ends exactly when it said.
    fn check_end_of_refusal(&mut self, now_ms: u64, retry_after_ms: u64) -> Result<(), TestCaseError> {
        if retry_after_ms == 0 {
            return Ok(());
        }
        let retry_at_ms = now_ms + retry_after_ms;
        let early = self.reserve(retry_at_ms - 1, 1, true);
        prop_assert_eq!(early.map_err(|error| error.retry_after_ms()).unwrap_err(), 1);
        self.step(retry_at_ms, 1, true)
    }
}

/// Checks a refusal against the refusal of the model.
fn check_refusal(error: &Error, refusal: Refusal) -> Result<(), TestCaseError> {
    let found = Refusal::Code(error.code().name(), Some(u128::from(error.retry_after_ms())).filter(|after_ms| *after_ms > 0));
    prop_assert_eq!(found, refusal);
    Ok(())
}

proptest! {
    #![proptest_config(cases(10_000))]

    // docs/internals/claims.md: 1, 4, 6, 7, 8, 9
    #[test]
    fn a_generator_behaves_like_the_naive_model(
        layout in small_layout(),
        max_lead_ms in prop_oneof![Just(0), 0..=12_u64, 0..=1000_u64],
        start_ms in prop::option::weighted(0.3, 0..=400_u64),
        node in any::<u64>(),
        begin_ms in 0..=200_u64,
        steps in prop::collection::vec(step(), 1..60),
        sequence_start in start(),
        key in any::<(u64, u64)>(),
    ) {
        let nodes = count(&layout, Kind::Node);
        let node = node % nodes;
        let given = if nodes == 1 { Node::None } else { Node::Id(node) };
        let halves = [key.0.max(1), key.1.max(1)];
        let options = GeneratorOptions {
            node: given,
            max_lead_ms: Some(max_lead_ms),
            start_ms,
            sequence_start,
            key: Some(Key::new(halves[0], halves[1])),
        };
        let mut walk = Walk {
            generator: Generator::private(&layout, options).unwrap(),
            model: frazil_reference::Generator::new(
                &model::layout(&layout),
                node.into(),
                max_lead_ms.into(),
                start_ms.map(u128::from),
                model::sequence_start(sequence_start, halves),
            ),
            layout,
            max_lead_ms,
            sequence_start,
            issued: HashSet::new(),
            last: None,
            read_ms: 0,
            stats: Stats::default(),
        };
        let mut now_ms = begin_ms;
        for Step { clock_moves_ms, want, confirmed } in steps {
            now_ms = now_ms.saturating_add_signed(clock_moves_ms);
            walk.step(now_ms, want, confirmed)?;
        }
    }
}
