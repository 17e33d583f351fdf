//! The slots of the frame: a range of numbers for each feature.
//!
//! Each feature has a range with room to grow, so a new slot moves no other. To add a slot, give it the next free number of its
//! range. To add a feature, take a range from the free end of the frame, and read and write it in a new file beside this one.

/// The number of floats at the start of the frame. The ranges below leave 251 to 255 free.
pub const NUMBERS: usize = 256;

macro_rules! slots {
    ($(
        $(#[doc = $about:literal])+
        $range:ident = $from:literal..$until:literal {
            $($(#[doc = $doc:literal])+ $name:ident $([$width:literal])? = $at:literal;)+
        }
    )+) => {
        /// The slots of the frame, by name.
        pub mod slot {
            $($($(#[doc = $doc])+ pub const $name: usize = $at;)+)+
        }
        /// Every slot with its name, for generating the other side's constants.
        pub const SLOTS: &[(&str, usize)] = &[$($((stringify!($name), $at),)+)+];

        // The compiler checks that no two slots overlap, and that each lies in its range and each range in the frame.
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
            assert!(end <= NUMBERS, "the frame is full");
        };
    };
}

slots! {
    /// Written by a reservation.
    RESERVATION = 0..8 {
        /// Out: how many IDs were written.
        COUNT = 1;
        /// Out: the first Unix millisecond of the clock's tick.
        VALID_FROM_MS = 2;
        /// Out: the first Unix millisecond after the clock's tick.
        VALID_UNTIL_MS = 3;
        /// In: the first element of the array to fill.
        FILL_FROM = 4;
        /// In: the element after the last one to fill.
        FILL_UNTIL = 5;
    }
    /// Written by a refused call.
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
        /// Out: the length in bytes of the UTF-8 text where the IDs are: the details of an error, or the output of `file`.
        TEXT_BYTES = 13;
    }
    /// Read and written by opening any generator. The layout is last because its fields take the most room.
    OPENING = 16..128 {
        /// In: Unix milliseconds of tick 0.
        EPOCH_MS = 16;
        /// In: the length of a tick in milliseconds.
        TICK_MS = 17;
        /// In: 1 if the layout may use all 64 bits.
        UNSIGNED = 18;
        /// In: 1 if a node id was given, as the number in `NODE`.
        HAS_NODE = 19;
        /// In: the node id. Out of `local`: the one in force.
        NODE = 20;
        /// In: 1 if the node id was given as the word `"none"`.
        NODE_NONE = 21;
        /// In: when the process started, in Unix milliseconds; NaN if unknown.
        START_MS = 22;
        /// In: 1 for a private state.
        PRIVATE = 23;
        /// In: 1 if the caller says that no other thread has the node id.
        UNSHARED = 24;
        /// In: 1 if `MAX_LEAD_MS` was given.
        HAS_MAX_LEAD_MS = 25;
        /// In and out: how far the generator may run ahead of the clock.
        MAX_LEAD_MS = 26;
        /// In: 1 if `MAX_WAIT_MS` was given.
        HAS_MAX_WAIT_MS = 27;
        /// In and out: how long a call may wait in all.
        MAX_WAIT_MS = 28;
        /// In: 1 if `MAX_ASYNC_WAIT_MS` was given.
        HAS_MAX_ASYNC_WAIT_MS = 29;
        /// In and out: how long an asynchronous call may wait in all.
        MAX_ASYNC_WAIT_MS = 30;
        /// In: the start of the sequence, as its index in [`SequenceStart::ALL`](crate::mint::SequenceStart::ALL).
        SEQUENCE_START = 31;
        /// In: 1 if `KEY` holds a key. The next call whose state needs a key takes it and sets this to 0.
        HAS_KEY = 32;
        /// In: the first of four numbers of 32 bits that make a key.
        KEY[4] = 33;
        /// Out: the handle of the generator that was opened.
        HANDLE = 37;
        /// Out: the largest block worth reserving ahead of use; 0 if each reservation must check a ceiling.
        MAX_BLOCK = 38;
        /// Out: the time until the first ID, in milliseconds; 0 except for `local`. Out of the `ASK` of a lease: the time until a request
        /// is due.
        WAIT_MS = 39;
        /// In: how many fields the layout has.
        FIELD_COUNT = 40;
        /// In: the first of up to 35 pairs (kind, bits), with kinds as in [`KINDS`](crate::abi::KINDS).
        FIELDS[70] = 41;
        /// In: the first Unix millisecond of this process, for an epoch that has to be compared with it; else 0.
        PROCESS_FROM_MS = 111;
        /// In: the first Unix millisecond after that of the call.
        PROCESS_UNTIL_MS = 112;
        /// Out: the index of the generator's line slots, counted as slots of the frame; 0 if there are none.
        LINE = 113;
    }
    /// Written by `health`.
    HEALTH = 128..144 {
        /// Out: how far the current tick lies ahead of the clock, in milliseconds.
        LEAD_MS = 128;
        /// Out: the largest lead of an ID over the clock.
        WORST_LEAD_MS = 129;
        /// Out: how often a reading of the clock was earlier than the one before it.
        STEPS_BACK = 130;
        /// Out: the largest of these steps.
        LARGEST_STEP_BACK_MS = 131;
        /// Out: how often the clock went back and the state switched to another clock id.
        SWITCHES = 132;
        /// Out: the last millisecond of the time field.
        END_MS = 133;
        /// Out: how long until then.
        REMAINING_MS = 134;
        /// Out: 1 if that is less than a year.
        ENDS_SOON = 135;
        /// Out: how often a call first had the window extended.
        EXTENSIONS = 136;
    }
    /// Read by `local`, besides the slots of opening, and written by `file`.
    LOCAL = 144..176 {
        /// In: the length in bytes of the directory, in UTF-8 at the start of the IDs; NaN if none was given.
        DIR_BYTES = 144;
        /// In: the same for the scope, whose text follows that of the directory.
        SCOPE_BYTES = 145;
        /// In: the same for the file system that the caller declares safe, whose text follows that of the scope.
        FILE_SYSTEM_BYTES = 146;
        /// In: 1 if `START_WAIT_MS` was given.
        HAS_START_WAIT_MS = 147;
        /// In: how long may pass before the first ID.
        START_WAIT_MS = 148;
        /// Out of `file`: the time up to which IDs are reserved on disk, in Unix milliseconds.
        CEILING_MS = 149;
        /// Out of `file`: how many attachments the file has; NaN if the platform cannot tell.
        ATTACHED = 150;
        /// Out of `file`: how often this process raised the ceiling.
        RAISES = 151;
        /// Out of `file`: how far the clock is ahead of the time that is trusted instead.
        DISTRUSTED_MS = 152;
        /// Out of `file`: how many of the bytes of text are the path; the rest are the file system.
        PATH_BYTES = 153;
        /// Out of `file`: 1 if the mapped state is locked in memory.
        LOCKED = 154;
        /// Out of `file`: 1 if a directory above the file is unreadable.
        BLIND = 155;
        /// In: 1 if the caller accepts a platform on which state files are not proven.
        ACCEPT_UNPROVEN_PLATFORM = 156;
    }
    /// Read and written by `lease`. Its first call, `OPEN`, also reads the slots of opening.
    LEASE = 176..224 {
        /// In: the length of the window that is asked for.
        WINDOW_MS = 176;
        /// In: 1 if only calls can renew the lease, because no timer runs between them. Of a segment: 1 if no request can wait for the
        /// answer to another.
        BY_CALLS = 177;
        /// Out of `OPEN`: how long an attempt may take.
        TIMEOUT_MS = 178;
        /// In: 1 if the time in the IDs comes from the store.
        STORE_TIME = 179;
        /// In: 1 if the scope is the one of static and local generators.
        DEFAULT_SCOPE = 180;
        /// In, also of `reserve` and `health`: the monotonic time.
        MONOTONIC_MS = 181;
        /// In, also of `reserve` and `health`: the wall clock.
        WALL_MS = 182;
        /// In and out: the first of four numbers of 32 bits that make a grant.
        GRANT[4] = 183;
        /// In and out: the same of a nonce; of a segment, of the attempt.
        NONCE[4] = 187;
        /// In: eight random numbers of 32 bits.
        RANDOM[8] = 191;
        /// In and out: the node id of a request, an answer or a release.
        LEASE_NODE = 199;
        /// In: the start of the window in an answer.
        FROM_MS = 200;
        /// In and out: the end of the window in an answer or request; of a release, the time from which the node id is free.
        UNTIL_MS = 201;
        /// In: the store's clock in an answer.
        STORE_NOW_MS = 202;
        /// Out of `ASK`: the number of the request, in [`LEASE_REQUESTS`](crate::abi::LEASE_REQUESTS).
        REQUEST = 203;
        /// Out of `ASK`: 1 if the store was found to have lost a write.
        BEHIND = 204;
        /// In: the number of the store's reason, in [`LEASE_REASONS`](crate::abi::LEASE_REASONS).
        REASON = 205;
        /// In: how long until a node id is free.
        FREE_IN_MS = 206;
        /// Out of `TAKE`, `REFUSE` and `FAIL`: the number of the change, in [`LEASE_CHANGES`](crate::abi::LEASE_CHANGES).
        CHANGE = 207;
        /// Out of `CLOSE`, and of `TAKE` if it declines the lease: 1 if the store is to be told `GRANT`, `LEASE_NODE`, `UNTIL_MS` and
        /// `RELEASED_UNTIL_MS`.
        HAS_RELEASE = 208;
        /// Out: the time for which IDs can be minted before something is due; 0 if none can be minted now.
        USABLE_MS = 209;
        /// Out: the start of the window of the lease that is held.
        HELD_FROM_MS = 210;
        /// Out: the end of its window; 0 if no lease is held.
        HELD_UNTIL_MS = 211;
        /// Out: how many attempts failed in a row.
        FAILURES = 212;
        /// Out: how far the wall clock is ahead of the store's.
        SKEW_MS = 213;
        /// Out: the store's clock, as estimated, at monotonic time 0.
        STORE_OFFSET_MS = 214;
        /// Out: how long until the store may have answered.
        NEXT_MS = 215;
        /// Out: the node id of the held lease.
        HELD_NODE = 216;
        /// Out of `CLOSE` and `TAKE`: the end of the window that a release gives up.
        RELEASED_UNTIL_MS = 217;
        /// In: 1 if the request that the store refused was a renewal.
        RENEWING = 218;
        /// Out of `ASK`: the number of the request. In, with its answer, refusal or failure: the same. 0 for a `FAIL` that belongs to no
        /// request.
        ASKED_NUMBER = 219;
        /// In: the monotonic clock when the store was asked.
        ASKED_MONOTONIC_MS = 220;
        /// In: the wall clock then.
        ASKED_WALL_MS = 221;
        /// In: 1 if the holder is never copied.
        UNCOPIED = 222;
        /// In: a reading of the wall clock since the last call; 0 if there was none.
        SHOWN_MS = 223;
    }
    /// Read and written by `segment`, besides `HANDLE`, `BY_CALLS`, `MONOTONIC_MS` (out: the time in force), `RANDOM`, `TIMEOUT_MS`,
    /// `REQUEST`, `NONCE` (of the attempt), `ASKED_NUMBER` (of the try; out: of the last one), `ASKED_MONOTONIC_MS`, `FAILURES` and
    /// `NEXT_MS`. The first of the IDs hold numbers of 64 bits: the start of a range, and the lower bound for the start of the next.
    SEGMENT = 224..243 {
        /// In: 1 if `STEP` was given.
        HAS_STEP = 224;
        /// In: the shortest step, or the step of the store in an answer (0: none). Out: the step; 0 if the store decides.
        STEP = 225;
        /// In: the longest step.
        MAX_STEP = 226;
        /// In: the time below which a range is too short.
        GROW_BELOW_MS = 227;
        /// In: the time above which a range is too long.
        SHRINK_ABOVE_MS = 228;
        /// In: how many numbers to draw, or how many numbers callers are waiting for.
        WANT = 229;
        /// In and out: the distance of the numbers of a range.
        STRIDE = 230;
        /// In and out: how many numbers a range has. Out of `ASK`: how many to ask for; 0 if the store decides.
        RANGE_COUNT = 231;
        /// Out: how many numbers are left.
        LEFT = 232;
        /// Out: how many ranges hold the numbers that are left or `AHEAD`.
        BUFFERS = 233;
        /// Out: how many ranges the store allocated.
        RANGES = 234;
        /// Out: the sum of their numbers.
        ALLOCATED = 235;
        /// Out: how long the store takes to answer.
        FETCH_MS = 236;
        /// Out: 1 if another range is needed.
        SHORT = 237;
        /// In: how many drawn numbers are not handed out yet.
        AHEAD = 238;
        /// Out: how long a call that found no number may wait before it tries again.
        RETRY_MS = 239;
        /// Out: how long until a call that found no number may ask the store.
        TRY_IN_MS = 240;
        /// Out: what is left of the pause after a failure.
        REST_MS = 241;
        /// Out of `TAKE`: 1 if the answer counts.
        TAKEN = 242;
    }
    /// Read and written by `LOOK` of `ceiling`, besides `WALL_MS`, the time at which IDs are to be reserved.
    CEILING = 243..251 {
        /// In: 1 if the storage has a row. Out: 1 if one is to be written.
        HAS_ROW = 243;
        /// In and out: the mark of the row.
        ROW_MARK = 244;
        /// In and out: its ceiling.
        ROW_UNTIL_MS = 245;
    }
}
