//! The mutants: a defect each, or a guarantee that is not given.

/// A defect. The search must find an ID that repeats because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    None,
    /// A holder mints whatever its clock shows, as long as its lease has not expired.
    Ttl,
    UpperBoundOnly,
    LowerBoundOnly,
    /// The window is compared with one reading of the clock, and another one is minted (Apache Polaris).
    CheckThenMint,
    /// The store hears of a release, and the holder goes on.
    ReleaseBeforeClose,
    /// A holder decides what to mint, closes and releases, and mints it (Apache Polaris).
    ReleaseBesideCalls,
    /// The store compares only the grant of a release. A copy of the holder may have renewed the lease.
    ReleaseByGrantAlone,
    NoFence,
    FenceOnAcquireOnly,
    FenceWithoutMargin,
    /// A lease whose window had ended when the fence was raised is renewed.
    EndedWindowRenewed,
    /// A row that is older than its holder knows is extended, and no fence raised.
    HealedWithoutFence,
    /// The store compares no nonce to renew a lease.
    NoNonce,
    /// Nor to answer an acquire again.
    AcquireByGrantAlone,
    /// Copies of a holder draw the same nonce.
    SharedNonce,
    /// A holder whose lease has ended asks for it again.
    EndedGrantAgain,
    /// The answer to a renewal has neither the node id nor the start.
    PartialAnswers,
    /// The grant is the next number of a counter in the store.
    CountedGrants,
    /// The grant is the name of the holder, which two processes share.
    SameOwner,
    /// An answer that comes after its attempt was given up is taken for that of the attempt under way.
    LateAsInTime,
    /// An answer that comes after its attempt was given up ends the nonce, also that of later attempts.
    LateIsLast,
    /// Guarantees that a copy of a holder repeats nothing, and that a store that went back unseen repeats nothing.
    NoExposure,
}
