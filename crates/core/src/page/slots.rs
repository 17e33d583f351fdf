//! The slots of the page.

/// How many floats the page starts with.
pub const NUMBERS: usize = 128;

macro_rules! slots {
    ($($(#[doc = $doc:literal])+ $name:ident = $at:literal;)+) => {
        /// The slots of the page, by name.
        pub mod slot {
            $($(#[doc = $doc])+ pub const $name: usize = $at;)+
        }
        /// Every slot with its name, for generating the other side's constants.
        ///
        /// ```
        /// assert_eq!(frazil::page::SLOTS[0], ("STATUS", 0));
        /// ```
        pub const SLOTS: &[(&str, usize)] = &[$((stringify!($name), $at),)+];
    };
}

slots! {
    /// Out: the status of the last `next`.
    STATUS = 0;
    /// Out: how many IDs a reservation wrote.
    COUNT = 1;
    /// Out: the clock's tick, from this Unix millisecond …
    VALID_FROM_MS = 2;
    /// Out: … up to and without this one.
    VALID_UNTIL_MS = 3;
    /// Out: milliseconds until a stalled call can succeed.
    RETRY_AFTER_MS = 4;
    /// Out: the number of the subject an error is about.
    SUBJECT = 5;
    /// Out: the number of the rule that was broken.
    RULE = 6;
    /// Out: the rule's `{min}`.
    MIN = 7;
    /// Out: the rule's `{max}`.
    MAX = 8;
    /// Out: the generator that was opened.
    HANDLE = 9;
    /// Out: the largest block worth reserving ahead of use.
    MAX_BLOCK = 10;
    /// In: 1 where the caller says that no other thread has the node id.
    UNSHARED = 11;
    /// Out of `file`: 1 where the mapped state is locked in memory.
    LOCKED = 12;
    /// Out of `file`: 1 where a directory above the file may not be read.
    BLIND = 13;
    /// In: Unix milliseconds of tick 0.
    EPOCH_MS = 16;
    /// In: the length of a tick in milliseconds.
    TICK_MS = 17;
    /// In: 1 where the layout may use all 64 bits.
    UNSIGNED = 18;
    /// In: 1 where a node id was given, as the number in `NODE`.
    HAS_NODE = 19;
    /// In: the node id. Out of `local`: the one in force.
    NODE = 20;
    /// In: when the process started, in Unix milliseconds; NaN where unknown.
    START_MS = 21;
    /// In: 1 for a state of the generator's own.
    PRIVATE = 22;
    /// In: 1 where `MAX_LEAD_MS` was given.
    HAS_MAX_LEAD_MS = 23;
    /// In and out: how far the generator may run ahead of the clock.
    MAX_LEAD_MS = 24;
    /// In: 1 where `MAX_WAIT_MS` was given.
    HAS_MAX_WAIT_MS = 25;
    /// In and out: how long a call may wait in all.
    MAX_WAIT_MS = 26;
    /// In: 1 where `MAX_ASYNC_WAIT_MS` was given.
    HAS_MAX_ASYNC_WAIT_MS = 27;
    /// In and out: how long an asynchronous call may wait in all.
    MAX_ASYNC_WAIT_MS = 28;
    /// In: 1 where the node id was given as the word `"none"`.
    NODE_NONE = 29;
    /// In: how many fields the layout has.
    FIELD_COUNT = 30;
    /// In: the first of the pairs (kind, bits); kinds as in [`KINDS`](super::KINDS). There is room for 35.
    FIELDS = 31;
    /// In: the number of the start of the sequence, as in [`STARTS`](super::STARTS).
    SEQUENCE_START = 101;
    /// In: 1 where `KEY` holds one. Taken, and set to 0, by the next call whose state needs it.
    HAS_KEY = 102;
    /// In: the first of the four numbers of 32 bits that are a key.
    KEY = 103;
    /// Out of `health`: how far the current tick lies ahead of the clock.
    LEAD_MS = 107;
    /// Out of `health`: the furthest that an ID lay ahead of the clock.
    WORST_LEAD_MS = 108;
    /// Out of `health`: how often a reading of the clock was before the one before it.
    STEPS_BACK = 109;
    /// Out of `health`: the largest of these steps.
    LARGEST_STEP_BACK_MS = 110;
    /// Out of `health`: how often the clock was followed back to another clock id.
    SWITCHES = 111;
    /// Out of `health`: the last millisecond of the time field.
    END_MS = 112;
    /// Out of `health`: how long until then.
    REMAINING_MS = 113;
    /// Out of `health`: 1 where that is less than a year.
    ENDS_SOON = 114;
    /// Out: how many bytes of UTF-8 lie where the IDs do: what an error says beyond its numbers, or a path.
    TEXT_BYTES = 115;
    /// In of `local`: how many bytes of UTF-8 the directory has, at the start of the IDs; NaN where none was given.
    DIR_BYTES = 116;
    /// In of `local`: the same for the scope, which follows …
    SCOPE_BYTES = 117;
    /// In of `local`: … and for the file system that is vouched for.
    FILE_SYSTEM_BYTES = 118;
    /// In of `local`: 1 where `START_WAIT_MS` was given.
    HAS_START_WAIT_MS = 119;
    /// In of `local`: how long may pass before the first ID.
    START_WAIT_MS = 120;
    /// Out of `local`: how long will.
    WAIT_MS = 121;
    /// Out of `file`: what has been reserved on disk, in Unix milliseconds.
    CEILING_MS = 122;
    /// Out of `file`: how many are attached; NaN where that cannot be told.
    ATTACHED = 123;
    /// Out of `file`: how often this process raised the ceiling.
    RAISES = 124;
    /// Out of `health`: how often a call had to wait for the window to be extended.
    EXTENSIONS = 125;
    /// Out of `file`: how far the clock is ahead of the time that is believed.
    DISTRUSTED_MS = 126;
    /// Out of `file`: how many of the bytes of text are the path; the others are the file system.
    PATH_BYTES = 127;
}
