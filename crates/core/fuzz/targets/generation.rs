//! Any layout, options, clock and calls: a generator of its own never repeats an ID, goes up where that is promised, stays
//! within the lead, and a refusal ends when it said. And any word as a state: the machine answers.
#![no_main]

use std::collections::HashSet;

use frazil::{
    Code, FieldKind, Generator, GeneratorOptions, Key, Layout, Machine, Node, Outcome, Reservation, SequenceStart, Window,
};
use frazil_fuzz::{number, right_layout, value, width};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;

/// A layout, and options that fit it.
fn options(input: &mut Unstructured<'_>) -> Result<(Layout, GeneratorOptions<'static>)> {
    let layout = right_layout(input)?;
    let nodes = width(layout.fields(), FieldKind::Node);
    let node = if nodes == 0 { Node::None } else { Node::Id(number(input)? & ((1 << nodes) - 1)) };
    let max_lead_ms = Some(input.int_in_range(0..=1000)?);
    let start_ms = if input.arbitrary()? { Some(number(input)?) } else { None };
    let sequence_start = *input.choose(&SequenceStart::ALL)?;
    let key = Some(Key::new(1, input.arbitrary::<u64>()?.max(1)));
    Ok((layout, GeneratorOptions { node, max_lead_ms, start_ms, sequence_start, key }))
}

/// The next reading of the clock: a little further, back, or anywhere.
fn tick(input: &mut Unstructured<'_>, layout: &Layout, now_ms: u64) -> Result<u64> {
    let tick_ms = layout.spec().tick_ms.cast_signed();
    Ok(match input.int_in_range(0..=7_u8)? {
        0..=2 => now_ms,
        3 => now_ms.saturating_add_signed(i64::from(input.arbitrary::<i8>()?)),
        4 | 5 => now_ms.saturating_add_signed(i64::from(input.arbitrary::<i8>()?).saturating_mul(tick_ms)),
        6 => layout.plan().last_ms.saturating_add_signed(i64::from(input.arbitrary::<i16>()?)),
        _ => number(input)?,
    })
}

struct Watch {
    layout: Layout,
    node: u128,
    lead_ms: u64,
    /// Whether the IDs go up, but for switches of the clock id.
    ordered: bool,
    seen: HashSet<u64>,
    last: Option<u64>,
    switches: u64,
}

impl Watch {
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

/// The most IDs of a block that are looked at.
const LOOK: usize = 64;

fn walk(input: &mut Unstructured<'_>) -> Result<()> {
    let (layout, options) = options(input)?;
    let node = if let Node::Id(id) = options.node { id.into() } else { 0 };
    let open = || Generator::private(&layout, options).expect("options that fit");
    let mut generator = open();
    let mut watch = Watch {
        layout: layout.clone(),
        node,
        lead_ms: options.max_lead_ms.unwrap_or(0),
        ordered: layout.plan().ordered && options.sequence_start != SequenceStart::Wrap,
        seen: HashSet::new(),
        last: None,
        switches: 0,
    };
    let mut now_ms = layout.spec().epoch_ms;
    let mut out = [0; LOOK];
    while !input.is_empty() {
        let before_ms = now_ms;
        now_ms = tick(input, &layout, now_ms)?;
        if cfg!(feature = "twin") && now_ms < before_ms {
            generator = open(); // as if the state were lost
        }
        let want = if input.arbitrary()? { 1 } else { usize::try_from(number(input)?).unwrap_or(usize::MAX) };
        let confirmed = input.ratio(3, 4_u8)?;
        match generator.reserve(now_ms, want, confirmed) {
            Ok(Reservation::Issued { block, wall_tick_ms: (from_ms, until_ms) }) => {
                assert!(from_ms <= now_ms && now_ms < until_ms);
                assert!(1 <= block.len() && block.len() <= want.max(1));
                let ids = &mut out[..block.len().min(LOOK)];
                block.write(ids);
                assert_eq!(ids[0], block.first());
                watch.issued(ids, now_ms, generator.stats().switches);
            }
            Ok(Reservation::Recheck) => assert!(!confirmed),
            Err(error) if error.retry_after_ms() > 0 => {
                assert!(matches!(error.code(), Code::ClockBackward | Code::SequenceExhausted));
                let wait_ms = error.retry_after_ms();
                if wait_ms > 1 {
                    let early = generator.reserve(now_ms + wait_ms - 1, 1, true).expect_err("no ID before the time it said");
                    assert_eq!(early.retry_after_ms(), 1);
                }
                now_ms += wait_ms;
                let Ok(Reservation::Issued { block, .. }) = generator.reserve(now_ms, 1, true) else {
                    panic!("no ID after {wait_ms} ms")
                };
                watch.issued(&[block.first()], now_ms, generator.stats().switches);
            }
            Err(error) => assert!(matches!(error.code(), Code::ClockBeforeEpoch | Code::TimeExhausted)),
        }
    }
    Ok(())
}

/// One call with any state: that of another machine, or of a damaged file.
fn any_state(input: &mut Unstructured<'_>) -> Result<()> {
    let (layout, options) = options(input)?;
    let machine = Machine::new(&layout, options.node, number(input)?).expect("a node id of the layout");
    let machine = machine.starting(options.sequence_start, options.key.expect("there is one"));
    let now_ms = tick(input, &layout, layout.spec().epoch_ms)?;
    let (word, from_ms, until_ms, want) =
        (number(input)?, number(input)?, number(input)?, usize::try_from(number(input)?).unwrap_or(usize::MAX));
    let clocks: Vec<u64> = (0..input.int_in_range(0..=8_u8)?).map(|_| number(input)).collect::<Result<_>>()?;
    match machine.reserve(word, Window { from_ms, until_ms }, clocks.as_slice(), now_ms, want, true) {
        Outcome::Issued { word: next, block, .. } => {
            assert_ne!(next, word);
            let mut ids = [0; LOOK];
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
    // An input that ends early has been used as far as it went.
    let _ = if input.ratio(1, 8_u8).unwrap_or(false) { any_state(input) } else { walk(input) };
});
