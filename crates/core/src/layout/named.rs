//! The table of named layouts. A new named layout is a row here, and `cargo run -p xtask -- tables` takes it to JavaScript.

use alloc::borrow::Cow;

use super::field::{Field, FieldKind};

pub(super) type NamedRow = (&'static str, u64, u64, bool, &'static [Field]);

const fn part(name: &'static str, bits: u32) -> Field {
    Field { kind: FieldKind::Node, bits, name: Some(Cow::Borrowed(name)) }
}

/// Every named layout: name, epoch, tick, unsigned, fields. The table of the JavaScript decoder is generated from this one.
pub(super) const NAMED: &[NamedRow] = &[
    ("default", 1_704_067_200_000, 1, false, &[Field::time(41), Field::node(10), Field::sequence(12)]),
    ("twitter", 1_288_834_974_657, 1, false, &[Field::time(41), part("datacenter", 5), part("worker", 5), Field::sequence(12)]),
    ("discord", 1_420_070_400_000, 1, true, &[Field::time(42), part("worker", 5), part("process", 5), Field::sequence(12)]),
    ("instagram", 1_314_220_021_721, 1, true, &[Field::time(41), part("shard", 13), Field::sequence(10)]),
    ("sonyflake", 1_409_529_600_000, 10, false, &[Field::time(39), Field::sequence(8), part("machine", 16)]),
    ("sonyflake2", 1_735_689_600_000, 10, false, &[Field::time(39), Field::sequence(8), part("machine", 16)]),
    ("mastodon", 0, 1, true, &[Field::time(48), Field::sequence(16)]),
    ("baidu", 1_463_673_600_000, 1000, false, &[Field::time(28), part("worker", 22), Field::sequence(13)]),
    ("leaf", 1_288_834_974_657, 1, false, &[Field::time(41), Field::node(10), Field::sequence(12)]),
    ("seata", 1_588_435_200_000, 1, false, &[Field::node(10), Field::time(41), Field::sequence(12)]),
    ("tsid", 1_577_836_800_000, 1, true, &[Field::time(42), Field::node(10), Field::sequence(12)]),
    ("cosid", 1_577_203_200_000, 1, false, &[Field::time(41), Field::node(10), Field::sequence(12)]),
    ("multi-clock", 1_704_067_200_000, 1, false, &[Field::time(41), Field::clock(4), Field::node(8), Field::sequence(10)]),
    ("edge", 1_704_067_200_000, 1, false, &[Field::time(41), Field::node(14), Field::sequence(8)]),
    ("safe53", 1_704_067_200_000, 1, false, &[Field::time(41), Field::node(3), Field::sequence(9)]),
];
