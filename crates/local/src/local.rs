//! The public API: options, the generator on a state file, and what `Snowflake.local()` calls.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use frazil::abi::{LocalRequest, LocalState};
use frazil::mint::{Keeper, Machine, Registration, SequenceStart, StateFile};
use frazil::{Generator, Layout, Node};

use crate::attachment::Attachment;
use crate::fault::Fault;
use crate::open_request::OpenRequest;

/// The options of a [`Local`]. Each option has a default.
///
/// ```
/// let options = frazil_local::LocalOptions::default();
/// assert_eq!((options.dir, options.start_wait_ms), (None, None));
/// ```
#[derive(Clone, Debug, Default)]
pub struct LocalOptions<'a> {
    /// The directory of the state file. It is made if it is missing. Default: `frazil` in `$STATE_DIRECTORY` (systemd), in
    /// `$XDG_STATE_HOME`, or in `~/.local/state`. Each user has another default, so programs of several users need one `dir`, which those
    /// who may make files in it share.
    pub dir: Option<PathBuf>,
    /// The node id. Default: [`Layout::local_node`], the last one of the layout, which is right if IDs of this machine never meet another
    /// machine's.
    pub node: Option<Node<'a>>,
    /// The name of the ID space, a letter and at most 31 letters, digits, `-` or `_`. IDs of different scopes may be equal.
    /// Default: `default`.
    pub scope: Option<String>,
    /// How many milliseconds the generator may run ahead of the clock, 0 to 1000. Default: 1000.
    pub max_lead_ms: Option<u64>,
    /// Where the sequence starts in a new tick. All generators that have the file open need the same value.
    pub sequence_start: SequenceStart,
    /// How long opening may wait, for others that are attaching and for the first ID together, in milliseconds. Default: 3500.
    pub start_wait_ms: Option<u64>,
    /// The name of a file system that frazil does not know to be safe, as the refusal gives it. By passing it the caller confirms
    /// that only this machine uses the file system, that it can be mapped, and that flushed data lasts.
    pub file_system: Option<String>,
    /// Accepts a platform on which state files are not proven, where the opening is refused otherwise. Set it for that platform
    /// alone: `cfg!(target_os = "macos")`.
    pub accept_unproven_platform: bool,
}

/// A generator whose IDs never repeat on this machine among the programs of one user, or of all users who give one `dir`.
///
/// This type is:
///
/// * **A [`Generator`]**: it has the same methods and is as lock-free.
/// * **Shared** with all others of the same directory, scope, layout and node id, in all processes of the machine. The default
///   directory belongs to one user.
/// * **Durable**: crashes, power loss and a clock that is set back repeat nothing.
///
/// It shares no state with a generator of a [`Registry`](frazil::Registry). So if a process opens both kinds with one layout and
/// node id and the default scope, the second one is refused with `STATE_CONFLICT`.
///
/// Do not use it across `fork`: a child gets `CLOSED` when the window is over. Open a new one in the child.
///
/// ```
/// use frazil::{Layout, SystemClock};
/// use frazil_local::{Local, LocalOptions};
/// let dir = std::env::temp_dir().join(format!("frazil-doc-{}", std::process::id()));
/// let ids = Local::open(&Layout::named("default")?, LocalOptions { dir: Some(dir.clone()), ..LocalOptions::default() })?;
/// let (first, second) = (ids.next(&SystemClock)?, ids.next(&SystemClock)?);
/// assert!(first < second);
/// # drop(ids);
/// # std::fs::remove_dir_all(dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Local {
    generator: Generator,
    attachment: Arc<Attachment>,
}

impl Local {
    /// Opens the state file, makes it if there is none, and waits until the first ID can be minted.
    ///
    /// # Errors
    /// * `UNPROVEN_PLATFORM` on a platform on which state files are not proven, unless `accept_unproven_platform` is true.
    /// * `NODE_REQUIRED` if no node id is given and the environment shows an orchestrator; `INVALID_NODE`; `INVALID_OPTION`.
    /// * `CLOCK_BACKWARD`, with the milliseconds to wait, if the wait is longer than `start_wait_ms`; `CLOCK_BEFORE_EPOCH`.
    /// * `UNSUPPORTED_FILE_SYSTEM`, `STATE_FILE_CORRUPT`, `STATE_FILE_AHEAD`, `STATE_FILE_FAILED`: the [`Fault`] says which file
    ///   and what to do.
    /// * `STATE_CONFLICT` if the file is in use with another `sequence_start`, another file of its name is in use, or a registry of this
    ///   process has a state of the layout and node id.
    ///
    /// ```
    /// use frazil::{Code, Layout};
    /// use frazil_local::{Local, LocalOptions};
    /// let options = LocalOptions { dir: Some("/proc".into()), ..LocalOptions::default() };
    /// assert_eq!(Local::open(&Layout::named("default")?, options).unwrap_err().code(), Code::UnsupportedFileSystem);
    /// # Ok::<(), frazil::Error>(())
    /// ```
    pub fn open(layout: &Layout, options: LocalOptions<'_>) -> Result<Self, Fault> {
        let LocalOptions { dir, node, scope, max_lead_ms, sequence_start, start_wait_ms, file_system, accept_unproven_platform } =
            options;
        let given = node.unwrap_or(layout.local_node());
        let machine = Machine::with_max_lead(layout, given, max_lead_ms)?;
        let registration = Registration::kept(&machine, scope.as_deref())?;
        let request = OpenRequest {
            machine,
            node_missing: node.is_none(),
            sequence_start,
            dir,
            scope,
            file_system,
            start_wait_ms,
            accept_unproven_platform,
        };
        let (attachment, wait_ms) = request.attach()?;
        registration.confirm();
        sleep(Duration::from_millis(wait_ms));
        let keeper: Arc<dyn Keeper> = Arc::<Attachment>::clone(&attachment);
        let generator = Generator::kept(layout, given, max_lead_ms, keeper)?;
        Ok(Self { generator, attachment })
    }

    /// The state file: its path, its reserved time, the number of attached processes.
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil_local::{Local, LocalOptions};
    /// # let dir = std::env::temp_dir().join(format!("frazil-doc-file-{}", std::process::id()));
    /// let ids = Local::open(&Layout::named("default")?, LocalOptions { dir: Some(dir.clone()), ..LocalOptions::default() })?;
    /// let file = ids.file();
    /// assert!(file.path.ends_with("-1023.frazil"));
    /// assert_eq!(file.attached, Some(1));
    /// # drop(ids);
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn file(&self) -> StateFile {
        self.attachment.file().unwrap_or_else(|| StateFile::new("", ""))
    }
}

impl Deref for Local {
    type Target = Generator;

    fn deref(&self) -> &Generator {
        &self.generator
    }
}

/// Opens a state file for `Snowflake.local()`. The caller holds the [`Registration`] on the layout and node id.
///
/// # Errors
/// As [`Local::open`].
///
/// ```
/// use frazil::Code;
/// use frazil::abi::{Handles, Frame};
/// let (mut handles, mut frame) = (Handles::new(), Frame::new());
/// let status = handles.local(&mut frame, |request| Ok(frazil_local::attach(request)?));
/// assert_eq!(status, Code::InvalidLayout as u32); // a frame of zeros is no layout
/// ```
pub fn attach(request: LocalRequest) -> Result<LocalState, Fault> {
    let LocalRequest {
        machine,
        node_missing,
        sequence_start,
        dir,
        scope,
        file_system,
        start_wait_ms,
        accept_unproven_platform,
        ..
    } = request;
    let dir = dir.map(PathBuf::from);
    let request =
        OpenRequest { machine, node_missing, sequence_start, dir, scope, file_system, start_wait_ms, accept_unproven_platform };
    let (keeper, wait_ms) = request.attach()?;
    Ok(LocalState { keeper, wait_ms })
}
