//! The table of subjects: the options, arguments and fields that an error can be about.

macro_rules! subjects {
    ($($variant:ident = $number:literal, $name:literal;)+) => {
        /// The subject of an error, by its name in Rust; JavaScript spells it in camel case.
        ///
        /// ```
        /// use frazil::error::Subject;
        /// assert_eq!(Subject::EpochMs.name(), "epoch_ms");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Subject { $(#[doc = concat!("`", $name, "`")] $variant = $number,)+ }

        impl Subject {
            /// Every subject, in the order of its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name as it is spelt in Rust; empty for an error about no field in particular.
            #[must_use]
            pub const fn name(self) -> &'static str { match self { $(Self::$variant => $name,)+ } }
        }
    };
}

subjects! {
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
    WindowMs = 24, "window_ms";
    Lease = 25, "lease";
    Segment = 26, "segment";
    Step = 27, "step";
    MaxStep = 28, "max_step";
    GrowBelowMs = 29, "grow_below_ms";
    ShrinkAboveMs = 30, "shrink_above_ms";
    AcceptUnprovenPlatform = 31, "accept_unproven_platform";
    From = 32, "from";
    To = 33, "to";
    Key = 34, "key";
    Kind = 35, "kind";
    Slot = 36, "slot";
    Keys = 37, "keys";
}
