//! How a state starts when its file is opened, decided from what is known of it. No I/O.
//!
//! The mapped state may be used as it is only if it is certain to be current. While other processes are attached it is, because
//! they share the memory. Otherwise it needs proof ([`Mapping::Proven`]). Without proof the state is initialized at the ceiling
//! on disk, and nothing was issued at or above the ceiling.
//!
//! The proof does not show everything. If a page could not be written, the kernel tells one process, and forgets the error when that
//! process ends. It may then drop the page and read the older one. So a proven state issues nothing until all is over that a process
//! which ended just now can have issued ([`crate::first_id::unissued_from_ms`]). If the clock was set back, only the proof counts.

/// What is known of the mapped state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapping {
    /// Another process is attached, so the mapping is memory that both share.
    InUse,
    /// It was written in another boot or mount.
    Stale,
    /// It was written in this boot and, as far as mounts can be told apart, in this mount. The rest of the proof is missing.
    Unproven,
    /// It was written in this boot and this mount, and it knows the newest record on disk. A flush has to succeed too.
    Proven,
}

impl Mapping {
    /// What is known of a mapping that no process uses. The mounts in which it was written and in which it is opened are `None` if
    /// they are not known. Then they may be the same.
    pub(crate) fn of_unused_file(same_boot: bool, written: Option<u64>, opened: Option<u64>, knows_newest_record: bool) -> Self {
        match written.zip(opened).map(|(written, opened)| written == opened) {
            _ if !same_boot => Self::Stale,
            Some(false) => Self::Stale,
            Some(true) if knows_newest_record => Self::Proven,
            Some(true) | None => Self::Unproven,
        }
    }
}

/// What the mapped word and the start of the mapped window say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// All ones: the last process that left has closed the state.
    Closed,
    /// The sequence starts where this process wants it to.
    SameSequenceStart,
    OtherSequenceStart,
}

/// What the decision depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) mapping: Mapping,
    /// Whether a flush has failed.
    pub(crate) flush_failed: bool,
    pub(crate) word: Word,
}

/// How the state starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Not at all: after a failed flush the kernel may call the next flush a success.
    RefuseAfterFailedFlush,
    /// Not at all: other processes use the file with another start of the sequence.
    RefuseConflict,
    /// All mapped numbers are written again, and the window begins at the ceiling.
    Initialize,
    /// A closed state starts again at the ceiling.
    AtCeiling,
    /// The state is closed, and starts again after the last tick that it used, and after all that a process can have issued.
    AfterLastTick,
    /// The state goes on, after all that a process can have issued.
    Resume,
    /// The state goes on as it is: other processes use it.
    Join,
}

impl Start {
    pub(crate) const fn decide(facts: Facts) -> Self {
        let Facts { mapping, flush_failed, word } = facts;
        match (mapping, word) {
            // The failure in a stale mapping does not count: since then the file system was mounted again.
            (Mapping::InUse | Mapping::Unproven | Mapping::Proven, _) if flush_failed => Self::RefuseAfterFailedFlush,
            (Mapping::Stale | Mapping::Unproven, _) => Self::Initialize,
            (Mapping::InUse | Mapping::Proven, Word::Closed) => Self::AtCeiling,
            (Mapping::InUse, Word::OtherSequenceStart) => Self::RefuseConflict,
            // Positions of a tick are other IDs if the sequence starts elsewhere, so the tick must be another one too.
            (Mapping::Proven, Word::OtherSequenceStart) => Self::AfterLastTick,
            (Mapping::Proven, Word::SameSequenceStart) => Self::Resume,
            (Mapping::InUse, Word::SameSequenceStart) => Self::Join,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &[Word] = &[Word::Closed, Word::SameSequenceStart, Word::OtherSequenceStart];
    const BOTH: &[bool] = &[false, true];

    /// Which mappings, whether a flush failed, which words: and how the state starts then.
    type Row = (&'static [Mapping], &'static [bool], &'static [Word], Start);

    const TABLE: &[Row] = &[
        (&[Mapping::InUse, Mapping::Unproven, Mapping::Proven], &[true], WORDS, Start::RefuseAfterFailedFlush),
        (&[Mapping::Stale], BOTH, WORDS, Start::Initialize),
        (&[Mapping::Unproven], &[false], WORDS, Start::Initialize),
        (&[Mapping::InUse, Mapping::Proven], &[false], &[Word::Closed], Start::AtCeiling),
        (&[Mapping::InUse], &[false], &[Word::OtherSequenceStart], Start::RefuseConflict),
        (&[Mapping::Proven], &[false], &[Word::OtherSequenceStart], Start::AfterLastTick),
        (&[Mapping::Proven], &[false], &[Word::SameSequenceStart], Start::Resume),
        (&[Mapping::InUse], &[false], &[Word::SameSequenceStart], Start::Join),
    ];

    // docs/internals/claims.md: 12, 17
    #[test]
    fn a_state_goes_on_only_where_its_mapping_is_in_use_or_proven_and_no_flush_failed() {
        let mut seen = Vec::new();
        for (mappings, failures, words, start) in TABLE {
            for &mapping in *mappings {
                for &flush_failed in *failures {
                    for &word in *words {
                        let facts = Facts { mapping, flush_failed, word };
                        assert_eq!(Start::decide(facts), *start, "{facts:?}");
                        assert!(!seen.contains(&facts), "the table has {facts:?} twice");
                        seen.push(facts);
                    }
                }
            }
        }
        assert_eq!(seen.len(), 4 * 2 * 3, "the table has every case");
    }

    #[test]
    fn a_mapping_that_nobody_uses_is_proven_by_the_same_mount_and_the_newest_record_only() {
        let of = Mapping::of_unused_file;
        assert_eq!(of(true, Some(7), Some(7), true), Mapping::Proven);
        assert_eq!(of(true, Some(7), Some(7), false), Mapping::Unproven);
        for knows_newest_record in [false, true] {
            // A mount that is not known is not another one: a flush that failed in it still counts.
            for (written, opened) in [(None, Some(7)), (Some(7), None), (None, None)] {
                assert_eq!(of(true, written, opened, knows_newest_record), Mapping::Unproven);
            }
            assert_eq!(of(true, Some(7), Some(8), knows_newest_record), Mapping::Stale);
            for opened in [None, Some(7), Some(8)] {
                assert_eq!(of(false, Some(7), opened, knows_newest_record), Mapping::Stale);
            }
        }
    }
}
