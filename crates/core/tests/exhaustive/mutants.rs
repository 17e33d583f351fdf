//! Machines that break one rule each.

use frazil::Code;
use frazil::layout::{Field, FieldKind};
use frazil::mint::{Outcome, SequenceStart, Window};

use crate::KEY;
use crate::call::{Call, machine};
use crate::comparison::check;
use crate::spaces::smallest;
use crate::word::USED_UP;

/// Changes an outcome that issues IDs.
fn issued(outcome: Outcome, change: impl FnOnce(&mut u64, &mut Option<(usize, u64)>, &mut u64, &mut bool)) -> Outcome {
    match outcome {
        Outcome::Issued { mut word, block, mut leaves, mut lead_ms, mut switched } => {
            change(&mut word, &mut leaves, &mut lead_ms, &mut switched);
            Outcome::Issued { word, block, leaves, lead_ms, switched }
        }
        outcome => outcome,
    }
}

/// The outcome of the machine for changed cells.
fn with_cells(call: Call, change: impl Fn(usize, u64) -> u64) -> Outcome {
    let cells: Vec<u64> = call.cells.iter().enumerate().map(|(clock, free_from)| change(clock, *free_from)).collect();
    Call { cells: &cells, ..call }.reserve()
}

/// A machine that breaks one rule.
type Mutant = (&'static str, fn(Call) -> Outcome);

const MUTANTS: &[Mutant] = &[
    ("the lead is compared with < instead of <=", |call| call.leading(call.lead_ms.saturating_sub(1))),
    ("the lead is one millisecond longer", |call| call.leading(call.lead_ms + 1)),
    ("the end of the window is passed by a tick", |call| {
        let Window { from_ms, until_ms } = call.window;
        let until_ms = until_ms.saturating_add(call.machine.tick_ms());
        Call { window: Window { from_ms, until_ms }, ..call }.reserve()
    }),
    ("the end of the window is ignored", |call| Call { window: Window::since(call.window.from_ms), ..call }.reserve()),
    ("a tick that begins a millisecond before the window is used", |call| {
        let from_ms = call.window.from_ms.saturating_sub(1);
        Call { window: Window { from_ms, ..call.window }, ..call }.reserve()
    }),
    ("a clock id is free whatever its cell says", |call| Call { cells: &[], ..call }.reserve()),
    ("a cell holds the last tick instead of the one after it", |call| {
        with_cells(call, |_, free_from| free_from.saturating_sub(1))
    }),
    ("a cell is one tick too large", |call| with_cells(call, |_, free_from| free_from + 1)),
    ("clock id 0 is never free", |call| with_cells(call, |clock, free_from| if clock == 0 { u64::MAX } else { free_from })),
    ("the clock id that was left is not reported", |call| issued(call.reserve(), |_, leaves, _, _| *leaves = None)),
    ("the clock id that was left is free one tick too early", |call| {
        issued(call.reserve(), |_, leaves, _, _| *leaves = leaves.map(|(clock, free_from)| (clock, free_from - 1)))
    }),
    ("the clock is followed back without a second reading", |call| Call { confirmed: true, ..call }.reserve()),
    ("each call asks for a second reading", |call| if call.confirmed { call.reserve() } else { Outcome::Recheck }),
    ("a switch of the clock id is not reported", |call| issued(call.reserve(), |_, _, _, switched| *switched = false)),
    ("the lead is checked only for the first ID of a block", |call| {
        let first = Call { want: 1, ..call }.reserve();
        issued(call.reserve(), |_, _, lead_ms, _| {
            issued(first, |_, _, first_ms, _| *lead_ms = *first_ms);
        })
    }),
    ("the word stays within the block", |call| issued(call.reserve(), |word, _, _, _| *word -= 1)),
    ("the word at the end of the time field is treated like any other", |call| {
        issued(call.reserve(), |word, _, _, _| {
            if *word == USED_UP {
                let bits = |field: &Field| if field.kind == FieldKind::Node { 0 } else { field.bits };
                *word = 1 << call.layout.fields().iter().map(bits).sum::<u32>();
            }
        })
    }),
    ("a state whose time is used up begins anew", |call| {
        Call { word: if call.word == USED_UP { 0 } else { call.word }, ..call }.reserve()
    }),
    ("a block has one ID too many", |call| Call { want: call.want.max(1).saturating_add(1), ..call }.reserve()),
    ("a call for zero IDs gets none", |call| if call.want == 0 { Outcome::Recheck } else { call.reserve() }),
    ("the wait is a millisecond too short", |call| match call.reserve() {
        Outcome::Stalled { retry_at_ms, cause } => Outcome::Stalled { retry_at_ms: retry_at_ms - 1, cause },
        outcome => outcome,
    }),
    ("the wait is a millisecond too long", |call| match call.reserve() {
        Outcome::Stalled { retry_at_ms, cause } => Outcome::Stalled { retry_at_ms: retry_at_ms + 1, cause },
        outcome => outcome,
    }),
    ("a full sequence is reported as a clock that went back", |call| match call.reserve() {
        Outcome::Stalled { retry_at_ms, .. } => Outcome::Stalled { retry_at_ms, cause: Code::ClockBackward },
        outcome => outcome,
    }),
    ("a window is extended by a tick too few", |call| match call.reserve() {
        Outcome::Expired { until_ms } => Outcome::Expired { until_ms: until_ms - call.machine.tick_ms() },
        outcome => outcome,
    }),
    ("the clock is a millisecond ahead", |call| Call { now_ms: call.now_ms.saturating_add(1), ..call }.reserve()),
    ("the fast path has no end", |call| {
        call.checked_by(|call, _| call.machine.fast_path().id(call.word, call.word, call.now_ms))
    }),
    ("the fast path is a millisecond ahead", |call| {
        call.checked_by(|call, after| Call { now_ms: call.now_ms.saturating_add(1), ..call }.fast_path(after))
    }),
    ("the fast path issues the ID after the next one", |call| {
        call.checked_by(|call, after| Call { word: call.word.wrapping_add(1), ..call }.fast_path(after))
    }),
    ("the fast path does not know that a sequence wraps", |call| {
        call.checked_by(|call, after| {
            let machine = machine(call.layout, call.lead_ms, SequenceStart::Zero, KEY);
            Call { machine: &machine, ..call }.fast_path(after)
        })
    }),
    ("a keyed start is ignored", |call| call.starting(SequenceStart::Zero, KEY)),
    ("a keyed start uses another key", |call| call.starting(call.start, [KEY[0], KEY[1] + 1])),
];

#[test]
fn a_machine_that_breaks_a_rule_is_caught() {
    let spaces = smallest();
    for (name, reserve) in MUTANTS {
        assert!(check(&spaces, |call: Call<'_>| reserve(call)).is_err(), "{name}: not detected");
    }
}
