//! State files: `local`, `opened` and `file`.
//!
//! The core reads what `Snowflake.local()` asks for and reserves the layout and node id. A closure of the binding opens the file,
//! because the core does no I/O. That can take seconds, so it is a step of its own, without a lock, and on any thread:
//! [`LocalOpening`].

use alloc::string::String;
use alloc::sync::Arc;

use super::handles::{Handles, Minter};
use super::memory::Page;
use super::opening::MAX_WAIT_MS;
use super::slots::slot;
use crate::error::{Code, Error, Result, Subject};
use crate::mint::{Claim, Generator, Keeper, MAX_LEAD_MS, Machine, SequenceStart};

/// Whether a text can be the name of a scope. The rule is that for the names of node parts.
#[must_use]
pub fn is_scope(text: &str) -> bool {
    crate::layout::is_name(text)
}

/// What `Snowflake.local()` asks for. The core checks it; the binding opens the file.
#[derive(Debug)]
#[non_exhaustive]
pub struct LocalRequest {
    /// The layout, the node id ([`Layout::local_node`](crate::Layout::local_node) if none was given) and the lead.
    pub machine: Machine,
    /// Whether neither a node id nor `"none"` was given.
    pub node_missing: bool,
    /// Where the sequence starts.
    pub sequence_start: SequenceStart,
    /// The directory of the state file.
    pub dir: Option<String>,
    /// The name of the ID space.
    pub scope: Option<String>,
    /// The name of a file system that the caller declares safe.
    pub file_system: Option<String>,
    /// How long may pass before the first ID, in milliseconds.
    pub start_wait_ms: Option<u64>,
    /// Whether the caller accepts a platform on which state files are not proven.
    pub accept_unproven_platform: bool,
}

/// The answer to a [`LocalRequest`].
#[derive(Debug)]
pub struct LocalState {
    /// The keeper of the state.
    pub keeper: Arc<dyn Keeper>,
    /// How long it is until the first ID, in milliseconds.
    pub wait_ms: u64,
}

/// The opening of a state file, which can take seconds. It needs neither the handle table nor the page, so another thread can do
/// it.
///
/// ```
/// use frazil::abi::{LocalOpening, Page};
/// let refused = LocalOpening::of(&mut Page::new()); // a page of zeros is no layout, as Handles::opened will tell
/// drop(refused.attach(|_| unreachable!()));
/// ```
#[derive(Debug)]
#[must_use = "an opening that is dropped leaves nothing"]
pub struct LocalOpening(Result<(PendingOpen, LocalRequest)>);

/// The result of a [`LocalOpening`], for [`Handles::opened`].
#[derive(Debug)]
#[must_use = "what was opened is closed when it is dropped"]
pub struct LocalOpened(core::result::Result<(PendingOpen, LocalState), (Error, String)>);

/// What is known of a generator before its state is attached.
#[derive(Debug)]
struct PendingOpen {
    machine: Machine,
    claim: Claim,
    /// How long calls may wait. Kept here because other calls use the page in the meantime.
    waits: [f64; 2],
}

impl LocalOpening {
    /// Reads what a page asks for, and claims the layout and node id.
    pub fn of(page: &mut Page) -> Self {
        Self(Self::request(page).and_then(|request| {
            let claim = Claim::kept(&request.machine, request.scope.as_deref())?;
            let waits = [page.numbers[slot::MAX_WAIT_MS], page.numbers[slot::MAX_ASYNC_WAIT_MS]];
            Ok((PendingOpen { machine: request.machine, claim, waits }, request))
        }))
    }

    /// Attaches to the state. No lock of the core is held meanwhile.
    pub fn attach(self, attach: impl FnOnce(LocalRequest) -> core::result::Result<LocalState, (Error, String)>) -> LocalOpened {
        let pending = self.0.map_err(|error| (error, String::new()));
        LocalOpened(pending.and_then(|(pending, request)| Ok((pending, attach(request)?))))
    }

    /// Reads what the page asks for. Writes the wait limits in force.
    fn request(page: &mut Page) -> Result<LocalRequest> {
        let geometry = page.read_geometry()?;
        let node_missing = !page.flag(slot::HAS_NODE) && !page.flag(slot::NODE_NONE);
        let node = if node_missing { geometry.local_node() } else { page.read_node(&geometry)? };
        let max_lead_ms = page.optional_number(slot::HAS_MAX_LEAD_MS, slot::MAX_LEAD_MS, Subject::MaxLeadMs, MAX_LEAD_MS)?;
        let machine = Machine::from_geometry_with_max_lead(geometry, node, max_lead_ms)?;
        page.read_wait_limits()?;
        let start_wait_ms =
            page.optional_number(slot::HAS_START_WAIT_MS, slot::START_WAIT_MS, Subject::StartWaitMs, MAX_WAIT_MS)?;
        let sequence_start = page.read_sequence_start()?;
        let [dir, scope, file_system] = page.read_texts([
            (slot::DIR_BYTES, Subject::Dir),
            (slot::SCOPE_BYTES, Subject::Scope),
            (slot::FILE_SYSTEM_BYTES, Subject::FileSystem),
        ])?;
        let accept_unproven_platform = page.flag(slot::ACCEPT_UNPROVEN_PLATFORM);
        Ok(LocalRequest {
            machine,
            node_missing,
            sequence_start,
            dir,
            scope,
            file_system,
            start_wait_ms,
            accept_unproven_platform,
        })
    }
}

impl Handles {
    /// Opens a generator on a state that `attach` provides, as `Snowflake.local()` does. Writes what `open` writes, and how long
    /// it is until the first ID. The generator has a handle of its own until it is released. The layout and node id are claimed
    /// before `attach` is called, and no lock is held during the call.
    ///
    /// ```
    /// use frazil::abi::{Handles, Page};
    /// let (mut handles, mut page) = (Handles::new(), Page::new());
    /// let status = handles.local(&mut page, |_| unreachable!("a page of zeros is no layout"));
    /// assert_eq!(status, frazil::Code::InvalidLayout as u32);
    /// ```
    pub fn local(
        &mut self,
        page: &mut Page,
        attach: impl FnOnce(LocalRequest) -> core::result::Result<LocalState, (Error, String)>,
    ) -> u32 {
        let opening = LocalOpening::of(page);
        self.opened(page, opening.attach(attach))
    }

    /// The second half of a [`LocalOpening`]: writes what [`Handles::local`] writes, or why the opening was refused. It does not
    /// read the page, which other calls may have changed.
    ///
    /// ```
    /// use frazil::abi::{Handles, LocalOpening, Page};
    /// let (mut handles, mut page) = (Handles::new(), Page::new());
    /// let opened = LocalOpening::of(&mut page).attach(|_| unreachable!("a page of zeros is no layout"));
    /// assert_eq!(handles.opened(&mut page, opened), frazil::Code::InvalidLayout as u32);
    /// ```
    pub fn opened(&mut self, page: &mut Page, LocalOpened(opened): LocalOpened) -> u32 {
        match opened {
            Ok((pending, LocalState { keeper, wait_ms })) => {
                // The claim is confirmed only now, so that a failed opening does not prevent a static generator.
                pending.claim.confirm();
                page.write_opened(&pending.machine, wait_ms);
                [page.numbers[slot::MAX_WAIT_MS], page.numbers[slot::MAX_ASYNC_WAIT_MS]] = pending.waits;
                // A node id has at most 32 bits.
                page.numbers[slot::NODE] = f64::from(u32::try_from(pending.machine.node()).unwrap_or(u32::MAX));
                page.numbers[slot::HANDLE] = self.insert(Minter::Generator(Generator::kept_by(pending.machine, keeper)));
                0
            }
            Err((error, text)) => page.refuse_with_text(error, Some(&text)),
        }
    }

    /// Writes what is known of the state file of a generator that `local` opened: its path and file system as text, and its
    /// numbers. `CLOSED` if no such generator is open, and `INVALID_ARGUMENT` if its state is the process's own.
    #[expect(clippy::cast_precision_loss, reason = "counts, and times within a Date")]
    pub fn file(&self, page: &mut Page, handle: f64) -> u32 {
        let own = Error::with_subject(Code::InvalidArgument, Subject::Generator);
        let kept = self.generator(handle).and_then(|generator| generator.keeper().and_then(Keeper::file).ok_or(own));
        let file = match kept {
            Ok(file) => file,
            Err(error) => return page.refuse(error),
        };
        page.write_text(&(file.path.clone() + &file.file_system));
        page.numbers[slot::PATH_BYTES] = file.path.len() as f64;
        page.numbers[slot::LOCKED] = f64::from(u8::from(file.locked));
        page.numbers[slot::BLIND] = f64::from(u8::from(file.blind));
        page.numbers[slot::ATTACHED] = file.attached.map_or(f64::NAN, |count| count as f64);
        for (at, value) in
            [(slot::CEILING_MS, file.ceiling_ms), (slot::RAISES, file.raises), (slot::DISTRUSTED_MS, file.distrusted_ms)]
        {
            page.numbers[at] = value as f64;
        }
        0
    }
}
