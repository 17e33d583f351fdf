//! States that are kept outside a registry, and the trait of their keepers.
//!
//! With the feature `std` a state can lie in memory that a [`Keeper`] provides and that processes may share. It has the same word
//! and cells as any state, and a window whose end the keeper moves: a state file. `state.rs` says how a kept state is closed and begun
//! anew.
//!
//! * **No lock, no wait on the minting path**: the generator calls [`Keeper::extend`] only when the window is over.
//! * Not covered: where the memory comes from, and what makes the end of the window durable. `crates/local` does that for files.

use alloc::string::String;
use alloc::sync::Arc as KeeperArc;
use core::any::Any;

use super::state::{State, StateAtomics};
use super::sync::{Arc, AtomicU64};
use crate::error::{Error, Result};

/// Keeps a state: provides its memory and extends its window.
///
/// The end of the window only grows: most calls of [`Generator::next`](crate::Generator::next) do not look at it. To end a state before its
/// window is over, a keeper closes it: besides the window, it sets the word to all ones. No call in progress has read that, so none can
/// swap it. From then on [`Keeper::is_given_up`] is true.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use frazil::{Clock, Generator, Layout, Node, Result};
/// use frazil::clock::ManualClock;
/// use frazil::mint::{StateAtomics, Keeper, SequenceStart};
///
/// /// Grants a second at a time. A real keeper would store the end durably first.
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
    /// The state. Every call must return the same atomics.
    fn atomics(&self) -> StateAtomics<'_>;

    /// The word and the origin of [`Keeper::atomics`]: all that most calls for one ID need.
    fn word_and_origin(&self) -> (&AtomicU64, &AtomicU64) {
        let StateAtomics { word, origin, .. } = self.atomics();
        (word, origin)
    }

    /// An owner that keeps the memory of [`Keeper::atomics`] readable and writable after the keeper is dropped, which first closes the
    /// state. `None` if there is none.
    fn memory(&self) -> Option<KeeperArc<dyn Any + Send + Sync>> {
        None
    }

    /// Extends the window to `until_ms` or further, or as far as possible. Returns the time to continue with: `now_ms`, the clock reading,
    /// or a time that the keeper trusts instead. Any thread may call this, and only when the window is over.
    ///
    /// # Errors
    /// If the window cannot be extended.
    fn extend(&self, until_ms: u64, now_ms: u64) -> Result<u64>;

    /// The obstacle that a call at `now_ms` would wait for, if another thread or process is extending the window and does not finish.
    /// [`Generator::health`](crate::Generator::health) asks, when the window is over or the state was given up.
    fn obstacle(&self, now_ms: u64) -> Option<Error> {
        let _ = now_ms;
        None
    }

    /// Whether the keeper has ended the state before its window was over. Then a call that finds it closed asks [`Keeper::extend`] why.
    fn is_given_up(&self) -> bool {
        false
    }

    /// The reason why nothing more will be issued, if that is certain.
    fn fault(&self) -> Option<Error> {
        None
    }

    /// The details of [`Keeper::fault`]: a message that names the place, and what to do in its last line.
    fn explain(&self) -> Option<String> {
        None
    }

    /// The file that holds the state, if there is one.
    fn file(&self) -> Option<StateFile> {
        None
    }
}

/// The file that holds a state.
///
/// ```
/// let file = frazil::mint::StateFile::new("/var/lib/shop/default.frazil", "ext4");
/// assert_eq!((file.path.as_str(), file.attached), ("/var/lib/shop/default.frazil", None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateFile {
    /// Its path.
    pub path: String,
    /// The kind of file system that holds it.
    pub file_system: String,
    /// The time up to which IDs are reserved on disk, in Unix milliseconds. Nothing at or after it has been issued.
    pub ceiling_ms: u64,
    /// The number of attachments, including this one; `None` if the platform cannot tell.
    pub attached: Option<u64>,
    /// The number of times that this process raised the ceiling.
    pub raises: u64,
    /// How far the clock is ahead of the time that is trusted instead, in milliseconds; 0 if the clock is trusted.
    pub distrusted_ms: u64,
    /// Whether the mapped state is locked in memory. If it is, the kernel cannot drop a page that it failed to write back, and then read an
    /// older one from disk.
    pub locked: bool,
    /// Whether a directory above it is unreadable, so that another file of this name could be in use unnoticed.
    pub blind: bool,
}

impl StateFile {
    /// A file whose path and file system alone are known.
    #[must_use]
    pub fn new(path: impl Into<String>, file_system: impl Into<String>) -> Self {
        let (path, file_system) = (path.into(), file_system.into());
        Self { path, file_system, ceiling_ms: 0, attached: None, raises: 0, distrusted_ms: 0, locked: false, blind: false }
    }
}

/// A reference to the state of a generator: in this process, or with a keeper.
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
