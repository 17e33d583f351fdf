//! The defects: one rule each that is not kept. loom must find each of them.

/// A defect of the copy of the loop, or of the copy of a state file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Another thread can see that a clock id was left before it can see when that clock id was last used.
    RaisedAfterTheSwap,
    RaisedTooLittle,
    NotRaised,
    RelaxedSwap,
    RelaxedLoad,
    /// The word that a failed swap returns is loaded without `Acquire`.
    RelaxedReload,
    StoredInsteadOfSwapped,
    /// The fast path: the word is stored instead of swapped.
    ShortStored,
    /// The fast path: the ID is that of the word, and the swap of a word that was read later.
    ShortReadTwice,
    /// The line: the word is stored instead of swapped.
    LineStored,
    /// The line: the start of the window is not compared after the swap.
    LineStartUnchecked,
    /// The line: its end is not.
    LineEndUnchecked,
    /// The fast path to a new tick: the word is stored instead of swapped.
    NewTickStored,
    /// The fast path to a new tick: an ID is issued even if the window has begun anew since it was read.
    NewTickStartNotRechecked,
    /// The fast path to a new tick: an ID is issued even if the window ends earlier than when it was read.
    NewTickEndNotRechecked,
    /// State file: a block is issued even if the state was begun anew between the reading of the window and the swap.
    WindowNotRechecked,
    /// The swap does not acquire the window that was stored before the word that it replaces.
    SwapWithoutAcquire,
    /// The end of the window is raised before the ceiling on the disk.
    RaisedBeforeTheDisk,
    /// Closing and beginning anew can happen between the two stores of an extension.
    ExtendedUnlocked,
    /// Closing lowers the end of the window instead of replacing the word.
    LoweredInsteadOfClosed,
    /// Closing does not see the cells of the clock ids that were left.
    RelaxedClose,
    /// Beginning anew stores the word before the window.
    WordBeforeWindow,
    /// Beginning anew stores the word without releasing the window.
    RelaxedWordStore,
}
