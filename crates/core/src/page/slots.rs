//! The slots of the page: a range of numbers for each feature.
//!
//! Each feature has a range with room to grow, so a new slot moves no other. To add a slot, give it the next free number of its range.
//! To add a feature, take a range from what is free at the end of the page, and read and write it in a file of its own beside this one.

/// How many floats the page starts with. The ranges below leave 176 to 255 free: for leases and segments.
pub const NUMBERS: usize = 256;

macro_rules! slots {
    ($(
        $(#[doc = $about:literal])+
        $range:ident = $from:literal..$until:literal {
            $($(#[doc = $doc:literal])+ $name:ident $([$width:literal])? = $at:literal;)+
        }
    )+) => {
        /// The slots of the page, by name.
        pub mod slot {
            $($($(#[doc = $doc])+ pub const $name: usize = $at;)+)+
        }
        /// Every slot with its name, for generating the other side's constants.
        ///
        /// ```
        /// assert_eq!(frazil::page::SLOTS[0], ("STATUS", 0));
        /// ```
        pub const SLOTS: &[(&str, usize)] = &[$($((stringify!($name), $at),)+)+];

        // The compiler checks that no two slots overlap, and that each lies in its range and each range in the page.
        const _: () = {
            let mut end = 0;
            $(
                assert!($from >= end, concat!(stringify!($range), " begins inside the range before it"));
                end = $from;
                $(
                    assert!($at >= end, concat!(stringify!($name), " lies inside the slot before it"));
                    end = $at + 1 $(- 1 + $width)?;
                )+
                assert!(end <= $until, concat!(stringify!($range), " is full"));
                end = $until;
            )+
            assert!(end <= NUMBERS, "the page is full");
        };
    };
}

slots! {
    /// What a reservation writes.
    RESERVATION = 0..8 {
        /// Out: the status of the last `next`.
        STATUS = 0;
        /// Out: how many IDs a reservation wrote.
        COUNT = 1;
        /// Out: the clock's tick, from this Unix millisecond …
        VALID_FROM_MS = 2;
        /// Out: … up to and without this one.
        VALID_UNTIL_MS = 3;
    }
    /// What a refused call writes.
    REFUSAL = 8..16 {
        /// Out: milliseconds until a stalled call can succeed.
        RETRY_AFTER_MS = 8;
        /// Out: the number of the subject an error is about.
        SUBJECT = 9;
        /// Out: the number of the rule that was broken.
        RULE = 10;
        /// Out: the rule's `{min}`.
        MIN = 11;
        /// Out: the rule's `{max}`.
        MAX = 12;
        /// Out: how many bytes of UTF-8 lie where the IDs do: what an error says beyond its numbers, or what `file` writes.
        TEXT_BYTES = 13;
    }
    /// What opening any generator reads and writes. The layout is last because its fields take the most room.
    OPENING = 16..128 {
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
        /// In: 1 where the node id was given as the word `"none"`.
        NODE_NONE = 21;
        /// In: when the process started, in Unix milliseconds; NaN where unknown.
        START_MS = 22;
        /// In: 1 for a state of the generator's own.
        PRIVATE = 23;
        /// In: 1 where the caller says that no other thread has the node id.
        UNSHARED = 24;
        /// In: 1 where `MAX_LEAD_MS` was given.
        HAS_MAX_LEAD_MS = 25;
        /// In and out: how far the generator may run ahead of the clock.
        MAX_LEAD_MS = 26;
        /// In: 1 where `MAX_WAIT_MS` was given.
        HAS_MAX_WAIT_MS = 27;
        /// In and out: how long a call may wait in all.
        MAX_WAIT_MS = 28;
        /// In: 1 where `MAX_ASYNC_WAIT_MS` was given.
        HAS_MAX_ASYNC_WAIT_MS = 29;
        /// In and out: how long an asynchronous call may wait in all.
        MAX_ASYNC_WAIT_MS = 30;
        /// In: the number of the start of the sequence, as in [`STARTS`](crate::page::STARTS).
        SEQUENCE_START = 31;
        /// In: 1 where `KEY` holds one. Taken, and set to 0, by the next call whose state needs it.
        HAS_KEY = 32;
        /// In: the first of the four numbers of 32 bits that are a key.
        KEY[4] = 33;
        /// Out: the generator that was opened.
        HANDLE = 37;
        /// Out: the largest block worth reserving ahead of use.
        MAX_BLOCK = 38;
        /// Out: how long it is until the first ID, in milliseconds; 0 but for `local`.
        WAIT_MS = 39;
        /// In: how many fields the layout has.
        FIELD_COUNT = 40;
        /// In: the first of the pairs (kind, bits); kinds as in [`KINDS`](crate::page::KINDS). There is room for 35.
        FIELDS[70] = 41;
    }
    /// What `health` writes.
    HEALTH = 128..144 {
        /// Out of `health`: how far the current tick lies ahead of the clock.
        LEAD_MS = 128;
        /// Out of `health`: the furthest that an ID lay ahead of the clock.
        WORST_LEAD_MS = 129;
        /// Out of `health`: how often a reading of the clock was before the one before it.
        STEPS_BACK = 130;
        /// Out of `health`: the largest of these steps.
        LARGEST_STEP_BACK_MS = 131;
        /// Out of `health`: how often the clock was followed back to another clock id.
        SWITCHES = 132;
        /// Out of `health`: the last millisecond of the time field.
        END_MS = 133;
        /// Out of `health`: how long until then.
        REMAINING_MS = 134;
        /// Out of `health`: 1 where that is less than a year.
        ENDS_SOON = 135;
        /// Out of `health`: how often a call had to wait for the window to be extended.
        EXTENSIONS = 136;
    }
    /// What `local` reads besides, and what `file` writes.
    LOCAL = 144..176 {
        /// In of `local`: how many bytes of UTF-8 the directory has, at the start of the IDs; NaN where none was given.
        DIR_BYTES = 144;
        /// In of `local`: the same for the scope, which follows …
        SCOPE_BYTES = 145;
        /// In of `local`: … and for the file system that is vouched for.
        FILE_SYSTEM_BYTES = 146;
        /// In of `local`: 1 where `START_WAIT_MS` was given.
        HAS_START_WAIT_MS = 147;
        /// In of `local`: how long may pass before the first ID.
        START_WAIT_MS = 148;
        /// Out of `file`: what has been reserved on disk, in Unix milliseconds.
        CEILING_MS = 149;
        /// Out of `file`: how many are attached; NaN where that cannot be told.
        ATTACHED = 150;
        /// Out of `file`: how often this process raised the ceiling.
        RAISES = 151;
        /// Out of `file`: how far the clock is ahead of the time that is believed.
        DISTRUSTED_MS = 152;
        /// Out of `file`: how many of the bytes of text are the path; the others are the file system.
        PATH_BYTES = 153;
        /// Out of `file`: 1 where the mapped state is locked in memory.
        LOCKED = 154;
        /// Out of `file`: 1 where a directory above the file may not be read.
        BLIND = 155;
    }
}
