//! The table of error codes and their classes. A new refusal code is a line here.

/// The class a code belongs to: what kind of thing has to change before the call can work.
///
/// ```
/// use frazil::Code;
/// use frazil::error::Class;
/// assert_eq!(Code::ClockBackward.class(), Class::Clock);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// The program or its surroundings are set up wrongly.
    Config,
    /// Time does not allow it now, or no longer.
    Clock,
    /// The right to mint, or the store that grants it, is missing.
    Lease,
    /// What was given to decode is not an ID, or not one of this layout.
    Decode,
}

impl Class {
    /// The class by the name it has in JavaScript.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Config => "ConfigError",
            Self::Clock => "ClockError",
            Self::Lease => "LeaseError",
            Self::Decode => "DecodeError",
        }
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $number:literal, $name:literal, $class:ident, $retryable:literal;)+) => {
        /// What went wrong, as a stable cause.
        ///
        /// ```
        /// use frazil::Code;
        /// assert_eq!(Code::SequenceExhausted.name(), "SEQUENCE_EXHAUSTED");
        /// assert!(Code::SequenceExhausted.retryable());
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $doc])+ $variant = $number,)+ }

        impl Code {
            /// Every code, in the order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code as it is spelt in JavaScript, in logs and in the vectors.
            #[must_use]
            pub const fn name(self) -> &'static str { match self { $(Self::$variant => $name,)+ } }

            /// The class the code belongs to.
            #[must_use]
            pub const fn class(self) -> Class { match self { $(Self::$variant => Class::$class,)+ } }

            /// Whether the same call can succeed later although the caller changes nothing.
            #[must_use]
            pub const fn retryable(self) -> bool { match self { $(Self::$variant => $retryable,)+ } }

            /// What the code means, in a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str { match self { $(Self::$variant => concat!($($doc),+).trim_ascii(),)+ } }
        }
    };
}

codes! {
    /// The layout breaks a rule: a width, a field or a time that does not add up.
    InvalidLayout = 1, "INVALID_LAYOUT", Config, false;
    /// The node id is not one that the layout can hold.
    InvalidNode = 2, "INVALID_NODE", Config, false;
    /// No node id was given, and there is no default: two machines on one node id repeat each other's IDs.
    NodeRequired = 3, "NODE_REQUIRED", Config, false;
    /// An option is unknown, or its value is not allowed.
    InvalidOption = 4, "INVALID_OPTION", Config, false;
    /// An argument of a call is not allowed.
    InvalidArgument = 5, "INVALID_ARGUMENT", Config, false;
    /// The state is in use with other settings, or by another copy of the package that cannot share it.
    StateConflict = 6, "STATE_CONFLICT", Config, false;
    /// The call needs the native addon, because WebAssembly cannot share a state between threads or processes.
    NativeRequired = 7, "NATIVE_REQUIRED", Config, false;
    /// WebAssembly is forbidden or missing here, so nothing can be minted; layouts and decoding still work.
    WasmUnavailable = 8, "WASM_UNAVAILABLE", Config, false;
    /// The file system cannot keep the guarantee of a state file.
    UnsupportedFileSystem = 9, "UNSUPPORTED_FILE_SYSTEM", Config, false;
    /// The state file is damaged, truncated, a copy, or of another layout.
    StateFileCorrupt = 10, "STATE_FILE_CORRUPT", Config, false;
    /// The state file has reserved time far ahead of the clock.
    StateFileAhead = 11, "STATE_FILE_AHEAD", Config, false;
    /// The state file cannot be made, opened or written; where it was in use, minting stopped for good.
    StateFileFailed = 12, "STATE_FILE_FAILED", Config, false;
    /// It is not proven on this platform that a state file keeps its guarantee, and the caller has not accepted that.
    UnprovenPlatform = 13, "UNPROVEN_PLATFORM", Config, false;
    /// The generator was closed.
    Closed = 14, "CLOSED", Config, false;
    /// The clock is behind the last tick issued, or behind the first tick this generator may use.
    ClockBackward = 15, "CLOCK_BACKWARD", Clock, true;
    /// All sequence numbers that the clock and the allowed lead give are used.
    SequenceExhausted = 16, "SEQUENCE_EXHAUSTED", Clock, true;
    /// The clock shows a time before the epoch of the layout.
    ClockBeforeEpoch = 17, "CLOCK_BEFORE_EPOCH", Clock, false;
    /// The time field of the layout has run out.
    TimeExhausted = 18, "TIME_EXHAUSTED", Clock, false;
    /// The clock returned something that is no finite number.
    InvalidClock = 19, "INVALID_CLOCK", Clock, false;
    /// The granted window is over and has not been renewed yet.
    LeaseExpired = 20, "LEASE_EXPIRED", Lease, true;
    /// No lease is held: the last one ended, and another one is asked for.
    LeaseLost = 21, "LEASE_LOST", Lease, true;
    /// Every node id of the scope is held.
    NodeIdsExhausted = 22, "NODE_IDS_EXHAUSTED", Lease, true;
    /// The store did not answer.
    StoreUnavailable = 23, "STORE_UNAVAILABLE", Lease, true;
    /// Both ranges of the segment are used and the next is not there yet.
    SegmentExhausted = 24, "SEGMENT_EXHAUSTED", Lease, true;
    /// The store has no record of the scope, and an empty store looks the same as a lost one.
    StoreNotInitialised = 25, "STORE_NOT_INITIALISED", Lease, false;
    /// The scope in the store belongs to another layout.
    LayoutMismatch = 26, "LAYOUT_MISMATCH", Lease, false;
    /// The store is set up so that it cannot keep the guarantee.
    StoreRefused = 27, "STORE_REFUSED", Lease, false;
    /// The value is not an ID, or not one that the layout can have issued.
    InvalidId = 28, "INVALID_ID", Decode, false;
    /// The text is not in the expected form.
    InvalidText = 29, "INVALID_TEXT", Decode, false;
    /// The time lies outside what the time field can hold.
    TimeOutOfRange = 30, "TIME_OUT_OF_RANGE", Decode, false;
    /// IDs of this layout are not ordered by time alone, so a range of times is no range of IDs.
    NotTimeOrdered = 31, "NOT_TIME_ORDERED", Decode, false;
}
