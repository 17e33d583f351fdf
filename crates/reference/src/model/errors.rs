//! The codes of errors, and the rules that say what input must be. Only the rules that a vector has are here.

/// Every code in the order of its number, from 1; its class in JavaScript; and whether the same call can succeed later although
/// the caller changes nothing. `docs/reference/errors.md` explains those whose feature exists; leases and segments have codes in advance.
pub(crate) const ERRORS: &[(&str, &str, bool)] = &[
    ("INVALID_LAYOUT", "ConfigError", false),
    ("INVALID_NODE", "ConfigError", false),
    ("NODE_REQUIRED", "ConfigError", false),
    ("INVALID_OPTION", "ConfigError", false),
    ("INVALID_ARGUMENT", "ConfigError", false),
    ("STATE_CONFLICT", "ConfigError", false),
    ("NATIVE_REQUIRED", "ConfigError", false),
    ("WASM_UNAVAILABLE", "ConfigError", false),
    ("UNSUPPORTED_FILE_SYSTEM", "ConfigError", false),
    ("STATE_FILE_CORRUPT", "ConfigError", false),
    ("STATE_FILE_AHEAD", "ConfigError", false),
    ("STATE_FILE_FAILED", "ConfigError", false),
    ("UNPROVEN_PLATFORM", "ConfigError", false),
    ("CLOSED", "ConfigError", false),
    ("CLOCK_BACKWARD", "ClockError", true),
    ("SEQUENCE_EXHAUSTED", "ClockError", true),
    ("CLOCK_BEFORE_EPOCH", "ClockError", false),
    ("TIME_EXHAUSTED", "ClockError", false),
    ("INVALID_CLOCK", "ClockError", false),
    ("LEASE_EXPIRED", "LeaseError", true),
    ("LEASE_LOST", "LeaseError", true),
    ("NODE_IDS_EXHAUSTED", "LeaseError", true),
    ("STORE_UNAVAILABLE", "LeaseError", true),
    ("SEGMENT_EXHAUSTED", "LeaseError", true),
    ("STORE_NOT_INITIALISED", "LeaseError", false),
    ("LAYOUT_MISMATCH", "LeaseError", false),
    ("STORE_REFUSED", "LeaseError", false),
    ("INVALID_ID", "DecodeError", false),
    ("INVALID_TEXT", "DecodeError", false),
    ("TIME_OUT_OF_RANGE", "DecodeError", false),
    ("NOT_TIME_ORDERED", "DecodeError", false),
];

// The codes with which the generator refuses.
pub(crate) const CLOCK_BACKWARD: &str = "CLOCK_BACKWARD";
pub(crate) const SEQUENCE_EXHAUSTED: &str = "SEQUENCE_EXHAUSTED";
pub(crate) const CLOCK_BEFORE_EPOCH: &str = "CLOCK_BEFORE_EPOCH";
pub(crate) const TIME_EXHAUSTED: &str = "TIME_EXHAUSTED";

/// A sentence that says what input must be; `{min}` and `{max}` in it are replaced by numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule(&'static str);

impl Rule {
    pub(crate) const WHOLE_NUMBER: Self = Self("must be an integer from {min} to {max}");
    pub(crate) const ONE_TIME: Self = Self("must have one time field");
    pub(crate) const ONE_SEQUENCE: Self = Self("must have one sequence field");
    pub(crate) const ONE_CLOCK: Self = Self("must have at most one clock field");
    pub(crate) const NODE_WIDTH: Self = Self("must have node fields of at most {max} bits in total");
    pub(crate) const WIDTH: Self = Self("must have at most {max} bits in total");
    pub(crate) const LAST_TICK: Self = Self("must have a last tick that a Date can hold (8640000000000000 ms)");
    pub(crate) const DISTINCT_NAMES: Self = Self("must differ from the names of the other node fields");
    pub(crate) const NAME_SYNTAX: Self = Self("must be a letter and at most 31 letters, digits, - or _");
    pub(crate) const NAME_ONLY_NODE: Self = Self("must be left out");
    pub(crate) const KNOWN_KIND: Self = Self("must be time, node, clock or sequence");
    pub(crate) const KNOWN_LAYOUT: Self = Self("must be the name of a layout");
    pub(crate) const NODE_NONE: Self = Self("must be \"none\", since this layout has no node field");
    pub(crate) const NODE_NOT_NONE: Self = Self("must be a node id");
    pub(crate) const NODE_GIVEN: Self = Self("must be given");
    pub(crate) const PART_NAMES: Self = Self("must name all parts of the node id");
    pub(crate) const FIELD_MISSING: Self = Self("must be given, since the layout has this field");
    pub(crate) const FIELD_ABSENT: Self = Self("must be left out, since the layout does not have this field");
    pub(crate) const FIELD_ABOVE: Self = Self("must be given, since it lies above the time");
    pub(crate) const FIELD_BELOW: Self = Self("must be left out, since it lies below the time");
    pub(crate) const NOTHING_UNORDERED: Self = Self("IDs of this layout are not ordered by time");
    pub(crate) const TICK_START: Self = Self("must be the first millisecond of a tick of {min} ms");
    pub(crate) const FROM_AFTER_TO: Self = Self("must not be after to, which is {max}");
    pub(crate) const NOT_SECONDS: Self = Self("must be Unix milliseconds");
    pub(crate) const TIME_RANGE: Self = Self("must be whole Unix milliseconds from {min} to {max}");
    pub(crate) const ID_RANGE: Self = Self("must be an ID from 0 to {max}");
    pub(crate) const ID_TEXT: Self = Self("must be decimal digits, without sign, spaces, leading zeros or n");
    pub(crate) const ID_INPUT: Self = Self("must be a bigint, digits or a number below 2^53");
    pub(crate) const STATIC_LEAD: Self = Self("must be at most {max} with a static node id");
    pub(crate) const NO_START_LEAD: Self = Self("must be 0, since the start of the process is unknown here");
    pub(crate) const KNOWN_START: Self = Self("must be \"zero\", \"random\" or \"wrap\"");
    pub(crate) const TEXT_LENGTH: Self = Self("must have {max} characters");
    pub(crate) const TEXT_SHORT: Self = Self("must have 1 to {max} characters");
    pub(crate) const TEXT_ZEROS: Self = Self("must not begin with the form's digit for zero");
    pub(crate) const TEXT_HEX: Self = Self("must have only the digits 0-9 and a-f, in lower case");
    pub(crate) const TEXT_BASE32: Self = Self("must have only the digits 0-9 and A-Z without I, L, O and U, in upper case");
    pub(crate) const TEXT_BASE58: Self = Self("must have only the digits 1-9, A-Z and a-z without I, O and l");
    pub(crate) const TEXT_BASE62: Self = Self("must have only the digits 0-9, A-Z and a-z");
    pub(crate) const TEXT_BASE36: Self = Self("must have only the digits 0-9 and a-z, in lower case");
    pub(crate) const TEXT_CROCKFORD: Self = Self("must have only the digits 0-9 and A-Z without U, in either case");
    pub(crate) const TEXT_BASE64_URL: Self = Self("must have only the digits A-Z, a-z, 0-9, - and _");
    pub(crate) const TEXT_BASE64_URL_END: Self = Self("must end with one of AEIMQUYcgkosw048");
    pub(crate) const TEXT_ALPHABET: Self = Self("must have only the digits of the form's alphabet");
    pub(crate) const TEXT_STRING: Self = Self("must be a string");
    pub(crate) const TEXT_BYTES: Self = Self("must be a Uint8Array of 8 bytes");
}

/// The sentence of a rule, with its numbers filled in.
pub(crate) fn sentence(rule: Rule, min: u128, max: u128) -> String {
    rule.0.replace("{min}", &min.to_string()).replace("{max}", &max.to_string())
}
