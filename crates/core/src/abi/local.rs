//! State files: `local`, `opened` and `file`.
//!
//! The core reads what `Snowflake.local()` asks for and reserves the layout and node id. A closure of the binding opens the file,
//! because the core does no I/O. That can take seconds, so it is a separate step without a lock, on any thread: [`LocalOpening`].

use alloc::string::String;
use alloc::sync::Arc;

use super::frame::Frame;
use super::handles::{Handles, Minter};
use super::opening::MAX_WAIT_MS;
use super::slots::slot;
use crate::error::{Code, Error, Result, Subject};
use crate::mint::{Generator, Keeper, MAX_LEAD_MS, Machine, Registration, SequenceStart};

/// Whether a text can be the name of a scope. Names of node parts follow the same rule.
#[must_use]
pub fn is_scope(text: &str) -> bool {
    crate::layout::is_name(text)
}

/// A request of `Snowflake.local()`. The core checks it; the binding opens the file.
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
    /// The longest time before the first ID, in milliseconds.
    pub start_wait_ms: Option<u64>,
    /// Whether the caller accepts a platform on which state files are not proven.
    pub accept_unproven_platform: bool,
}

/// The answer to a [`LocalRequest`].
#[derive(Debug)]
pub struct LocalState {
    /// The keeper of the state.
    pub keeper: Arc<dyn Keeper>,
    /// The time until the first ID, in milliseconds.
    pub wait_ms: u64,
}

/// Opens a state file, which can take seconds. It needs neither the handle table nor the frame, so it can run on another thread.
///
/// ```
/// use frazil::abi::{LocalOpening, Frame};
/// let refused = LocalOpening::of(&mut Frame::new()); // a frame of zeros is no layout, as Handles::opened will tell
/// drop(refused.attach(|_| unreachable!()));
/// ```
#[derive(Debug)]
#[must_use = "an opening that is dropped leaves nothing"]
pub struct LocalOpening(Result<(PendingOpen, LocalRequest)>);

/// The result of a [`LocalOpening`], for [`Handles::opened`].
#[derive(Debug)]
#[must_use = "what was opened is closed when it is dropped"]
pub struct LocalOpened(core::result::Result<(PendingOpen, LocalState), (Error, String)>);

/// A generator before its state is attached.
#[derive(Debug)]
struct PendingOpen {
    machine: Machine,
    registration: Registration,
    /// The wait limits. Kept here because other calls use the frame in the meantime.
    waits: [f64; 2],
}

impl LocalOpening {
    /// Reads the request from a frame, and registers the layout and node id.
    pub fn of(frame: &mut Frame) -> Self {
        Self(Self::request(frame).and_then(|request| {
            let registration = Registration::kept(&request.machine, request.scope.as_deref())?;
            let waits = [frame.numbers[slot::MAX_WAIT_MS], frame.numbers[slot::MAX_ASYNC_WAIT_MS]];
            Ok((PendingOpen { machine: request.machine, registration, waits }, request))
        }))
    }

    /// Attaches to the state, without holding a lock of the core.
    pub fn attach(self, attach: impl FnOnce(LocalRequest) -> core::result::Result<LocalState, (Error, String)>) -> LocalOpened {
        let pending = self.0.map_err(|error| (error, String::new()));
        LocalOpened(pending.and_then(|(pending, request)| Ok((pending, attach(request)?))))
    }

    /// Reads the request. Writes the wait limits in force.
    fn request(frame: &mut Frame) -> Result<LocalRequest> {
        let geometry = frame.read_geometry()?;
        let node_missing = !frame.flag(slot::HAS_NODE) && !frame.flag(slot::NODE_NONE);
        let node = if node_missing { geometry.local_node() } else { frame.read_node(&geometry)? };
        let max_lead_ms = frame.optional_number(slot::HAS_MAX_LEAD_MS, slot::MAX_LEAD_MS, Subject::MaxLeadMs, MAX_LEAD_MS)?;
        let machine = Machine::from_geometry_with_max_lead(geometry, node, max_lead_ms)?;
        frame.read_wait_limits()?;
        let start_wait_ms =
            frame.optional_number(slot::HAS_START_WAIT_MS, slot::START_WAIT_MS, Subject::StartWaitMs, MAX_WAIT_MS)?;
        let sequence_start = frame.read_sequence_start()?;
        let [dir, scope, file_system] = frame.read_texts([
            (slot::DIR_BYTES, Subject::Dir),
            (slot::SCOPE_BYTES, Subject::Scope),
            (slot::FILE_SYSTEM_BYTES, Subject::FileSystem),
        ])?;
        let accept_unproven_platform = frame.flag(slot::ACCEPT_UNPROVEN_PLATFORM);
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
    /// Opens a generator on a state that `attach` provides, as `Snowflake.local()` does. Writes the same as `open`, and the time until the
    /// first ID. The generator has its own handle until it is released. The layout and node id are registered before `attach` is called,
    /// and no lock is held during the call.
    ///
    /// ```
    /// use frazil::abi::{Handles, Frame};
    /// let (mut handles, mut frame) = (Handles::new(), Frame::new());
    /// let status = handles.local(&mut frame, |_| unreachable!("a frame of zeros is no layout"));
    /// assert_eq!(status, frazil::Code::InvalidLayout as u32);
    /// ```
    pub fn local(
        &mut self,
        frame: &mut Frame,
        attach: impl FnOnce(LocalRequest) -> core::result::Result<LocalState, (Error, String)>,
    ) -> u32 {
        let opening = LocalOpening::of(frame);
        self.opened(frame, opening.attach(attach))
    }

    /// The second half of a [`LocalOpening`]: writes what [`Handles::local`] writes, or why the opening was refused. It does not
    /// read the frame, which other calls may have changed.
    ///
    /// ```
    /// use frazil::abi::{Handles, LocalOpening, Frame};
    /// let (mut handles, mut frame) = (Handles::new(), Frame::new());
    /// let opened = LocalOpening::of(&mut frame).attach(|_| unreachable!("a frame of zeros is no layout"));
    /// assert_eq!(handles.opened(&mut frame, opened), frazil::Code::InvalidLayout as u32);
    /// ```
    pub fn opened(&mut self, frame: &mut Frame, LocalOpened(opened): LocalOpened) -> u32 {
        match opened {
            Ok((pending, LocalState { keeper, wait_ms })) => {
                // The registration is confirmed only now, so that a failed opening does not prevent a static generator.
                pending.registration.confirm();
                frame.write_opened(&pending.machine, wait_ms);
                [frame.numbers[slot::MAX_WAIT_MS], frame.numbers[slot::MAX_ASYNC_WAIT_MS]] = pending.waits;
                // A node id has at most 32 bits.
                frame.numbers[slot::NODE] = f64::from(u32::try_from(pending.machine.node()).unwrap_or(u32::MAX));
                frame.numbers[slot::HANDLE] = self.insert(Minter::Generator(Generator::kept_by(pending.machine, keeper)));
                self.draw_line(frame, frame.numbers[slot::HANDLE]);
                0
            }
            Err((error, text)) => frame.refuse_with_text(error, Some(&text)),
        }
    }

    /// Describes the state file of a generator that `local` opened: its path and file system as text, and its numbers. `CLOSED` if no such
    /// generator is open, and `INVALID_ARGUMENT` if its state is the process's own.
    #[expect(clippy::cast_precision_loss, reason = "counts, and times within a Date")]
    pub fn file(&self, frame: &mut Frame, handle: f64) -> u32 {
        let own = Error::with_subject(Code::InvalidArgument, Subject::Generator);
        let kept = self.generator(handle).and_then(|generator| generator.keeper().and_then(Keeper::file).ok_or(own));
        let file = match kept {
            Ok(file) => file,
            Err(error) => return frame.refuse(error),
        };
        frame.write_text(&(file.path.clone() + &file.file_system));
        frame.numbers[slot::PATH_BYTES] = file.path.len() as f64;
        frame.numbers[slot::LOCKED] = f64::from(u8::from(file.locked));
        frame.numbers[slot::BLIND] = f64::from(u8::from(file.blind));
        frame.numbers[slot::ATTACHED] = file.attached.map_or(f64::NAN, |count| count as f64);
        for (at, value) in
            [(slot::CEILING_MS, file.ceiling_ms), (slot::RAISES, file.raises), (slot::DISTRUSTED_MS, file.distrusted_ms)]
        {
            frame.numbers[at] = value as f64;
        }
        0
    }
}
