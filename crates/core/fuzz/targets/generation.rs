//! Any layout, options, clock and calls: a private generator never repeats an ID, issues IDs in order where that is claimed,
//! stays within the lead, and a temporary refusal ends when it said. Besides, any word as a state: the machine must not panic.
#![no_main]

use std::collections::HashSet;

use frazil::layout::FieldKind;
use frazil::mint::{Key, Machine, Outcome, Reservation, SequenceStart, Window};
use frazil::{Code, Generator, GeneratorOptions, Layout, Node};
use frazil_fuzz::{number, valid_layout, value, width};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

/// A layout, and valid options for it.
fn options(input: &mut Unstructured<'_>) -> Result<(Layout, GeneratorOptions<'static>)> {
    let layout = valid_layout(input)?;
    let nodes = width(layout.fields(), FieldKind::Node);
    let node = if nodes == 0 { Node::None } else { Node::Id(number(input)? & ((1 << nodes) - 1)) };
    let max_lead_ms = Some(input.int_in_range(0..=1000)?);
    let start_ms = if input.arbitrary()? { Some(number(input)?) } else { None };
    let sequence_start = *input.choose(&SequenceStart::ALL)?;
    let key = Some(Key::new(1, input.arbitrary::<u64>()?.max(1)));
    Ok((layout, GeneratorOptions { node, max_lead_ms, start_ms, sequence_start, key }))
}

/// The next reading of the clock: a little later or earlier, or anywhere.
fn next_reading(input: &mut Unstructured<'_>, layout: &Layout, now_ms: u64) -> Result<u64> {
    let tick_ms = layout.spec().tick_ms.cast_signed();
    Ok(match input.int_in_range(0..=7_u8)? {
        0..=2 => now_ms,
        3 => now_ms.saturating_add_signed(i64::from(input.arbitrary::<i8>()?)),
        4 | 5 => now_ms.saturating_add_signed(i64::from(input.arbitrary::<i8>()?).saturating_mul(tick_ms)),
        6 => layout.plan().last_ms.saturating_add_signed(i64::from(input.arbitrary::<i16>()?)),
        _ => number(input)?,
    })
}

struct Checker {
    layout: Layout,
    node: u128,
    lead_ms: u64,
    /// Whether the IDs must increase, except after a switch of the clock id.
    ordered: bool,
    seen: HashSet<u64>,
    last: Option<u64>,
    switches: u64,
}

impl Checker {
    fn issued(&mut self, ids: &[u64], now_ms: u64, switches: u64) {
        let fields = self.layout.fields();
        for &id in ids {
            assert!(id <= self.layout.max_id());
            assert!(self.seen.insert(id), "{id} is repeated");
            assert!(!self.ordered || switches != self.switches || self.last < Some(id), "{id} is out of order");
            assert_eq!(value(fields, id, FieldKind::Node), self.node);
            let at_ms = self.layout.timestamp_of(id).expect("an ID of the layout");
            assert!(at_ms <= now_ms.saturating_add(self.lead_ms), "{id} is beyond the lead");
            (self.last, self.switches) = (Some(id), switches);
        }
    }
}

/// The largest number of IDs of a block that are checked.
const MAX_CHECKED: usize = 64;

fn walk(input: &mut Unstructured<'_>) -> Result<()> {
    let (layout, options) = options(input)?;
    let node = if let Node::Id(id) = options.node { id.into() } else { 0 };
    let open = || Generator::private(&layout, options).expect("valid options");
    let mut generator = open();
    let mut checker = Checker {
        layout: layout.clone(),
        node,
        lead_ms: options.max_lead_ms.unwrap_or(0),
        ordered: layout.plan().ordered && options.sequence_start != SequenceStart::Wrap,
        seen: HashSet::new(),
        last: None,
        switches: 0,
    };
    let mut now_ms = layout.spec().epoch_ms;
    let mut out = [0; MAX_CHECKED];
    while !input.is_empty() {
        let before_ms = now_ms;
        now_ms = next_reading(input, &layout, now_ms)?;
        if cfg!(feature = "mutant") && now_ms < before_ms {
            generator = open(); // as if the state were lost
        }
        let want = if input.arbitrary()? { 1 } else { usize::try_from(number(input)?).unwrap_or(usize::MAX) };
        let confirmed = input.ratio(3, 4_u8)?;
        match generator.reserve(now_ms, want, confirmed) {
            Ok(Reservation::Issued { block, wall_tick_ms: (from_ms, until_ms) }) => {
                assert!(from_ms <= now_ms && now_ms < until_ms);
                assert!(1 <= block.len() && block.len() <= want.max(1));
                let ids = &mut out[..block.len().min(MAX_CHECKED)];
                block.write(ids);
                assert_eq!(ids[0], block.first());
                checker.issued(ids, now_ms, generator.stats().switches);
            }
            Ok(Reservation::Recheck) => assert!(!confirmed),
            Err(error) if error.retry_after_ms() > 0 => {
                assert!(matches!(error.code(), Code::ClockBackward | Code::SequenceExhausted));
                let wait_ms = error.retry_after_ms();
                if wait_ms > 1 {
                    let early =
                        generator.reserve(now_ms + wait_ms - 1, 1, true).expect_err("no ID before the time in the refusal");
                    assert_eq!(early.retry_after_ms(), 1);
                }
                now_ms += wait_ms;
                let Ok(Reservation::Issued { block, .. }) = generator.reserve(now_ms, 1, true) else {
                    panic!("no ID after {wait_ms} ms")
                };
                checker.issued(&[block.first()], now_ms, generator.stats().switches);
            }
            Err(error) => assert!(matches!(error.code(), Code::ClockBeforeEpoch | Code::TimeExhausted)),
        }
    }
    Ok(())
}

/// One call with any state, for example that of another machine or of a damaged file.
fn any_state(input: &mut Unstructured<'_>) -> Result<()> {
    let (layout, options) = options(input)?;
    let machine = Machine::new(&layout, options.node, number(input)?).expect("a node id of the layout");
    let machine = machine.starting(options.sequence_start, options.key.expect("there is one"));
    let now_ms = next_reading(input, &layout, layout.spec().epoch_ms)?;
    let (word, from_ms, until_ms, want) =
        (number(input)?, number(input)?, number(input)?, usize::try_from(number(input)?).unwrap_or(usize::MAX));
    let clocks: Vec<u64> = (0..input.int_in_range(0..=8_u8)?).map(|_| number(input)).collect::<Result<_>>()?;
    match machine.reserve(word, Window { from_ms, until_ms }, clocks.as_slice(), now_ms, want, true) {
        Outcome::Issued { word: next, block, .. } => {
            assert_ne!(next, word);
            let mut ids = [0; MAX_CHECKED];
            block.write(&mut ids);
            assert!(1 <= block.len() && block.len() <= want.max(1));
            assert!(ids.iter().take(block.len()).all(|id| *id <= layout.max_id()));
        }
        Outcome::Recheck => panic!("the call was confirmed"),
        Outcome::Stalled { retry_at_ms, .. } => assert!(retry_at_ms > now_ms),
        Outcome::Expired { until_ms: needed_ms } => assert!(needed_ms > until_ms),
        Outcome::Refused(error) => assert_eq!(error.retry_after_ms(), 0),
    }
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    let input = &mut Unstructured::new(data);
    // An error only says that the input has ended.
    let _ = if input.ratio(1, 8_u8).unwrap_or(false) { any_state(input) } else { walk(input) };
});
