//! The mutants: one rule each that is not kept. The same checker must find each of them.

use crate::plan::Faults;

/// What the checker says of a holder whose renewal was refused for an attempt of its own.
pub(crate) const LOST_TO_ITSELF: &str = "loses its lease to an attempt of its own";
/// What it says of store time that counts no suspension.
pub(crate) const SUSPENDED: &str = "takes a time from the store that a suspension has made wrong";
/// What it says of a holder that does not renew its lease in time.
pub(crate) const EXPIRED: &str = "lets its lease expire, although its clock has been right for long";

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    // ------------------------------------------------------------------------------------------------------- late answers
    /// An answer that comes after its attempt was given up is taken for that of the attempt under way.
    LateAsInTime,
    /// The time in such an answer counts from when the store was asked last, and not from when it was asked for that answer.
    LateTimeOfAnother,
    // -------------------------------------------------------------------------------------------------------- the schedule
    /// A look at the schedule does not take note of a clock that went back.
    UnseenJump,
    // ------------------------------------------------------------------------------------------------------ the generator
    /// A lease by time to live: it is held for a window of monotonic time, and the times in IDs are not bounded.
    Ttl,
    /// Only the end of the window is kept, and its start is not.
    UpperOnly,
    /// Only the start of the window is kept, and its end is not.
    LowerOnly,
    /// The end of the window is the local clock when the answer came, and a window.
    LocalUntil,
    /// The window is rounded outwards to whole ticks.
    RoundedOutwards,
    /// The window is checked with one reading of the clock, and the ID has the next reading.
    CheckThenMint,
    /// The next request after a lease that ended has the grant of that lease.
    EndedGrantTaken,
    // --------------------------------------------------------------------------------------------------------- the driver
    /// The store hears of the release while the state is open.
    ReleaseBeforeClose,
    /// The node id is released from the time of the clock on, and not from the end of the largest tick that was used.
    ReleasedFromNow,
    /// The random bits come from a generator of the process, which a copy of the process has too.
    CopiedRandom,
    // ---------------------------------------------------------------------------------------------------------- the store
    /// The start of a window is not stored: a node id is granted for all times until the end.
    TtlRow,
    /// An acquisition is answered with any row that has its grant, also if that was renewed since.
    AcquiredByGrantAlone,
    /// A release compares the grant only, so a copy frees what the other one has renewed.
    ReleasedByAnyCopy,
    /// A renewal looks at neither the fence nor the incarnation.
    FenceOnAcquireOnly,
    /// A fence is not raised.
    NoFence,
    /// A window begins at the end of the one before, although the fence is later.
    FromBeforeTheFence,
    /// A renewal compares the grant only.
    NoNonce,
    /// A renewal sets the end of the window back if the clock went back.
    UntilLowered,
}

impl Defect {
    /// Whether it can show under these faults. Other seeds need not be run.
    pub(crate) const fn shows(self, faults: &Faults) -> bool {
        let loses = faults.restore || faults.failover;
        match self {
            Self::AcquiredByGrantAlone | Self::CopiedRandom | Self::NoNonce => faults.clone,
            Self::ReleasedByAnyCopy => faults.clone && faults.close,
            Self::ReleaseBeforeClose | Self::ReleasedFromNow => faults.close,
            Self::FenceOnAcquireOnly | Self::NoFence => loses,
            Self::FromBeforeTheFence => loses || faults.fence,
            Self::UntilLowered => faults.store_clock,
            Self::LateAsInTime => faults.loss && faults.pause && faults.orders_requests(),
            Self::UnseenJump => faults.jumps,
            Self::LateTimeOfAnother => faults.suspend && faults.shows_suspensions(),
            _ => true,
        }
    }

    /// What the checker says. An ID that repeats, unless the defect costs something else.
    pub(crate) const fn says(self) -> &'static str {
        match self {
            Self::LateAsInTime => LOST_TO_ITSELF,
            Self::LateTimeOfAnother => SUSPENDED,
            Self::UnseenJump => EXPIRED,
            _ => "repeats an ID",
        }
    }

    pub(crate) const ALL: [Self; 21] = [
        Self::LateAsInTime,
        Self::LateTimeOfAnother,
        Self::UnseenJump,
        Self::Ttl,
        Self::UpperOnly,
        Self::LowerOnly,
        Self::LocalUntil,
        Self::RoundedOutwards,
        Self::CheckThenMint,
        Self::EndedGrantTaken,
        Self::ReleaseBeforeClose,
        Self::ReleasedFromNow,
        Self::CopiedRandom,
        Self::TtlRow,
        Self::AcquiredByGrantAlone,
        Self::ReleasedByAnyCopy,
        Self::FenceOnAcquireOnly,
        Self::NoFence,
        Self::FromBeforeTheFence,
        Self::NoNonce,
        Self::UntilLowered,
    ];
}
