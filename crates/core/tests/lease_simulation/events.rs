//! What must sometimes happen: a simulation in which one of these never occurs checks less than it seems.

macro_rules! events {
    ($($event:ident = $name:literal,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Sometimes { $($event,)+ }

        impl Sometimes {
            pub(crate) const NAMES: &[&str] = &[$($name,)+];
        }
    };
}

events! {
    RenewedAfterExpiry = "a lease was renewed after its end, with the same node id",
    InFlightAtExpiry = "a call found the window over while a renewal was under way",
    LateAnswer = "an answer came after its lease had ended and another one was held",
    LateGrantTaken = "an answer came after its attempt was given up, and counted",
    LateDuringAnother = "an answer came after its attempt was given up, and counted while another one was under way",
    LateBegan = "a lease began with an answer that came after its attempt was given up",
    LateNonceKept = "an attempt had the nonce of the one that a late answer made superfluous",
    LateTime = "the time of the store came from an answer whose attempt was given up",
    OwnAttempt = "a renewal was carried out whose lease knows every attempt of its holder",
    SuspendedSinceAnswer = "a call of store time was refused after a suspension since the store answered",
    LateRefusal = "a refusal came after its attempt was given up",
    AnswerDoubled = "an answer came twice",
    AnswersReordered = "an answer came after a later one of the same lease",
    FenceDuringRenewal = "a fence was raised while a renewal was under way",
    Fenced = "a renewal was refused for a fence",
    GrantRedrawn = "a lease ended, and another grant was asked for",
    Declined = "a node id was given back, since the process uses it otherwise",
    BehindSeen = "a renewal found its row behind",
    BehindHealed = "a row that was behind was healed",
    EndedByTheStore = "the same grant came with another start or node id",
    CloneLost = "a copy, or the one it was made of, lost the lease",
    CloneRepeated = "a copy repeated an ID within the documented exposure",
    RestoreRepeated = "a restored store led to a repeated ID within the documented exposure",
    OverBeforeTheFirst = "a window was over before the first ID",
    StoreClockBack = "a renewal could not extend the window, since the store's clock went back",
    ExhaustedThenFreed = "all node ids were held, and then one was free",
    FencedAcquire = "an acquisition waited for a fence",
    ReleasedAndTaken = "a node id was released and granted again within its window",
    RetriedRenewal = "a retried renewal was known by its nonce",
    AcquiredAgain = "a retried acquisition was answered with its row",
    IncarnationThenRenewed = "a lease was renewed by another incarnation",
    RestoredAsOther = "a restored store was recognised by its incarnation",
    CallInHandIssued = "a call that was paused with its reading issued IDs afterwards",
    CallInHandRefused = "a call that was paused with its reading was refused afterwards",
    AnswerInHand = "an answer waited for a paused holder and then counted",
    Drifted = "store time was refused, since wall and monotonic time had drifted apart",
    JumpedAhead = "a clock, the only one of its holder, jumped ahead by more than the window and came back",
    AskedAhead = "a holder asked the store while its only clock was ahead by more than the window",
    LeaseLost = "a call was refused with LEASE_LOST",
    LeaseExpired = "a call was refused with LEASE_EXPIRED",
    ClockBackward = "a call was refused with CLOCK_BACKWARD",
    SequenceExhausted = "a call was refused with SEQUENCE_EXHAUSTED",
    TimeExhausted = "a call was refused with TIME_EXHAUSTED",
    Closed = "a call was refused with CLOSED",
    AnsweredAfterClose = "an answer came after the holder was closed",
    CloseWaited = "closing waited for the attempt under way",
    CloseGaveUp = "closing waited for the attempt under way in vain",
    CrashedInFlight = "a process crashed while it asked for a node id",
    LastTick = "an ID had the last tick of its window",
    FirstTick = "an ID had the first tick of its window",
    ClockFollowedBack = "IDs of one object went down, since the clock was followed back to another clock id",
    LostToALateRefusal = "a lease was lost to nobody, since a refusal counted that came after its attempt was given up",
    LostToALateRequest = "a lease was lost to nobody, since a request reached the store late or twice and its answer was lost",
}
