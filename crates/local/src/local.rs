//! Opening: from options to a generator on a state file.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};
use std::thread::sleep;
use std::time::Duration;

use frazil::page::{LocalRequest, LocalState, is_scope};
use frazil::{
    Claim, Code, DEFAULT_SCOPE, Error, Generator, Keeper, Layout, Machine, Node, Rule, SequenceStart, StateFile, Subject,
};

use crate::attachment::{Attachment, lock};
use crate::fault::Fault;
use crate::host;
use crate::opening::OpenedBlind;
use crate::target::Target;

/// How long a start may wait for the first ID.
const START_WAIT_MS: u64 = 3500;

/// The files that this process has open, or had while another file of their name was in use. A second generator of a file
/// shares its attachment. The table is locked for a look only; each file has a lock of its own, which is held while it is
/// opened.
static FILES: Mutex<BTreeMap<PathBuf, Arc<Mutex<Known>>>> = Mutex::new(BTreeMap::new());

/// What this process knows of a file.
#[derive(Debug, Default)]
struct Known {
    attachment: Weak<Attachment>,
    blind: OpenedBlind,
}

/// What a generator of this machine is made with. Everything has a default.
///
/// ```
/// let options = frazil_local::LocalOptions::default();
/// assert_eq!((options.dir, options.start_wait_ms), (None, None));
/// ```
#[derive(Clone, Debug, Default)]
pub struct LocalOptions<'a> {
    /// The directory of the state file, which is made where it is missing. Default: `frazil` in `$STATE_DIRECTORY` (systemd),
    /// in `$XDG_STATE_HOME`, or in `~/.local/state`.
    pub dir: Option<PathBuf>,
    /// The node id. Default: 0, which is right where IDs of this machine never meet those of another.
    pub node: Option<Node<'a>>,
    /// The name of the ID space, a letter and at most 31 letters, digits, `-` or `_`. IDs of different scopes may be equal.
    /// Default: `default`.
    pub scope: Option<String>,
    /// How many milliseconds the generator may run ahead of the clock, 0 to 1000. Default: 1000.
    pub max_lead_ms: Option<u64>,
    /// Where the sequence starts in a new tick. All generators that have the file open must ask for the same.
    pub sequence_start: SequenceStart,
    /// How long opening may wait for the first ID, in milliseconds. Default: 3500.
    pub start_wait_ms: Option<u64>,
    /// A file system that is not known to be sound, by the name that the refusal gives it: your word that only this machine
    /// uses it, that it can be mapped, and that what was flushed there lasts.
    pub file_system: Option<String>,
}

/// A generator whose IDs never repeat on this machine.
///
/// This type is:
///
/// * **A [`Generator`]**: it has all its methods, and is as lock-free.
/// * **Shared** with every other one of its directory, scope, layout and node id, in all processes of the machine.
/// * **Durable**: crashes, power loss and a clock that is set back repeat nothing.
///
/// It shares no state with a generator of a [`Registry`](frazil::Registry). So with one layout and node id, and no scope of its
/// own, the one of the two that a process opens second is `STATE_CONFLICT`.
///
/// Do not keep one across `fork`: a child that mints is answered `CLOSED` when the window is over. Open it in the child.
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
    /// Opens the state file, which is made where there is none, and waits until the first ID can be minted.
    ///
    /// # Errors
    /// * `NODE_REQUIRED` without a node id where the environment shows an orchestrator; `INVALID_NODE`; `INVALID_OPTION`.
    /// * `CLOCK_BACKWARD` with the milliseconds to wait where that is more than `start_wait_ms`; `CLOCK_BEFORE_EPOCH`.
    /// * `UNSUPPORTED_FILE_SYSTEM`, `STATE_FILE_CORRUPT`, `STATE_FILE_AHEAD`, `STATE_FILE_FAILED`: the [`Fault`] says which file
    ///   and what to do. `STATE_CONFLICT` where the file is in use with another `sequence_start`, and where a registry of this
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
        let LocalOptions { dir, node, scope, max_lead_ms, sequence_start, start_wait_ms, file_system } = options;
        let has_node = layout.join_node(Node::None).is_err();
        let default = if has_node { Node::Id(0) } else { Node::None };
        let machine = Machine::with_max_lead(layout, node.unwrap_or(default), max_lead_ms)?;
        let claim = Claim::kept(&machine, scope.as_deref())?;
        let order = Order { machine, node_missing: node.is_none(), sequence_start, dir, scope, file_system, start_wait_ms };
        let (attachment, wait_ms) = order.attach()?;
        claim.confirm();
        sleep(Duration::from_millis(wait_ms));
        let keeper: Arc<dyn Keeper> = Arc::<Attachment>::clone(&attachment);
        let generator = Generator::kept(layout, node.unwrap_or(default), max_lead_ms, keeper)?;
        Ok(Self { generator, attachment })
    }

    /// The state file: where it is, how far it is reserved, who is attached.
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil_local::{Local, LocalOptions};
    /// # let dir = std::env::temp_dir().join(format!("frazil-doc-file-{}", std::process::id()));
    /// let ids = Local::open(&Layout::named("default")?, LocalOptions { dir: Some(dir.clone()), ..LocalOptions::default() })?;
    /// let file = ids.file();
    /// assert!(file.path.ends_with("-0.frazil"));
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

/// Does what `Snowflake.local()` asks the core for. The caller has claimed the layout and node id ([`Claim`]).
///
/// # Errors
/// As [`Local::open`].
///
/// ```
/// use frazil::Code;
/// use frazil::page::{Handles, Page};
/// let (mut handles, mut page) = (Handles::new(), Page::new());
/// let status = handles.local(&mut page, |request| Ok(frazil_local::attach(request)?));
/// assert_eq!(status, Code::InvalidLayout as u32); // a page of zeros is no layout
/// ```
pub fn attach(request: LocalRequest) -> Result<LocalState, Fault> {
    let LocalRequest { machine, node_missing, sequence_start, dir, scope, file_system, start_wait_ms, .. } = request;
    let dir = dir.map(PathBuf::from);
    let order = Order { machine, node_missing, sequence_start, dir, scope, file_system, start_wait_ms };
    let (keeper, wait_ms) = order.attach()?;
    Ok(LocalState { keeper, wait_ms })
}

/// What both ways of opening come to.
struct Order {
    machine: Machine,
    node_missing: bool,
    sequence_start: SequenceStart,
    dir: Option<PathBuf>,
    scope: Option<String>,
    file_system: Option<String>,
    start_wait_ms: Option<u64>,
}

impl Order {
    fn attach(self) -> Result<(Arc<Attachment>, u64), Fault> {
        if self.node_missing
            && let Some((variable, orchestrator)) = host::orchestrator()
        {
            let text = format!(
                "node must be given: the variable {variable} shows that {orchestrator} runs this process, and every other machine or \
                 container without a node would mint the same IDs. Number them and pass node (for a layout without a node field \
                 \"none\", your word that there is one machine)"
            );
            return Err(Fault::new(Code::NodeRequired, Subject::Node, text));
        }
        let start_wait_ms = self.start_wait_ms.unwrap_or(START_WAIT_MS);
        let epoch_ms = self.machine.tick_from(0);
        let target = self.target()?;
        // No state can begin there, and none may learn from such a clock what time it is.
        if host::wall_ms() < epoch_ms {
            return Err(Error::with_subject(Code::ClockBeforeEpoch, Subject::Generator).into());
        }
        let (attachment, wait_ms) = shared(&target, start_wait_ms)?;
        if wait_ms > start_wait_ms {
            return Err(Error::retry_after(Code::ClockBackward, wait_ms).into());
        }
        Ok((attachment, wait_ms))
    }

    fn target(self) -> Result<Target, Fault> {
        let invalid = |subject, rule| Error::bad_input(Code::InvalidOption, subject, rule);
        let scope = self.scope.unwrap_or_else(|| DEFAULT_SCOPE.to_owned());
        if !is_scope(&scope) {
            return Err(invalid(Subject::Scope, Rule::NameSyntax).into());
        }
        let dir = match self.dir {
            Some(dir) if dir.as_os_str().is_empty() || dir.as_os_str().as_encoded_bytes().contains(&0) => {
                return Err(invalid(Subject::Dir, Rule::APath).into());
            }
            Some(dir) => dir,
            None => host::default_dir().ok_or_else(|| {
                let text = "dir must be given: there is no home directory here (HOME), nor STATE_DIRECTORY or XDG_STATE_HOME";
                Fault::new(Code::InvalidOption, Subject::Dir, text.to_owned())
            })?,
        };
        let dir = std::path::absolute(&dir).map_err(|cause| Fault::failed(&dir, "found", &cause))?;
        Ok(Target::new(&dir, scope, self.machine, self.sequence_start, self.file_system))
    }
}

/// The attachment of a file: the one that this process has, or a new one.
fn shared(target: &Target, start_wait_ms: u64) -> Result<(Arc<Attachment>, u64), Fault> {
    let known = {
        let mut files = lock(&FILES);
        // What nobody uses or opens, and nothing is remembered of.
        files.retain(|_, known| {
            Arc::strong_count(known) > 1
                || known.try_lock().is_ok_and(|known| known.attachment.strong_count() > 0 || known.blind.is_some())
        });
        Arc::clone(files.entry(target.path().to_owned()).or_default())
    };
    let mut known = lock(&known);
    let open = known.attachment.upgrade();
    if let Some(attachment) = open.filter(|attachment| attachment.current() && attachment.start() == target.sequence_start) {
        let wait_ms = attachment.wait_ms()?;
        return Ok((attachment, wait_ms));
    }
    let (attachment, wait_ms) = Attachment::open(target, start_wait_ms, &mut known.blind)?;
    let attachment = Arc::new(attachment);
    known.attachment = Arc::downgrade(&attachment);
    Ok((attachment, wait_ms))
}
