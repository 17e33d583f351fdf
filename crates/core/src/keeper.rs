//! States that somebody else keeps.

use alloc::string::String;
#[cfg(feature = "std")]
use alloc::sync::Arc as KeeperArc;

use crate::error::{Error, Result};
use crate::state::{State, StateAtomics};
use crate::sync::Arc;

/// Who keeps a state: provides its memory, and extends its window.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use frazil::{StateAtomics, Clock, Generator, Keeper, Layout, ManualClock, Node, Result, SequenceStart};
///
/// /// Grants a second at a time, from what would be a durable mark.
/// #[derive(Debug, Default)]
/// struct Seconds { word: AtomicU64, origin: AtomicU64, until_ms: AtomicU64, key: [AtomicU64; 2] }
///
/// impl Keeper for Seconds {
///     fn atomics(&self) -> StateAtomics<'_> {
///         let Self { word, origin, until_ms, key } = self;
///         StateAtomics { word, origin, until_ms, key, start: SequenceStart::Zero, clocks: &[] }
///     }
///     fn extend(&self, until_ms: u64, now_ms: u64) -> Result<u64> {
///         self.until_ms.fetch_max(until_ms.max(now_ms + 1000), Relaxed);
///         Ok(now_ms)
///     }
/// }
///
/// let seconds = Arc::new(Seconds::default());
/// let ids = Generator::kept(&Layout::named("default")?, Node::Id(7), Some(10), seconds.clone())?;
/// assert_eq!(ids.next(&ManualClock::new(1_704_067_200_001))?, 4_222_976);
/// assert_eq!(seconds.until_ms.load(Relaxed), 1_704_067_201_001);
/// # Ok::<(), frazil::Error>(())
/// ```
pub trait Keeper: core::fmt::Debug + Send + Sync {
    /// The state. Always the same.
    fn atomics(&self) -> StateAtomics<'_>;

    /// Extends the window to `until_ms` at least, or to where it can be, and returns the time to go on with: `now_ms`, which
    /// the clock shows, or another that the keeper believes instead. Called by any thread, and only when the window is over.
    ///
    /// # Errors
    /// Where the window cannot be extended.
    fn extend(&self, until_ms: u64, now_ms: u64) -> Result<u64>;

    /// Why nothing will be issued any more, where that is certain.
    fn fault(&self) -> Option<Error> {
        None
    }

    /// What [`Keeper::fault`] does not say: where, and what to do.
    fn explain(&self) -> Option<String> {
        None
    }

    /// The file in which the state is kept, where there is one.
    fn file(&self) -> Option<StateFile> {
        None
    }
}

/// The file in which a state is kept.
///
/// ```
/// let file = frazil::StateFile::new("/var/lib/shop/default.frazil", "ext4");
/// assert_eq!((file.path.as_str(), file.attached), ("/var/lib/shop/default.frazil", None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateFile {
    /// Where it is.
    pub path: String,
    /// The kind of file system that holds it.
    pub file_system: String,
    /// What has been reserved on disk, in Unix milliseconds: nothing from there on has been issued.
    pub ceiling_ms: u64,
    /// How many are attached to it, this one included; `None` where that cannot be told.
    pub attached: Option<u64>,
    /// How often this process raised the ceiling.
    pub raises: u64,
    /// How far the clock is ahead of the time that is believed instead, in milliseconds; 0 where it is believed itself.
    pub distrusted_ms: u64,
    /// Whether the mapped state is locked in memory, so that a page that could not be written back is not read again as it was.
    pub locked: bool,
    /// Whether a directory above it may not be read, so that another file of its name could be in use unseen.
    pub blind: bool,
}

impl StateFile {
    /// A file that nothing is known of but where it is.
    ///
    /// ```
    /// assert_eq!(frazil::StateFile::new("a", "ext4").raises, 0);
    /// ```
    #[must_use]
    pub fn new(path: impl Into<String>, file_system: impl Into<String>) -> Self {
        let (path, file_system) = (path.into(), file_system.into());
        Self { path, file_system, ceiling_ms: 0, attached: None, raises: 0, distrusted_ms: 0, locked: false, blind: false }
    }
}

/// Where the state of a generator lies.
#[derive(Clone, Debug)]
pub(crate) enum StateRef {
    Own(Arc<State>),
    #[cfg(feature = "std")]
    Kept(KeeperArc<dyn Keeper>),
}

impl StateRef {
    pub(crate) fn atomics(&self) -> StateAtomics<'_> {
        match self {
            Self::Own(state) => state.atomics(),
            #[cfg(feature = "std")]
            Self::Kept(keeper) => keeper.atomics(),
        }
    }

    pub(crate) fn keeper(&self) -> Option<&dyn Keeper> {
        match self {
            Self::Own(_) => None,
            #[cfg(feature = "std")]
            Self::Kept(keeper) => Some(&**keeper),
        }
    }
}
