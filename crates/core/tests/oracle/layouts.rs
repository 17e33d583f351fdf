//! Decoding, composing, ranges and texts of IDs, for layouts of any width.

use frazil::error::Rule;
use frazil::layout::{Field, FieldKind, LayoutSpec, Parts};
use frazil::mint::{Machine, Outcome, Window};
use frazil::{Code, Layout, Node};
use frazil_reference::Kind;
use proptest::prelude::*;

use crate::{cases, lowest_node, model};

/// Layouts of any width.
fn layout() -> impl Strategy<Value = Layout> {
    let nodes = prop::collection::vec(1..=16_u32, 0..=3);
    let clock = prop::option::weighted(0.3, 1..=8_u32);
    (1..=52_u32, 1..=53_u32, clock, nodes, 0..=4_000_000_000_000_u64, prop_oneof![Just(1), Just(10), 1..=100_000_u64])
        .prop_flat_map(|(time, sequence, clock, nodes, epoch_ms, tick_ms)| {
            let parts = nodes.into_iter().enumerate().map(|(at, bits)| Field::part(format!("p{at}"), bits));
            let fields: Vec<Field> =
                [Field::time(time), Field::sequence(sequence)].into_iter().chain(clock.map(Field::clock)).chain(parts).collect();
            (Just(fields).prop_shuffle(), Just(epoch_ms), Just(tick_ms), any::<bool>())
        })
        .prop_filter_map("the widths do not add up", |(fields, epoch_ms, tick_ms, unsigned)| {
            Layout::new(LayoutSpec { epoch_ms, tick_ms, unsigned, fields }).ok()
        })
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn decoding_equals_division_and_composing_is_its_inverse(layout in layout(), id in any::<u64>()) {
        let id = id & layout.max_id();
        let decoded = layout.decode(id).unwrap();
        let reference = model::layout(&layout);
        let value = |kind| reference.value(id.into(), kind);
        let optional = |kind| reference.has(kind).then(|| value(kind));
        prop_assert_eq!(u128::from(decoded.timestamp_ms), reference.start_ms(value(Kind::Time)));
        prop_assert_eq!(decoded.node.map(u128::from), optional(Kind::Node));
        prop_assert_eq!(decoded.clock.map(u128::from), optional(Kind::Clock));
        prop_assert_eq!(u128::from(decoded.sequence), value(Kind::Sequence));

        let parts = Parts {
            timestamp_ms: decoded.timestamp_ms,
            node: decoded.node.map(u64::from),
            clock: decoded.clock.map(u64::from),
            sequence: decoded.sequence,
        };
        prop_assert_eq!(layout.compose(parts), Ok(id));
        if let Some(node) = decoded.node {
            let named: Vec<(&str, u64)> = layout
                .fields()
                .iter()
                .zip(reference.values(id.into()))
                .filter(|(field, _)| field.kind == FieldKind::Node)
                .map(|(field, value)| (field.name.as_deref().unwrap(), u64::try_from(value).unwrap()))
                .rev()
                .collect();
            prop_assert_eq!(layout.join_node(Node::Parts(&named)), Ok(node));
        }
        prop_assert_eq!(layout.parse(&id.to_string()), Ok(id));
        prop_assert_eq!(layout.to_signed(id).and_then(|signed| layout.from_signed(signed)), Ok(id));
        prop_assert_eq!(layout.check(layout.max_id()), Ok(layout.max_id()));
        prop_assert!(layout.max_id() == u64::MAX || layout.check(layout.max_id() + 1).is_err());
    }

    #[test]
    fn an_id_lies_in_the_range_of_its_own_time_and_in_no_adjacent_range(layout in layout(), id in any::<u64>()) {
        let id = id & layout.max_id();
        let decoded = layout.decode(id).unwrap();
        let kinds: Vec<FieldKind> = layout.fields().iter().map(|field| field.kind).collect();
        let above = kinds.split(|kind| *kind == FieldKind::Time).next().unwrap();
        let node = above.contains(&FieldKind::Node).then(|| u64::from(decoded.node.unwrap()));
        let range = |at| layout.min_id_at(at, node).and_then(|least| Ok((least, layout.max_id_at(at, node)?)));
        if above.contains(&FieldKind::Clock) || above.contains(&FieldKind::Sequence) {
            prop_assert_eq!(range(decoded.timestamp_ms).unwrap_err().code(), Code::NotTimeOrdered);
            return Ok(());
        }
        let tick_ms = layout.spec().tick_ms;
        let (least, largest) = range(decoded.timestamp_ms).unwrap();
        prop_assert!(least <= id && id <= largest);
        prop_assert_eq!(range(decoded.timestamp_ms + tick_ms - 1), Ok((least, largest)));
        if let Ok((next, _)) = range(decoded.timestamp_ms + tick_ms) {
            prop_assert_eq!(largest + 1, next);
        }
    }

    #[test]
    fn an_id_lies_in_a_stretch_of_time_exactly_if_its_tick_does_and_stretches_that_meet_share_none(
        layout in layout(),
        id in any::<u64>(),
        mut times in prop::array::uniform3(any::<u64>()),
        near in prop::array::uniform3(any::<bool>()),
    ) {
        let id = id & layout.max_id();
        let decoded = layout.decode(id).unwrap();
        let (epoch_ms, tick_ms) = (layout.spec().epoch_ms, layout.spec().tick_ms);
        for (time, near) in times.iter_mut().zip(near) {
            if near {
                *time = (decoded.timestamp_ms + *time % (4 * tick_ms)).saturating_sub(2 * tick_ms);
            }
        }
        times.sort_unstable();
        let [from, middle, to] = times;
        let kinds: Vec<FieldKind> = layout.fields().iter().map(|field| field.kind).collect();
        let above = kinds.split(|kind| *kind == FieldKind::Time).next().unwrap();
        let node = above.contains(&FieldKind::Node).then(|| u64::from(decoded.node.unwrap()));
        if above.contains(&FieldKind::Clock) || above.contains(&FieldKind::Sequence) {
            prop_assert_eq!(layout.range(from, to, node).unwrap_err().code(), Code::NotTimeOrdered);
            return Ok(());
        }
        let tick = |ms: u64| ms.saturating_sub(epoch_ms) / tick_ms;
        let range = layout.range(from, to, node).unwrap();
        let own = tick(decoded.timestamp_ms);
        // The ID that is all ones is in no range, as one more than it does not fit a column.
        let is_last = id == layout.max_id() && layout.max_id() >= u64::MAX >> 1;
        prop_assert_eq!(range.contains(&id), tick(from) <= own && own < tick(to) && !is_last);
        let (first, second) = (layout.range(from, middle, node).unwrap(), layout.range(middle, to, node).unwrap());
        prop_assert_eq!((first.start, first.end, second.end), (range.start, second.start, range.end));
        if from < to {
            prop_assert_eq!(layout.range(to, from, node).unwrap_err().rule(), Rule::FromAfterTo);
        }
    }

    #[test]
    fn text_is_parsed_as_an_id_exactly_if_printing_the_id_gives_it_back(text in "[0-9]{1,21}|[-+ 0-9a-fx_.]{0,8}|.{0,4}") {
        let layout = Layout::named("discord").unwrap();
        let expected = text.parse::<u64>().ok().filter(|id| id.to_string() == text);
        prop_assert_eq!(layout.parse(&text).ok(), expected);
    }

    #[test]
    fn no_layout_and_no_time_panics(
        epoch_ms in any::<u64>(),
        tick_ms in any::<u64>(),
        small in any::<bool>(),
        unsigned in any::<bool>(),
        fields in prop::collection::vec((0..4_u8, prop_oneof![4 => 1..=24_u32, 1 => any::<u32>()]), 0..6),
        times in prop::collection::vec(any::<u64>(), 0..6),
        lead_ms in any::<u64>(),
    ) {
        let (epoch_ms, tick_ms) = if small { (epoch_ms >> 23, tick_ms >> 54) } else { (epoch_ms, tick_ms) };
        let field = |(at, (kind, bits)): (usize, (u8, u32))| match kind {
            0 => Field::time(bits),
            1 => Field::sequence(bits),
            2 => Field::clock(bits),
            _ => Field::part(format!("p{at}"), bits),
        };
        let fields = fields.into_iter().enumerate().map(field).collect();
        let Ok(layout) = Layout::new(LayoutSpec { epoch_ms, tick_ms, unsigned, fields }) else { return Ok(()) };
        let machine = Machine::new(&layout, lowest_node(&layout), lead_ms).unwrap();
        let plan = layout.plan();
        let (mut word, mut out) = (0, [0; 3]);
        for now_ms in times.into_iter().chain([0, epoch_ms, plan.last_ms, u64::MAX]) {
            let _ = (layout.min_id_at(now_ms, None), layout.decode(now_ms), machine.max_count(now_ms));
            if let Outcome::Issued { word: next, block, .. } = machine.reserve(word, Window::OPEN, &[], now_ms, usize::MAX, true) {
                block.write(&mut out);
                word = next;
            }
        }
    }
}
