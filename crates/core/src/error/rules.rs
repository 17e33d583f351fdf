//! The table of rules: the sentences that bad input breaks.

macro_rules! rules {
    ($($variant:ident = $number:literal, $template:literal;)+) => {
        /// The sentence that bad input broke. `{min}` and `{max}` stand for the error's two numbers. Some rules can be broken in
        /// JavaScript only, where a value can have any type.
        ///
        /// ```
        /// use frazil::error::Rule;
        /// assert_eq!(Rule::IdRange.template(), "must be an ID from 0 to {max}");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Rule { $(#[doc = concat!("\"", $template, "\"")] $variant = $number,)+ }

        impl Rule {
            /// Every rule, in the order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Their names, in the same order.
            #[cfg(feature = "abi")]
            pub(crate) const NAMES: &'static [&'static str] = &[$(stringify!($variant),)+];

            /// The sentence, with `{min}` and `{max}` still to be filled in.
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
    Width = 6, "must have at most {max} bits together (64 with unsigned: true)";
    LastTick = 7, "must have a last tick that a Date can hold (8640000000000000 ms)";
    DistinctNames = 8, "must be a name that no other node field has (without a name it is \"node\")";
    NameSyntax = 9, "must be a letter and at most 31 letters, digits, - or _";
    NameOnlyNode = 10, "must be left out: only node fields have names";
    KnownKind = 11, "must be time, node, clock or sequence";
    KnownLayout = 12, "must be the name of a layout";
    KnownKey = 13, "must be a name that is known here";
    AnObject = 14, "must be a plain object";
    TrueOrFalse = 15, "must be true or false";
    NodeNone = 16, "must be \"none\": this layout has no node field, so there must be only one generator";
    NodeNotNone = 17, "must be a node id: \"none\" is for layouts without a node field";
    NodeGiven = 18, "must be given. One machine: Snowflake.local(). Several: await lease(store), or number the machines. Workers: await leased(env.FRAZIL, ctx)";
    PartNames = 19, "must name all parts of the node id";
    FieldMissing = 20, "must be given: the layout has it";
    FieldAbsent = 21, "must be left out: the layout does not have it";
    FieldAbove = 22, "must be given: it lies above the time";
    FieldBelow = 23, "must be left out: it lies below the time";
    NothingUnordered = 24, "must not lie above the time";
    TickStart = 25, "must be the first millisecond of a tick ({min} ms long)";
    TimeRange = 26, "must be whole Unix milliseconds from {min} to {max}";
    IdRange = 27, "must be an ID from 0 to {max}";
    IdText = 28, "must be digits without sign, blanks, leading zeros or n";
    IdInput = 29, "must be a bigint, digits or a number below 2^53";
    IdArray = 30, "must be a BigUint64Array";
    IdColumn = 31, "must be a BigUint64Array, such as BigUint64Array.from(ids), or up to 63 bits a BigInt64Array";
    CountReach = 32, "must be at most {max}: the full lead and the full wait (maxWaitMs; of asynchronous calls maxAsyncWaitMs) give no more";
    StaticLead = 33, "must be at most {max} with a static node id";
    NoStartLead = 34, "must be 0 where the start of the process is unknown: nothing else bounds its predecessor";
    FiniteClock = 35, "must be a finite number of Unix milliseconds";
    KnownStart = 36, "must be \"zero\", \"random\" or \"wrap\"";
    Function = 37, "must be a function";
    ASignal = 38, "must be an AbortSignal";
    OneStart = 39, "must be that of the generators of this layout and node id here, which is \"zero\" if they were given none";
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
    OneKind = 54, "must not have generators of two kinds in a process (static, Snowflake.local(), a lease), which share no state: give each kind node ids of its own";
    TargetLost = 55, "must stay as long as it was, and not be transferred, until it is full";
    NodeLeftOut = 56, "must be a node id, or left out: then it is the last one of the layout, for IDs that stay on this machine";
    WindowTicks = 57, "must be a whole number from {min} (three ticks) to {max}";
    LeaseTimes = 58, "must have times in whole Unix milliseconds, and end after it begins";
    AStore = 59, "must be a lease store, such as new PostgresStore(pool)";
    WindowMax = 60, "must be at most {max}, the longest window of the scope (init({ windowMaxMs }))";
    IdTime = 61, "must be \"wall\" or \"store\"";
    ShortText = 62, "must be a text of 1 to {max} characters";
    SameGrant = 63, "must be that of the request";
    Renewal = 64, "must be \"timer\" or \"calls\"";
    SegmentRange = 65, "must have a range of numbers from 0 to 9223372036854775806, one at least";
    SegmentAbove = 66, "must have a range above the numbers that were granted before: the counter of the store went back";
    ASegmentStore = 67, "must be a store of segments, such as new PostgresStore(pool)";
    KnownFreshness = 68, "must be \"call\" or \"turn\"";
    Columns = 69, "must be as decodeMany makes it, for {min} IDs and in own memory, or absent";
    EpochMoves = 70, "must be a constant: an epoch that a program takes from its clock moves with each start, and the IDs repeat";
    NumberWidth = 71, "must have at most {max} bits, as many as a number holds exactly: use nextString(), or the layout safe53";
    FieldList = 72, "must be a list, such as [{ kind: \"time\", bits: 41 }, …]";
    TextBase36 = 73, "must have only the digits 0-9 and a-z, in lower case";
    TextCrockford = 74, "must have only the digits 0-9 and A-Z without U, in either case";
    TextBase64Url = 75, "must have only the digits A-Z, a-z, 0-9, - and _";
    TextBase64UrlEnd = 76, "must end with one of AEIMQUYcgkosw048: the last digit has four bits, and then two zeros";
    TextAlphabet = 77, "must have only the digits of the form's alphabet";
    Alphabet = 78, "must be 2 to 94 different printable characters of ASCII, without blanks";
    TextRoom = 79, "must be a Uint8Array of {min} bytes or more, the width for each ID, in other memory than theirs";
    FromAfterTo = 80, "must not be after to, which is {max}";
    NotSeconds = 81, "must be Unix milliseconds: is it in seconds?";
    TargetArray = 82, "must be a BigUint64Array, such as new BigUint64Array(3); for a list use nextMany(3)";
    WindowLength = 83, "must be a whole number of milliseconds from {min} (a second, and three ticks) to {max}";
}
