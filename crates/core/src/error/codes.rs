//! The table of error codes and their classes. A new refusal code is a line here.

/// The class of a code: what kind of thing has to change before the call can work.
///
/// ```
/// use frazil::Code;
/// use frazil::error::Class;
/// assert_eq!(Code::ClockBackward.class(), Class::Clock);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// The program or its environment is set up wrongly.
    Config,
    /// Time does not allow it now, or no longer.
    Clock,
    /// The right to mint, or the store that grants it, is missing.
    Lease,
    /// The value to decode is not an ID, or not one of this layout.
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
    ($($variant:ident = $number:literal, $name:literal, $class:ident, $retryable:literal, $meaning:literal;)+) => {
        /// The stable cause of an error.
        ///
        /// ```
        /// use frazil::Code;
        /// assert_eq!(Code::SequenceExhausted.name(), "SEQUENCE_EXHAUSTED");
        /// assert!(Code::SequenceExhausted.retryable());
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Code { $(#[doc = concat!("`", $name, "`: ", $meaning, ".")] $variant = $number,)+ }

        impl Code {
            /// Every code, in the order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code as it is spelt in JavaScript, in logs and in the vectors.
            #[must_use]
            pub const fn name(self) -> &'static str { match self { $(Self::$variant => $name,)+ } }

            /// The class the code belongs to.
            #[must_use]
            pub const fn class(self) -> Class { match self { $(Self::$variant => Class::$class,)+ } }

            /// Whether the same call can succeed later without any change by the caller.
            #[must_use]
            pub const fn retryable(self) -> bool { match self { $(Self::$variant => $retryable,)+ } }

            /// The meaning of the code: the message of an error without a rule.
            #[must_use]
            pub const fn meaning(self) -> &'static str { match self { $(Self::$variant => $meaning,)+ } }
        }
    };
}

codes! {
    InvalidLayout = 1, "INVALID_LAYOUT", Config, false, "the layout breaks a rule";
    InvalidNode = 2, "INVALID_NODE", Config, false, "the layout cannot hold the node id";
    NodeRequired = 3, "NODE_REQUIRED", Config, false, "no node id was given";
    InvalidOption = 4, "INVALID_OPTION", Config, false, "an option is unknown, or its value is not allowed";
    InvalidArgument = 5, "INVALID_ARGUMENT", Config, false, "an argument of a call is not allowed";
    StateConflict = 6, "STATE_CONFLICT", Config, false, "the state is in use with other settings, or by a copy of the package that cannot share it";
    NativeRequired = 7, "NATIVE_REQUIRED", Config, false, "the call needs the native addon";
    WasmUnavailable = 8, "WASM_UNAVAILABLE", Config, false, "WebAssembly is forbidden or missing here";
    UnsupportedFileSystem = 9, "UNSUPPORTED_FILE_SYSTEM", Config, false, "the file system cannot keep the guarantee of a state file";
    StateFileCorrupt = 10, "STATE_FILE_CORRUPT", Config, false, "the state file is damaged, truncated, a copy, or of another layout";
    StateFileAhead = 11, "STATE_FILE_AHEAD", Config, false, "the state file has reserved time far ahead of the clock";
    StateFileFailed = 12, "STATE_FILE_FAILED", Config, false, "the state file cannot be made, opened or written";
    UnprovenPlatform = 13, "UNPROVEN_PLATFORM", Config, false, "state files are not proven on this platform";
    Closed = 14, "CLOSED", Config, false, "the generator was closed";
    ClockBackward = 15, "CLOCK_BACKWARD", Clock, true, "the clock is behind the last tick issued, or behind the first tick this generator may use";
    SequenceExhausted = 16, "SEQUENCE_EXHAUSTED", Clock, true, "all sequence numbers that the clock and the allowed lead give are used";
    ClockBeforeEpoch = 17, "CLOCK_BEFORE_EPOCH", Clock, false, "the clock shows a time before the epoch of the layout";
    TimeExhausted = 18, "TIME_EXHAUSTED", Clock, false, "the time field of the layout has run out";
    InvalidClock = 19, "INVALID_CLOCK", Clock, false, "the clock returned something that is no finite number";
    LeaseExpired = 20, "LEASE_EXPIRED", Lease, true, "the granted window is over and has not been renewed yet";
    LeaseLost = 21, "LEASE_LOST", Lease, true, "no lease is held: the last one ended, and another one is asked for";
    NodeIdsExhausted = 22, "NODE_IDS_EXHAUSTED", Lease, true, "every node id of the scope is held";
    StoreUnavailable = 23, "STORE_UNAVAILABLE", Lease, true, "the store did not answer";
    SegmentExhausted = 24, "SEGMENT_EXHAUSTED", Lease, true, "both ranges of the segment are used, and the next has not arrived";
    StoreNotInitialised = 25, "STORE_NOT_INITIALISED", Lease, false, "the store has no record of the scope";
    LayoutMismatch = 26, "LAYOUT_MISMATCH", Lease, false, "the scope in the store belongs to another layout";
    StoreRefused = 27, "STORE_REFUSED", Lease, false, "the store is set up so that it cannot keep the guarantee";
    InvalidId = 28, "INVALID_ID", Decode, false, "the value is not an ID, or not one that the layout can have issued";
    InvalidText = 29, "INVALID_TEXT", Decode, false, "the text is not in the expected form";
    TimeOutOfRange = 30, "TIME_OUT_OF_RANGE", Decode, false, "the time lies outside what the time field can hold";
    NotTimeOrdered = 31, "NOT_TIME_ORDERED", Decode, false, "IDs of this layout are not ordered by time alone";
}
