//! The table of rules: what bad input breaks, and what to do about it.
//!
//! A rule that begins with "must" completes the name of the field. Any other rule is a message as it stands.
//!
//! Not here: what JavaScript alone checks, where a value can have any type (`npm/frazil/src/base/package-rules.ts`).

macro_rules! rules {
    ($($(#[$when:meta])? $variant:ident = $number:literal, $template:literal $(, $hint:literal)?;)+) => {
        /// The rule that bad input broke. `{min}` and `{max}` stand for the error's two numbers, and `{kind}` for the kind of its IDs.
        ///
        /// ```
        /// use frazil::error::Rule;
        /// assert_eq!(Rule::IdRange.template(), "must be an ID from 0 to {max}");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Rule { $($(#[$when])? #[doc = concat!("\"", $template, "\"")] $variant = $number,)+ }

        impl Rule {
            /// Every rule, in the order of its number.
            pub const ALL: &'static [Self] = &[$($(#[$when])? Self::$variant,)+];

            /// Their names, in the same order.
            #[cfg(feature = "abi")]
            pub(crate) const NAMES: &'static [&'static str] = &[$($(#[$when])? stringify!($variant),)+];

            /// The text of the rule, with `{min}` and `{max}` still to be filled in.
            #[must_use]
            pub const fn template(self) -> &'static str { match self { $($(#[$when])? Self::$variant => $template,)+ } }

            /// What to do about it; empty if the rule says it all.
            ///
            /// ```
            /// assert_eq!(frazil::error::Rule::NotSeconds.hint(), "Is it in seconds?");
            /// ```
            #[must_use]
            pub const fn hint(self) -> &'static str { match self { $($(#[$when])? Self::$variant => concat!($($hint)?),)+ } }
        }
    };
}

rules! {
    None = 0, "";
    WholeNumber = 1, "must be an integer from {min} to {max}";
    OneTime = 2, "must have one time field";
    OneSequence = 3, "must have one sequence field";
    OneClock = 4, "must have at most one clock field";
    NodeWidth = 5, "must have node fields of at most {max} bits in total";
    Width = 6, "must have at most {max} bits in total", "A layout has at most 63 bits, or 64 with unsigned: true.";
    LastTick = 7, "must have a last tick that a Date can hold (8640000000000000 ms)";
    DistinctNames = 8, "must differ from the names of the other node fields", "A node field without a name is called \"node\".";
    NameSyntax = 9, "must be a letter and at most 31 letters, digits, - or _";
    NameOnlyNode = 10, "must be left out", "Only node fields have names.";
    KnownLayout = 11, "must be the name of a layout";
    NodeNone = 12, "must be \"none\", since this layout has no node field", "Such a layout allows only one generator.";
    NodeNotNone = 13, "must be a node id", "\"none\" is for layouts without a node field.";
    PartNames = 14, "must name all parts of the node id";
    FieldMissing = 15, "must be given, since the layout has this field";
    FieldAbsent = 16, "must be left out, since the layout does not have this field";
    FieldAbove = 17, "must be given, since it lies above the time";
    FieldBelow = 18, "must be left out, since it lies below the time";
    NothingUnordered = 19, "IDs are not ordered by time", "Compare the times of the IDs instead.";
    TickStart = 20, "must be the first millisecond of a tick of {min} ms";
    TimeRange = 21, "must be whole Unix milliseconds from {min} to {max}";
    IdRange = 22, "must be an ID from 0 to {max}";
    IdText = 23, "must be decimal digits, without sign, spaces, leading zeros or n";
    StaticLead = 24, "must be at most {max} with a static node id";
    NoStartLead = 25, "must be 0, since the start of the process is unknown here";
    FiniteClock = 26, "must be a finite number of Unix milliseconds";
    OneStart = 27, "another generator for this layout and node id already uses a different sequenceStart", "Use one value for all. The default is \"zero\".";
    StartKey = 28, "must come with a key, since none can be drawn here";
    TextLength = 29, "must have {max} characters";
    TextShort = 30, "must have 1 to {max} characters";
    TextZeros = 31, "must not begin with the form's digit for zero";
    TextHex = 32, "must have only the digits 0-9 and a-f, in lower case";
    TextBase32 = 33, "must have only the digits 0-9 and A-Z without I, L, O and U, in upper case";
    TextBase58 = 34, "must have only the digits 1-9, A-Z and a-z without I, O and l";
    TextBase62 = 35, "must have only the digits 0-9, A-Z and a-z";
    APath = 36, "must be a path";
    OneKind = 37, "this layout and node id already have a generator of another kind in this process", "Static generators, Snowflake.local() and leases share no state: give each kind its own node ids.";
    WindowTicks = 38, "must be an integer from {min} (three ticks) to {max}";
    LeaseTimes = 39, "must begin and end at whole Unix milliseconds, and end after it begins";
    SegmentRange = 40, "must have a range of at least one number, within 0 to 9223372036854775806";
    SegmentAbove = 41, "must have a range above the numbers that were granted before", "The counter of the store went back. Was it restored or reset?";
    EpochMoves = 42, "must be a constant", "An epoch taken from the clock moves with each start, and the IDs repeat. Write it as a number.";
    TextBase36 = 43, "must have only the digits 0-9 and a-z, in lower case";
    TextCrockford = 44, "must have only the digits 0-9 and A-Z without U, in either case";
    TextBase64Url = 45, "must have only the digits A-Z, a-z, 0-9, - and _";
    TextBase64UrlEnd = 46, "must end with one of AEIMQUYcgkosw048", "The last digit has four bits, and then two zeros.";
    TextAlphabet = 47, "must have only the digits of the form's alphabet";
    FromAfterTo = 48, "must not be after to, which is {max}";
    NotSeconds = 49, "must be Unix milliseconds", "Is it in seconds?";
    WindowLength = 50, "must be an integer from {min} to {max} (ms)", "A window has at least a second, and at least three ticks.";
    // Only for the calls of the bindings.
    #[cfg(feature = "abi")]
    NodeGiven = 51, "must be given", "One machine: Snowflake.local(). Several: await lease(store), or number the processes. Workers: await leased(env.FRAZIL, ctx).";
    #[cfg(feature = "abi")]
    CountReach = 52, "must be at most {max}", "The lead and the wait (maxWaitMs, or maxAsyncWaitMs with await) give no more at once.";
    #[cfg(feature = "abi")]
    KnownStart = 53, "must be \"zero\", \"random\" or \"wrap\"";
    KeyText = 54, "must be a key of `npx frazil key new`, or 16 random bytes", "Passphrases, hexadecimal and base64 are refused.";
    KeyChecksum = 55, "must have the checksum of its digits", "Was a character lost or changed?";
    KindSyntax = 56, "must have 1 to 63 of a-z and _, with a letter at each end";
    SealedText = 57, "must be made with a key of {kind}, for this layout", "Texts open only as long as their key is kept.";
    ShortSlot = 58, "must have the slot of a key", "Each slot has its own key.";
    KeyFilled = 59, "must be random, and all its bytes are equal", "Was it never filled? Make a key: npx frazil key new.";
    KeyCount = 60, "must be a list of 1 to 16 keys", "Make a key: npx frazil key new.";
    OtherKey = 61, "must differ from the other keys";
    OtherSlot = 62, "must differ from the other slots";
}
