//! The one table of error codes, the rules that input is held to, and the error that carries both.
//!
//! A [`Code`] is a *cause*, stable across versions: branch on it, never on the message. A [`Rule`] is the sentence that
//! bad input broke. The bindings send the numbers of both across the boundary; the JavaScript tables of codes and
//! sentences are generated from this file, so there is no second copy to drift.
//!
//! * **Naming**: every error about input has the [field](Error::field), the [value](Error::value) and the
//!   [rule](Error::rule).
//! * **Inert**: nothing has been changed, and nothing issued, when an error is returned.
//! * **Copyable**: an [`Error`] owns no memory, so refusing costs no allocation.

use core::fmt;

/// The class a code belongs to: what kind of thing has to change before the call can work.
///
/// ```
/// use frazil::{Class, Code};
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
    ///
    /// ```
    /// assert_eq!(frazil::Code::InvalidNode.class().name(), "ConfigError");
    /// ```
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
            ///
            /// ```
            /// assert!(frazil::Code::ALL.windows(2).all(|pair| pair[0] < pair[1]));
            /// ```
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code as it is spelt in JavaScript, in logs and in the vectors.
            ///
            /// ```
            /// assert_eq!(frazil::Code::InvalidId.name(), "INVALID_ID");
            /// ```
            #[must_use]
            pub const fn name(self) -> &'static str { match self { $(Self::$variant => $name,)+ } }

            /// The class the code belongs to.
            ///
            /// ```
            /// assert_eq!(frazil::Code::TimeExhausted.class(), frazil::Class::Clock);
            /// ```
            #[must_use]
            pub const fn class(self) -> Class { match self { $(Self::$variant => Class::$class,)+ } }

            /// Whether the same call can succeed later although the caller changes nothing.
            ///
            /// ```
            /// assert!(!frazil::Code::TimeExhausted.retryable());
            /// ```
            #[must_use]
            pub const fn retryable(self) -> bool { match self { $(Self::$variant => $retryable,)+ } }

            /// What the code means, in a sentence.
            ///
            /// ```
            /// assert!(frazil::Code::Closed.meaning().contains("closed"));
            /// ```
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
    /// The file system cannot keep the promise of a state file.
    UnsupportedFileSystem = 9, "UNSUPPORTED_FILE_SYSTEM", Config, false;
    /// The state file is damaged, truncated, a copy, or of another layout.
    StateFileCorrupt = 10, "STATE_FILE_CORRUPT", Config, false;
    /// The state file has reserved time far ahead of the clock.
    StateFileAhead = 11, "STATE_FILE_AHEAD", Config, false;
    /// The state file cannot be made, opened or written; where it was in use, minting stopped for good.
    StateFileFailed = 12, "STATE_FILE_FAILED", Config, false;
    /// The generator was closed.
    Closed = 13, "CLOSED", Config, false;
    /// The clock is behind the last tick issued, or behind the first tick this generator may use.
    ClockBackward = 14, "CLOCK_BACKWARD", Clock, true;
    /// All sequence numbers that the clock and the allowed lead give are used.
    SequenceExhausted = 15, "SEQUENCE_EXHAUSTED", Clock, true;
    /// The clock shows a time before the epoch of the layout.
    ClockBeforeEpoch = 16, "CLOCK_BEFORE_EPOCH", Clock, false;
    /// The time field of the layout has run out.
    TimeExhausted = 17, "TIME_EXHAUSTED", Clock, false;
    /// The clock returned something that is no finite number.
    InvalidClock = 18, "INVALID_CLOCK", Clock, false;
    /// The granted window is over and has not been renewed yet.
    LeaseExpired = 19, "LEASE_EXPIRED", Lease, true;
    /// Another holder has the node id now.
    LeaseLost = 20, "LEASE_LOST", Lease, true;
    /// Every node id of the scope is held.
    NodeIdsExhausted = 21, "NODE_IDS_EXHAUSTED", Lease, true;
    /// The store did not answer.
    StoreUnavailable = 22, "STORE_UNAVAILABLE", Lease, true;
    /// Both ranges of the segment are used and the next is not there yet.
    SegmentExhausted = 23, "SEGMENT_EXHAUSTED", Lease, true;
    /// The store has no record of the scope, and an empty store looks the same as a lost one.
    StoreNotInitialised = 24, "STORE_NOT_INITIALISED", Lease, false;
    /// The scope in the store belongs to another layout.
    LayoutMismatch = 25, "LAYOUT_MISMATCH", Lease, false;
    /// The store is set up so that it cannot keep the promise.
    StoreRefused = 26, "STORE_REFUSED", Lease, false;
    /// The value is not an ID, or not one that the layout can have issued.
    InvalidId = 27, "INVALID_ID", Decode, false;
    /// The text is not in the expected form.
    InvalidText = 28, "INVALID_TEXT", Decode, false;
    /// The time lies outside what the time field can hold.
    TimeOutOfRange = 29, "TIME_OUT_OF_RANGE", Decode, false;
    /// IDs of this layout are not ordered by time alone, so a range of times is no range of IDs.
    NotTimeOrdered = 30, "NOT_TIME_ORDERED", Decode, false;
}

macro_rules! rules {
    ($($variant:ident = $number:literal, $template:literal;)+) => {
        /// The sentence that bad input broke; some can be broken in JavaScript only, whose values have any type. In it `{min}` and `{max}` stand for the error's two numbers.
        ///
        /// ```
        /// use frazil::Rule;
        /// assert_eq!(Rule::IdRange.template(), "must be an ID from 0 to {max}");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Rule { $(#[doc = concat!("\"", $template, "\"")] $variant = $number,)+ }

        impl Rule {
            /// Every rule, in the order of its number.
            ///
            /// ```
            /// assert_eq!(frazil::Rule::ALL[0].template(), "");
            /// ```
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The sentence, with `{min}` and `{max}` still to be filled in.
            ///
            /// ```
            /// assert_eq!(frazil::Rule::WholeNumber.template(), "must be a whole number from {min} to {max}");
            /// ```
            #[must_use]
            pub const fn template(self) -> &'static str { match self { $(Self::$variant => $template,)+ } }
        }
    };
}

rules! {
    None = 0, "";
    WholeNumber = 1, "must be a whole number from {min} to {max}";
    OneTime = 2, "must have one time field";
    OneSequence = 3, "must have one sequence field";
    OneClock = 4, "must have at most one clock field";
    NodeWidth = 5, "must have node fields of at most {max} bits together";
    Width = 6, "must have at most {max} bits (63, or 64 with unsigned: true)";
    LastTick = 7, "must have a last tick that a Date can hold (8640000000000000 ms)";
    DistinctNames = 8, "must be a name that no other node field has (without a name it is \"node\")";
    NameSyntax = 9, "must be a letter and at most 31 letters, digits, - or _";
    NameOnlyNode = 10, "must be left out: only node fields have names";
    KnownKind = 11, "must be time, node, clock or sequence";
    KnownLayout = 12, "must be a layout";
    KnownKey = 13, "must be a name that is known here";
    AnObject = 14, "must be a plain object";
    TrueOrFalse = 15, "must be true or false";
    NodeNone = 16, "must be \"none\", your word that there is one generator: this layout has no node field";
    NodeNotNone = 17, "must be a node id: \"none\" is for layouts without a node field";
    NodeGiven = 18, "must be given, there is no default: number your machines and pass node, or use Snowflake.local() if there is one machine";
    PartNames = 19, "must name all parts of the node id";
    FieldMissing = 20, "must be given: the layout has it";
    FieldAbsent = 21, "must be left out: the layout does not have it";
    FieldAbove = 22, "must be given: it lies above the time";
    FieldBelow = 23, "must be left out: it lies below the time";
    NothingUnordered = 24, "must not lie above the time";
    TickStart = 25, "must be the first millisecond of a tick ({min} ms long)";
    TimeRange = 26, "must be Unix milliseconds from {min} to {max}";
    IdRange = 27, "must be an ID from 0 to {max}";
    IdText = 28, "must be digits without sign, blanks or leading zeros";
    IdInput = 29, "must be a bigint, digits or an exact number";
    IdArray = 30, "must be a BigUint64Array";
    IdColumn = 31, "must be a BigUint64Array, or up to 63 bits a BigInt64Array";
    CountReach = 32, "must be at most {max}: the full lead and the full wait together give no more";
    StaticLead = 33, "must be at most {max} with a static node id";
    NoStartLead = 34, "must be 0 where the start of the process is unknown: nothing else bounds its predecessor";
    FiniteClock = 35, "must be a finite number of Unix milliseconds";
    KnownStart = 36, "must be \"zero\", \"random\" or \"wrap\"";
    Function = 37, "must be a function";
    ASignal = 38, "must be an AbortSignal";
    OneStart = 39, "must be the one that generators of this layout and node id have here already";
    StartKey = 40, "must come with a key, since none can be drawn here";
    TextLength = 41, "must have {max} characters";
    TextShort = 42, "must have 1 to {max} characters";
    TextZeros = 43, "must not begin with the form's digit for zero";
    TextHex = 44, "must have only the digits 0-9 and a-f, in lower case";
    TextBase32 = 45, "must have only the digits 0-9 and A-Z without I, L, O and U, in upper case";
    TextBase58 = 46, "must have only the digits 1-9, A-Z and a-z without I, O and l";
    TextBase62 = 47, "must have only the digits 0-9, A-Z and a-z";
    TextString = 48, "must be a string";
    TextIds = 49, "must be a BigUint64Array or an array of IDs";
    TextStrings = 50, "must be an array of strings";
    TextBytes = 51, "must be a Uint8Array of 8 bytes";
    TextManyBytes = 52, "must be a Uint8Array of 8 bytes for each ID";
    APath = 53, "must be a path";
    OneKind = 54, "must not have a static generator and one of Snowflake.local() in a process: they share no state";
    TargetLost = 55, "must stay as long as it was, and not be transferred, until it is full";
    NodeLeftOut = 56, "must be a node id, or left out: then it is 0, for IDs that stay on this machine";
}

macro_rules! fields {
    ($($variant:ident = $number:literal, $name:literal;)+) => {
        /// What an error is about, by the name it has in Rust; JavaScript spells it in camel case.
        ///
        /// ```
        /// use frazil::Subject;
        /// assert_eq!(Subject::EpochMs.name(), "epoch_ms");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Subject { $(#[doc = concat!("`", $name, "`")] $variant = $number,)+ }

        impl Subject {
            /// Every subject, in the order of its number.
            ///
            /// ```
            /// assert_eq!(frazil::Subject::ALL[1].name(), "node");
            /// ```
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name as it is spelt in Rust; empty for an error about no field in particular.
            ///
            /// ```
            /// assert_eq!(frazil::Subject::MaxLeadMs.name(), "max_lead_ms");
            /// ```
            #[must_use]
            pub const fn name(self) -> &'static str { match self { $(Self::$variant => $name,)+ } }
        }
    };
}

fields! {
    None = 0, "";
    Node = 1, "node";
    EpochMs = 2, "epoch_ms";
    TickMs = 3, "tick_ms";
    Fields = 4, "fields";
    FieldBits = 5, "bits";
    FieldName = 6, "name";
    Layout = 7, "layout";
    MaxLeadMs = 8, "max_lead_ms";
    MaxWaitMs = 9, "max_wait_ms";
    MaxAsyncWaitMs = 10, "max_async_wait_ms";
    Now = 11, "now";
    Count = 12, "count";
    Id = 13, "id";
    TimestampMs = 14, "timestamp_ms";
    Clock = 15, "clock";
    Sequence = 16, "sequence";
    SequenceStart = 17, "sequence_start";
    Generator = 18, "generator";
    Text = 19, "text";
    Dir = 20, "dir";
    Scope = 21, "scope";
    FileSystem = 22, "file_system";
    StartWaitMs = 23, "start_wait_ms";
}

/// Why a call was refused: a [`Code`], and what it is about.
///
/// ```
/// use frazil::{Code, Layout, Node};
/// let error = Layout::named("default")?.join_node(Node::Id(1024)).unwrap_err();
/// assert_eq!(error.code(), Code::InvalidNode);
/// assert_eq!((error.field(), error.value()), ("node", Some(1024)));
/// assert_eq!(error.to_string(), "INVALID_NODE: node is 1024: must be a whole number from 0 to 1023");
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    code: Code,
    pub(crate) subject: Subject,
    pub(crate) rule: Rule,
    /// The magnitude of the value, and whether there is one: an `Option<i128>` would carry 128-bit arithmetic into the
    /// WebAssembly module. Of a text, which is not kept, the position.
    magnitude: u64,
    sign: Sign,
    pub(crate) min: u64,
    /// The rule's `{max}`; without a rule, the milliseconds until a retry.
    pub(crate) max: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Absent,
    Positive,
    Negative,
    /// The magnitude is a position.
    Position,
    /// The same, in one of many texts, whose index is `min`.
    PositionInMany,
}

impl Error {
    /// An error with its code alone.
    pub(crate) const fn new(code: Code) -> Self {
        Self { code, subject: Subject::None, rule: Rule::None, magnitude: 0, sign: Sign::Absent, min: 0, max: 0 }
    }

    /// An error about a number: the field, the value, and the rule with its two numbers. Never inlined, because refusing
    /// is rare and the module small.
    #[cold]
    #[inline(never)]
    pub(crate) const fn number(code: Code, subject: Subject, rule: Rule, value: u64, (min, max): (u64, u64)) -> Self {
        Self { code, subject, rule, magnitude: value, sign: Sign::Positive, min, max }
    }

    /// An error about input that is no number: the field, and the rule that its value broke.
    #[cold]
    #[inline(never)]
    pub(crate) const fn about(code: Code, subject: Subject, rule: Rule) -> Self {
        Self { code, subject, rule, magnitude: 0, sign: Sign::Absent, min: 0, max: 0 }
    }

    /// An error about a text: where it breaks the rule, and the number that fills the rule's sentence.
    #[cold]
    #[inline(never)]
    pub(crate) const fn text(rule: Rule, position: usize, max: u64) -> Self {
        let (code, subject, magnitude) = (Code::InvalidText, Subject::Text, position as u64);
        Self { code, subject, rule, magnitude, sign: Sign::Position, min: 0, max }
    }

    /// Which of many texts the error is about.
    pub(crate) const fn at_index(mut self, index: usize) -> Self {
        self.sign = Sign::PositionInMany;
        self.min = index as u64;
        self
    }

    /// The offending value, where it is a signed number.
    pub(crate) const fn with_signed(mut self, value: i64) -> Self {
        self.magnitude = value.unsigned_abs();
        self.sign = if value < 0 { Sign::Negative } else { Sign::Positive };
        self
    }

    /// The two numbers that fill the rule's sentence.
    pub(crate) const fn within(mut self, min: u64, max: u64) -> Self {
        self.min = min;
        self.max = max;
        self
    }

    /// An error with its code and what it is about, for a [`Keeper`](crate::Keeper) to refuse with.
    ///
    /// ```
    /// use frazil::{Code, Error, Subject};
    /// assert_eq!(Error::refusal(Code::StateFileFailed, Subject::Dir).field(), "dir");
    /// ```
    #[must_use]
    pub const fn refusal(code: Code, subject: Subject) -> Self {
        Self::about(code, subject, Rule::None)
    }

    /// An error about input that breaks a rule without numbers, for a [`Keeper`](crate::Keeper) to refuse with.
    ///
    /// ```
    /// use frazil::{Code, Error, Rule, Subject};
    /// let error = Error::broken(Code::InvalidOption, Subject::Dir, Rule::APath);
    /// assert_eq!(error.to_string(), "INVALID_OPTION: dir must be a path");
    /// ```
    #[must_use]
    pub const fn broken(code: Code, subject: Subject, rule: Rule) -> Self {
        Self::about(code, subject, rule)
    }

    /// A refusal that ends by itself, after so many milliseconds.
    ///
    /// ```
    /// use frazil::{Code, Error};
    /// assert_eq!(Error::retry_after(Code::LeaseExpired, 10).retry_after_ms(), 10);
    /// ```
    #[must_use]
    pub const fn retry_after(code: Code, retry_after_ms: u64) -> Self {
        let mut error = Self::new(code);
        error.max = retry_after_ms;
        error
    }

    /// The cause.
    ///
    /// ```
    /// let error = frazil::Layout::named("twiter").unwrap_err();
    /// assert_eq!(error.code(), frazil::Code::InvalidLayout);
    /// ```
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The name of the option, argument or field at fault; empty where there is none.
    ///
    /// ```
    /// assert_eq!(frazil::Layout::named("twiter").unwrap_err().field(), "layout");
    /// ```
    #[must_use]
    pub const fn field(&self) -> &'static str {
        self.subject.name()
    }

    /// The offending value, where it is a whole number.
    ///
    /// ```
    /// # use frazil::{Field, Layout, LayoutSpec};
    /// let spec = LayoutSpec { tick_ms: 0, ..Layout::named("default")?.spec() };
    /// assert_eq!(Layout::new(spec).unwrap_err().value(), Some(0));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn value(&self) -> Option<i128> {
        match self.sign {
            Sign::Absent | Sign::Position | Sign::PositionInMany => None,
            Sign::Positive => Some(self.magnitude as i128),
            Sign::Negative => Some(-(self.magnitude as i128)),
        }
    }

    /// The byte of a text at which it breaks the rule; its length where it is too short.
    ///
    /// ```
    /// assert_eq!(frazil::TextForm::Hex.decode("00000000000000FF").unwrap_err().position(), Some(14));
    /// ```
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        let is_text = matches!(self.sign, Sign::Position | Sign::PositionInMany);
        usize::try_from(self.magnitude).ok().filter(|_| is_text)
    }

    /// Which of many texts is at fault.
    ///
    /// ```
    /// let error = frazil::TextForm::Hex.short().decode_many(&["ff", "xx"], &mut [0; 2]).unwrap_err();
    /// assert_eq!(error.index(), Some(1));
    /// ```
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        usize::try_from(self.min).ok().filter(|_| self.sign == Sign::PositionInMany)
    }

    /// The rule that was broken.
    ///
    /// ```
    /// assert_eq!(frazil::Layout::named("twiter").unwrap_err().rule(), frazil::Rule::KnownLayout);
    /// ```
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// Milliseconds until the same call can first succeed; 0 where waiting alone does not help.
    ///
    /// ```
    /// assert_eq!(frazil::Layout::named("twiter").unwrap_err().retry_after_ms(), 0);
    /// ```
    #[must_use]
    pub const fn retry_after_ms(&self) -> u64 {
        if matches!(self.rule, Rule::None) { self.max } else { 0 }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code.name())?;
        if self.rule == Rule::None {
            f.write_str(self.code.meaning())?;
            return if self.max == 0 { Ok(()) } else { write!(f, " Retry after {} ms.", self.max) };
        }
        f.write_str(self.field())?;
        if let Some(value) = self.value() {
            write!(f, " is {value}:")?;
        }
        if let Some(index) = self.index() {
            write!(f, " {index}")?;
        }
        if let Some(position) = self.position() {
            write!(f, " at byte {position}:")?;
        }
        f.write_str(" ")?;
        let mut rest = self.rule.template();
        while let Some(open) = rest.find('{') {
            f.write_str(&rest[..open])?;
            let name = &rest[open + 1..open + 4];
            write!(f, "{}", if name == "min" { self.min } else { self.max })?;
            rest = &rest[open + 5..];
        }
        f.write_str(rest)
    }
}

impl core::error::Error for Error {}

/// What this crate's calls return.
///
/// ```
/// fn last_ms(name: &str) -> frazil::Result<u64> {
///     Ok(frazil::Layout::named(name)?.plan().last_ms)
/// }
/// assert_eq!(last_ms("default"), Ok(3_903_090_455_551));
/// ```
pub type Result<T> = core::result::Result<T, Error>;
