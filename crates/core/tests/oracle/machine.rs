//! The machine alone: windows, and the end of a wait.

use std::collections::HashSet;

use frazil::layout::LayoutSpec;
use frazil::mint::{Block, Key, Machine, Outcome, Window};
use frazil_reference::Kind;
use proptest::prelude::*;

use crate::{Step, cases, count, lowest_node, model, small_layout, start, step};

proptest! {
    #![proptest_config(cases(10_000))]

    // docs/internals/claims.md: 1, 6, 9
    #[test]
    fn a_reservation_depends_only_on_its_arguments_and_no_word_recurs(
        layout in small_layout(),
        lead_ms in 0..=100_u64,
        from_ms in prop_oneof![3 => Just(0), 1 => 0..=100_u64],
        begin_ms in 0..=200_u64,
        steps in prop::collection::vec(step(), 1..60),
        start in start(),
    ) {
        let machine = Machine::new(&layout, lowest_node(&layout), lead_ms).unwrap().starting(start, Key::new(1, 2));
        let mut clocks = [0; 4];
        let (mut word, mut now_ms, mut words) = (0, begin_ms, HashSet::from([0]));
        for Step { clock_moves_ms, want, confirmed } in steps {
            now_ms = now_ms.saturating_add_signed(clock_moves_ms);
            let outcome = machine.reserve(word, Window::since(from_ms), &clocks, now_ms, want, confirmed);
            prop_assert_eq!(outcome, machine.reserve(word, Window::since(from_ms), &clocks, now_ms, want, confirmed));
            match outcome {
                Outcome::Issued { word: next, block, leaves, switched, .. } => {
                    prop_assert!(words.insert(next), "the word {} recurs", next);
                    prop_assert!(switched || next > word);
                    prop_assert!(1 <= block.len() && block.len() <= want);
                    if let Some((clock, free_from)) = leaves {
                        prop_assert!(free_from > clocks[clock], "the cell of clock id {} does not rise", clock);
                        clocks[clock] = free_from;
                    }
                    word = next;
                }
                Outcome::Recheck => prop_assert!(!confirmed),
                Outcome::Stalled { retry_at_ms, .. } => prop_assert!(retry_at_ms > now_ms),
                Outcome::Expired { .. } => prop_assert!(false, "the window has no end"),
                Outcome::Refused(error) => prop_assert_eq!(error.retry_after_ms(), 0),
            }
        }
    }

    // docs/internals/claims.md: 10
    #[test]
    fn a_window_limits_a_reservation_to_the_ticks_inside_it(
        layout in small_layout(),
        lead_ms in 0..=100_u64,
        (from_ms, length_ms) in (0..=100_u64, 0..=200_u64),
        begin_ms in 0..=200_u64,
        steps in prop::collection::vec(step(), 1..60),
        start in start(),
    ) {
        let machine = Machine::new(&layout, lowest_node(&layout), lead_ms).unwrap().starting(start, Key::new(1, 2));
        let LayoutSpec { epoch_ms, tick_ms, .. } = layout.spec();
        let from_ms = epoch_ms.saturating_sub(50) + from_ms;
        let window = Window { from_ms, until_ms: from_ms + length_ms };
        let fields = model::layout(&layout);
        let tick_of = |id: u64| u64::try_from(fields.value(id.into(), Kind::Time)).unwrap();
        let inside = |id| {
            let starts_ms = epoch_ms + tick_of(id) * tick_ms;
            from_ms <= starts_ms && starts_ms + tick_ms <= window.until_ms
        };
        let written = |block: &Block| {
            let mut ids = vec![0; block.len()];
            block.write(&mut ids);
            ids
        };
        let mut clocks = [0; 4];
        let (mut word, mut now_ms) = (0, begin_ms);
        for Step { clock_moves_ms, want, confirmed } in steps {
            now_ms = now_ms.saturating_add_signed(clock_moves_ms);
            let free = machine.reserve(word, Window::OPEN, &clocks, now_ms, want, confirmed);
            let bound = machine.reserve(word, window, &clocks, now_ms, want, confirmed);
            let wall_starts_ms = now_ms - now_ms.checked_sub(epoch_ms).map_or(0, |elapsed_ms| elapsed_ms % tick_ms);
            match (bound, free) {
                (Outcome::Issued { word: next, block, leaves, .. }, Outcome::Issued { block: free, .. }) => {
                    let (ids, free) = (written(&block), written(&free));
                    prop_assert!(ids.iter().copied().all(inside));
                    let most = free.iter().take_while(|id| inside(**id)).count();
                    prop_assert_eq!(&ids[..], &free[..most]);
                    if let Some((clock, free_from)) = leaves {
                        clocks[clock] = free_from;
                    }
                    word = next;
                }
                (Outcome::Expired { until_ms }, Outcome::Issued { block, .. }) => {
                    prop_assert!(from_ms <= wall_starts_ms);
                    prop_assert_eq!(until_ms, epoch_ms + (tick_of(block.first()) + 1) * tick_ms);
                    prop_assert!(until_ms > window.until_ms);
                    let reserve = |until_ms| machine.reserve(word, Window { until_ms, ..window }, &clocks, now_ms, want, confirmed);
                    let issued = matches!(reserve(until_ms), Outcome::Issued { .. });
                    prop_assert!(issued);
                    prop_assert_eq!(reserve(until_ms - 1), bound);
                }
                (Outcome::Recheck, _) => {
                    prop_assert!(!confirmed);
                    prop_assert!(free == Outcome::Recheck || wall_starts_ms < from_ms);
                }
                // A switch needs a confirmed reading; the end of the window does not.
                (Outcome::Expired { .. }, Outcome::Recheck) => {
                    let confirmed = machine.reserve(word, Window::OPEN, &clocks, now_ms, want, true);
                    let switches = matches!(confirmed, Outcome::Issued { switched: true, .. });
                    prop_assert!(switches);
                }
                (Outcome::Stalled { retry_at_ms, .. }, free) => {
                    prop_assert!(retry_at_ms > now_ms && (free == bound || wall_starts_ms < from_ms));
                }
                (Outcome::Refused(error), free) => {
                    prop_assert_eq!(error.retry_after_ms(), 0);
                    prop_assert!(free == bound || wall_starts_ms < from_ms);
                }
                (bound, free) => prop_assert!(false, "{:?} where it would be {:?}", bound, free),
            }
        }
    }

    #[test]
    fn in_any_state_a_stalled_call_succeeds_at_the_time_it_said_and_not_before(
        layout in small_layout(),
        lead_ms in prop_oneof![0..=12_u64, 0..=100_u64],
        from_ms in prop_oneof![3 => Just(0), 1 => 0..=200_u64],
        word in any::<u64>(),
        clocks in [0..=40_u64, 0..=40_u64, 0..=40_u64, 0..=40_u64],
        now_ms in 0..=200_u64,
    ) {
        let machine = Machine::new(&layout, lowest_node(&layout), lead_ms).unwrap();
        let LayoutSpec { epoch_ms, .. } = layout.spec();
        // In half of the cases the sequence is full.
        let word = if word & 1 == 0 { word >> 1 } else { (word >> 10) * count(&layout, Kind::Sequence) };
        let word = word % (1_u64 << 10).min(layout.plan().ids_per_tick * count(&layout, Kind::Time));
        let reserve = |now_ms| machine.reserve(word, Window::since(from_ms), &clocks, now_ms, 1, true);
        let issues = |now_ms| matches!(reserve(now_ms), Outcome::Issued { .. });
        if let Outcome::Stalled { retry_at_ms, .. } = reserve(epoch_ms + now_ms) {
            for early_ms in epoch_ms + now_ms..retry_at_ms {
                prop_assert!(!issues(early_ms), "{} instead of {}", early_ms, retry_at_ms);
            }
            prop_assert!(issues(retry_at_ms));
        }
    }
}
