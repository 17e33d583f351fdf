//! The page of numbers through which the JavaScript bindings speak to the core (feature `page`).
//!
//! A call across the boundary passes numbers and returns a *status*: 0, [`RECHECK`], or the number of a
//! [`Code`]. Everything else lies in the page, at slots that both sides know by name; the JavaScript constants are
//! generated from [`SLOTS`]. So both bindings are a translation of [`Handles`], method by method, and hold no rule.
//!
//! * **Layout of the page**: [`NUMBERS`] 64-bit floats, then [`IDS`] unsigned 64-bit integers.
//! * **A layout crosses as numbers**: epoch, tick, unsigned, and a pair (kind, bits) for each field. Names stay outside.
//! * **Inputs are any number**: NaN, fractions and infinities are refused here with the rule that an integer would break.
//!
//! Not covered by semantic versioning: this module serves the bindings of the same version.

#[cfg(feature = "std")]
use alloc::string::String;
#[cfg(feature = "std")]
use alloc::sync::Arc;
use alloc::vec::Vec;

#[cfg(feature = "std")]
use crate::claims::Claim;
use crate::clock::millisecond_of;
use crate::error::{Code, Error, Result, Rule, Subject};
use crate::generator::Machine;
use crate::layout::{FieldKind, Geometry, MAX_SAFE_INTEGER};
#[cfg(feature = "std")]
use crate::shared::Keeper;
use crate::shared::{Generator, MAX_COUNT, Placed, Registry, Reservation};
use crate::start::{Key, SequenceStart};
use crate::table::Table;

/// What both sides have to agree on, as one number: the slots, the rules, the codes and the subjects, by name and number.
/// Bindings and copies of the package work together where it is equal, and refuse each other where it is not. Raise
/// `CALLS` with every change to what the calls take or return.
///
/// ```
/// assert_ne!(frazil::page::ABI, 0);
/// ```
#[expect(clippy::cast_possible_truncation, reason = "the slots are few, and this is compiled, not run")]
pub const ABI: u32 = {
    const CALLS: u32 = 5;
    let mut hash = CALLS;
    let mut at = 0;
    while at < SLOTS.len() {
        hash = mix(mix(hash, SLOTS[at].0), "=").wrapping_add(SLOTS[at].1 as u32);
        at += 1;
    }
    at = 0;
    while at < Rule::ALL.len() {
        hash = mix(hash, Rule::ALL[at].template());
        at += 1;
    }
    at = 0;
    while at < Code::ALL.len() {
        hash = mix(hash, Code::ALL[at].name());
        at += 1;
    }
    at = 0;
    while at < Subject::ALL.len() {
        hash = mix(hash, Subject::ALL[at].name());
        at += 1;
    }
    hash
};

/// FNV-1a over a text, run while compiling.
const fn mix(mut hash: u32, text: &str) -> u32 {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(16_777_619);
        at += 1;
    }
    hash
}

/// How many floats the page starts with.
pub const NUMBERS: usize = 128;
/// How many IDs one reservation can hand over.
pub const IDS: usize = 4096;
/// The status of a call that wants the clock read once more. No code has this number.
pub const RECHECK: u32 = 255;
/// The status of a call whose state has no key yet: draw one, put it at `KEY`, and ask again. No code has this number.
pub const KEYLESS: u32 = 254;
/// What [`Handles::next`] returns instead of an ID. `STATUS` tells it from the one ID of the same value, which a layout of 64
/// bits with node bits can have.
pub const NO_ID: u64 = u64::MAX;

/// `setTimeout` and `Atomics.wait` both take at most 2^31 - 1 ms.
const MAX_WAIT_MS: u64 = (1 << 31) - 1;
const DEFAULT_WAIT_MS: u64 = 10;
const DEFAULT_ASYNC_WAIT_MS: u64 = 5000;
/// One of each unique kind and 32 node parts of one bit.
const MAX_FIELDS: usize = 35;
macro_rules! slots {
    ($($(#[doc = $doc:literal])+ $name:ident = $at:literal;)+) => {
        /// The slots of the page, by name.
        pub mod slot {
            $($(#[doc = $doc])+ pub const $name: usize = $at;)+
        }
        /// Every slot with its name, for generating the other side's constants.
        ///
        /// ```
        /// assert_eq!(frazil::page::SLOTS[0], ("STATUS", 0));
        /// ```
        pub const SLOTS: &[(&str, usize)] = &[$((stringify!($name), $at),)+];
    };
}

slots! {
    /// Out: the status of the last `next`.
    STATUS = 0;
    /// Out: how many IDs a reservation wrote.
    COUNT = 1;
    /// Out: the clock's tick, from this Unix millisecond …
    VALID_FROM_MS = 2;
    /// Out: … up to and without this one.
    VALID_UNTIL_MS = 3;
    /// Out: milliseconds until a stalled call can succeed.
    RETRY_AFTER_MS = 4;
    /// Out: the number of the subject an error is about.
    SUBJECT = 5;
    /// Out: the number of the rule that was broken.
    RULE = 6;
    /// Out: the rule's `{min}`.
    MIN = 7;
    /// Out: the rule's `{max}`.
    MAX = 8;
    /// Out: the generator that was opened.
    HANDLE = 9;
    /// Out: the largest block worth reserving ahead of use.
    MAX_BLOCK = 10;
    /// In: 1 where the caller says that no other thread has the node id.
    UNSHARED = 11;
    /// Out of `file`: 1 where the mapped state is locked in memory.
    LOCKED = 12;
    /// Out of `file`: 1 where a directory above the file may not be read.
    BLIND = 13;
    /// In: Unix milliseconds of tick 0.
    EPOCH_MS = 16;
    /// In: the length of a tick in milliseconds.
    TICK_MS = 17;
    /// In: 1 where the layout may use all 64 bits.
    UNSIGNED = 18;
    /// In: 1 where a node id was given, as the number in `NODE`.
    HAS_NODE = 19;
    /// In: the node id. Out of `local`: the one in force.
    NODE = 20;
    /// In: when the process started, in Unix milliseconds; NaN where unknown.
    START_MS = 21;
    /// In: 1 for a state of the generator's own.
    PRIVATE = 22;
    /// In: 1 where `MAX_LEAD_MS` was given.
    HAS_MAX_LEAD_MS = 23;
    /// In and out: how far the generator may run ahead of the clock.
    MAX_LEAD_MS = 24;
    /// In: 1 where `MAX_WAIT_MS` was given.
    HAS_MAX_WAIT_MS = 25;
    /// In and out: how long a call may wait in all.
    MAX_WAIT_MS = 26;
    /// In: 1 where `MAX_ASYNC_WAIT_MS` was given.
    HAS_MAX_ASYNC_WAIT_MS = 27;
    /// In and out: how long an asynchronous call may wait in all.
    MAX_ASYNC_WAIT_MS = 28;
    /// In: 1 where the node id was given as the word `"none"`.
    NODE_NONE = 29;
    /// In: how many fields the layout has.
    FIELD_COUNT = 30;
    /// In: the first of the pairs (kind, bits); kinds as in [`KINDS`](super::KINDS). There is room for 35.
    FIELDS = 31;
    /// In: the number of the start of the sequence, as in [`STARTS`](super::STARTS).
    SEQUENCE_START = 101;
    /// In: 1 where `KEY` holds one. Taken, and set to 0, by the next call whose state needs it.
    HAS_KEY = 102;
    /// In: the first of the four numbers of 32 bits that are a key.
    KEY = 103;
    /// Out of `health`: how far the current tick lies ahead of the clock.
    LEAD_MS = 107;
    /// Out of `health`: the furthest that an ID lay ahead of the clock.
    WORST_LEAD_MS = 108;
    /// Out of `health`: how often a reading of the clock was before the one before it.
    STEPS_BACK = 109;
    /// Out of `health`: the largest of these steps.
    LARGEST_STEP_BACK_MS = 110;
    /// Out of `health`: how often the clock was followed back to another clock id.
    SWITCHES = 111;
    /// Out of `health`: the last millisecond of the time field.
    END_MS = 112;
    /// Out of `health`: how long until then.
    REMAINING_MS = 113;
    /// Out of `health`: 1 where that is less than a year.
    ENDS_SOON = 114;
    /// Out: how many bytes of UTF-8 lie where the IDs do: what an error says beyond its numbers, or a path.
    TEXT_BYTES = 115;
    /// In of `local`: how many bytes of UTF-8 the directory has, at the start of the IDs; NaN where none was given.
    DIR_BYTES = 116;
    /// In of `local`: the same for the scope, which follows …
    SCOPE_BYTES = 117;
    /// In of `local`: … and for the file system that is vouched for.
    FILE_SYSTEM_BYTES = 118;
    /// In of `local`: 1 where `START_WAIT_MS` was given.
    HAS_START_WAIT_MS = 119;
    /// In of `local`: how long may pass before the first ID.
    START_WAIT_MS = 120;
    /// Out of `local`: how long will.
    WAIT_MS = 121;
    /// Out of `file`: what has been reserved on disk, in Unix milliseconds.
    CEILING_MS = 122;
    /// Out of `file`: how many are attached; NaN where that cannot be told.
    ATTACHED = 123;
    /// Out of `file`: how often this process raised the ceiling.
    RAISES = 124;
    /// Out of `health`: how often a call had to wait for the window to be extended.
    EXTENSIONS = 125;
    /// Out of `file`: how far the clock is ahead of the time that is believed.
    DISTRUSTED_MS = 126;
    /// Out of `file`: how many of the bytes of text are the path; the others are the file system.
    PATH_BYTES = 127;
}

/// The kinds of fields in the order of their numbers, by the names they have in JavaScript.
pub const KINDS: &[(&str, FieldKind)] =
    &[("time", FieldKind::Time), ("node", FieldKind::Node), ("clock", FieldKind::Clock), ("sequence", FieldKind::Sequence)];

/// The starts of the sequence in the order of their numbers, by the names they have in JavaScript.
pub const STARTS: [SequenceStart; 3] = SequenceStart::ALL;

/// The memory that both sides read and write.
#[repr(C)]
#[derive(Debug)]
pub struct Page {
    /// The slots.
    pub numbers: [f64; NUMBERS],
    /// The IDs of the last reservation.
    pub ids: [u64; IDS],
}

impl Page {
    /// A page of zeros.
    ///
    /// ```
    /// # use frazil::page::{IDS, NUMBERS, Page};
    /// assert_eq!(size_of::<Page>(), 8 * (NUMBERS + IDS));
    /// assert_eq!(Page::new().numbers[0], 0.0);
    /// ```
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a page is placed, not defaulted")]
    #[expect(clippy::large_stack_arrays, reason = "the bindings place it in static memory or on the heap")]
    pub const fn new() -> Self {
        Self { numbers: [0.0; NUMBERS], ids: [0; IDS] }
    }

    /// Writes what an error says into the slots and returns its status.
    #[expect(clippy::cast_precision_loss, reason = "times and limits of layouts are below 2^53; larger ones are only shown")]
    fn refuse(&mut self, error: Error) -> u32 {
        self.numbers[slot::SUBJECT] = f64::from(error.subject as u8);
        self.numbers[slot::RULE] = f64::from(error.rule as u8);
        self.numbers[slot::MIN] = error.min as f64;
        self.numbers[slot::MAX] = error.max as f64;
        self.numbers[slot::RETRY_AFTER_MS] = error.retry_after_ms() as f64;
        self.numbers[slot::TEXT_BYTES] = 0.0;
        u32::from(error.code() as u8)
    }

    /// Refuses with `STATE_CONFLICT`, for a cause that the binding found outside the core, and returns the status.
    ///
    /// ```
    /// # use frazil::page::{Page, slot};
    /// let mut page = Page::new();
    /// assert_eq!(page.refuse_conflict("another copy"), frazil::Code::StateConflict as u32);
    /// assert_eq!(page.numbers[slot::TEXT_BYTES], 12.0);
    /// ```
    #[cfg(feature = "std")]
    pub fn refuse_conflict(&mut self, text: &str) -> u32 {
        self.refuse_saying(Error::refusal(Code::StateConflict, Subject::Node), Some(text))
    }

    /// Refuses, with a text for what the error does not say.
    #[cfg(feature = "std")]
    fn refuse_saying(&mut self, error: Error, text: Option<&str>) -> u32 {
        let status = self.refuse(error);
        self.write_text(text.unwrap_or(""));
        status
    }

    /// Puts as much of a text where the IDs are as has room there.
    #[cfg(feature = "std")]
    #[expect(clippy::cast_precision_loss, reason = "at most 32768")]
    fn write_text(&mut self, text: &str) {
        let room = text.len().min(8 * IDS);
        let text = &text[..(0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)];
        for (id, bytes) in self.ids.iter_mut().zip(text.as_bytes().chunks(8)) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            *id = u64::from_ne_bytes(word);
        }
        self.numbers[slot::TEXT_BYTES] = text.len() as f64;
    }

    /// The texts whose lengths stand at the slots, one after the other; `None` where there is NaN.
    #[cfg(feature = "std")]
    fn texts<const N: usize>(&self, slots: [(usize, Subject); N]) -> Result<[Option<String>; N]> {
        let mut bytes = self.ids.iter().flat_map(|id| id.to_ne_bytes());
        let mut texts = [const { None }; N];
        for (text, (at, subject)) in texts.iter_mut().zip(slots) {
            if self.numbers[at].is_nan() {
                continue;
            }
            let length = self.whole(at, Code::InvalidOption, subject, 0, 8 * IDS as u64)?;
            let bytes = bytes.by_ref().take(usize::try_from(length).unwrap_or(0)).collect();
            *text = Some(String::from_utf8(bytes).map_err(|_| Error::about(Code::InvalidOption, subject, Rule::APath))?);
        }
        Ok(texts)
    }

    fn flag(&self, at: usize) -> bool {
        self.numbers[at] != 0.0
    }

    fn whole(&self, at: usize, code: Code, subject: Subject, min: u64, max: u64) -> Result<u64> {
        whole(self.numbers[at], code, subject, min, max)
    }

    fn option(&self, given: usize, at: usize, subject: Subject, max: u64) -> Result<Option<u64>> {
        if !self.flag(given) {
            return Ok(None);
        }
        self.whole(at, Code::InvalidOption, subject, 0, max).map(Some)
    }

    /// Reads how long calls may wait, and writes it back as it is in force.
    #[expect(clippy::cast_precision_loss, reason = "below 2^31")]
    fn waits(&mut self) -> Result<()> {
        let sync = self.option(slot::HAS_MAX_WAIT_MS, slot::MAX_WAIT_MS, Subject::MaxWaitMs, MAX_WAIT_MS)?;
        let (has, at) = (slot::HAS_MAX_ASYNC_WAIT_MS, slot::MAX_ASYNC_WAIT_MS);
        let patient = self.option(has, at, Subject::MaxAsyncWaitMs, MAX_WAIT_MS)?;
        self.numbers[slot::MAX_WAIT_MS] = sync.unwrap_or(DEFAULT_WAIT_MS) as f64;
        self.numbers[slot::MAX_ASYNC_WAIT_MS] = patient.unwrap_or(DEFAULT_ASYNC_WAIT_MS) as f64;
        Ok(())
    }

    /// Writes what a generator that was opened is like.
    #[expect(clippy::cast_precision_loss, reason = "a block of at most 4096, and milliseconds within a Date")]
    fn describe(&mut self, machine: &Machine, wait_ms: u64) {
        self.numbers[slot::MAX_BLOCK] = machine.max_block() as f64;
        self.numbers[slot::MAX_LEAD_MS] = machine.max_lead_ms as f64;
        self.numbers[slot::WAIT_MS] = wait_ms as f64;
    }

    fn geometry(&self) -> Result<Geometry> {
        let code = Code::InvalidLayout;
        let epoch_ms = self.whole(slot::EPOCH_MS, code, Subject::EpochMs, 0, MAX_SAFE_INTEGER)?;
        let tick_ms = self.whole(slot::TICK_MS, code, Subject::TickMs, 1, MAX_SAFE_INTEGER)?;
        let count = self.whole(slot::FIELD_COUNT, code, Subject::Fields, 0, MAX_FIELDS as u64)?;
        let mut fields = [(FieldKind::Node, 0); MAX_FIELDS];
        let fields = fields.get_mut(..usize::try_from(count).unwrap_or(MAX_FIELDS)).unwrap_or_default();
        for (field, pair) in fields.iter_mut().zip(self.numbers[slot::FIELDS..].chunks_exact(2)) {
            let kind = whole(pair[0], code, Subject::Fields, 0, KINDS.len() as u64 - 1)?;
            let kind = usize::try_from(kind).ok().and_then(|kind| KINDS.get(kind)).map_or(FieldKind::Node, |row| row.1);
            let bits = whole(pair[1], code, Subject::FieldBits, 1, u64::from(kind.max_bits()))?;
            *field = (kind, u32::try_from(bits).unwrap_or(0));
        }
        Geometry::new(epoch_ms, tick_ms, self.flag(slot::UNSIGNED), fields)
    }

    fn sequence_start(&self) -> Result<SequenceStart> {
        let (code, subject) = (Code::InvalidOption, Subject::SequenceStart);
        let number = self.whole(slot::SEQUENCE_START, code, subject, 0, STARTS.len() as u64 - 1).ok();
        let known = number.and_then(|number| STARTS.get(usize::try_from(number).ok()?));
        known.copied().ok_or(Error::about(code, subject, Rule::KnownStart))
    }

    /// The key that was put there, once.
    fn take_key(&mut self) -> Result<Option<Key>> {
        if !self.flag(slot::HAS_KEY) {
            return Ok(None);
        }
        self.numbers[slot::HAS_KEY] = 0.0;
        let mut halves = [0; 2];
        for (half, at) in halves.iter_mut().zip([slot::KEY, slot::KEY + 2]) {
            for at in [at, at + 1] {
                let part = self.whole(at, Code::InvalidArgument, Subject::SequenceStart, 0, u64::from(u32::MAX))?;
                *half = (*half << 32) | part;
                self.numbers[at] = 0.0;
            }
        }
        Ok(Some(Key::new(halves[0], halves[1])))
    }

    fn node(&self, geometry: &Geometry) -> Result<u32> {
        if self.flag(slot::NODE_NONE) {
            return geometry.check_no_node();
        }
        let max = geometry.max_node();
        if !self.flag(slot::HAS_NODE) {
            let rule = if max == 0 { Rule::NodeNone } else { Rule::NodeGiven };
            return Err(Error::about(Code::NodeRequired, Subject::Node, rule));
        }
        // A layout without a node field has its own rule for every number, so none is read.
        let id = if max == 0 { 0 } else { self.whole(slot::NODE, Code::InvalidNode, Subject::Node, 0, max)? };
        geometry.check_node(id)
    }
}

/// Whether a text can be the name of a scope: as the name of a part of the node id.
///
/// ```
/// assert!(frazil::page::is_scope("shop-1") && !frazil::page::is_scope("1"));
/// ```
#[cfg(feature = "std")]
#[must_use]
pub fn is_scope(text: &str) -> bool {
    crate::layout::is_name(text)
}

/// What `Snowflake.local()` was asked for, of which the core knows the meaning but has no hands to do it.
#[cfg(feature = "std")]
#[derive(Debug)]
#[non_exhaustive]
pub struct LocalRequest {
    /// The layout, the node id (0 where none was given) and the lead.
    pub machine: Machine,
    /// Whether no node id was given, nor the word that the layout has none.
    pub node_missing: bool,
    /// Where the sequence starts.
    pub sequence_start: SequenceStart,
    /// The directory of the state file.
    pub dir: Option<String>,
    /// The name of the ID space.
    pub scope: Option<String>,
    /// The file system that the caller vouches for.
    pub file_system: Option<String>,
    /// How long may pass before the first ID, in milliseconds.
    pub start_wait_ms: Option<u64>,
}

/// Who answered it.
#[cfg(feature = "std")]
#[derive(Debug)]
pub struct LocalState {
    /// The state.
    pub keeper: Arc<dyn Keeper>,
    /// How long it is until the first ID, in milliseconds.
    pub wait_ms: u64,
}

/// The opening of a state file, which can take seconds, apart from the handle table and the page, so that another thread can do it.
///
/// ```
/// use frazil::page::{LocalOpening, Page};
/// let refused = LocalOpening::of(&mut Page::new()); // a page of zeros is no layout, which Handles::opened will say
/// drop(refused.attach(|_| unreachable!()));
/// ```
#[cfg(feature = "std")]
#[derive(Debug)]
#[must_use = "an opening that is dropped leaves nothing"]
pub struct LocalOpening(Result<(Asked, LocalRequest)>);

/// What came of it: for [`Handles::opened`].
#[cfg(feature = "std")]
#[derive(Debug)]
#[must_use = "what was opened is closed when it is dropped"]
pub struct LocalOpened(core::result::Result<(Asked, LocalState), (Error, String)>);

/// What is known of a generator before its state is attached to.
#[cfg(feature = "std")]
#[derive(Debug)]
struct Asked {
    machine: Machine,
    claim: Claim,
    /// How long calls may wait, as it is in force: the page is used for other calls meanwhile.
    waits: [f64; 2],
}

#[cfg(feature = "std")]
impl LocalOpening {
    /// What a page asks for. The layout and node id are claimed.
    pub fn of(page: &mut Page) -> Self {
        Self(Self::request(page).and_then(|request| {
            let claim = Claim::kept(&request.machine, request.scope.as_deref())?;
            let waits = [page.numbers[slot::MAX_WAIT_MS], page.numbers[slot::MAX_ASYNC_WAIT_MS]];
            Ok((Asked { machine: request.machine, claim, waits }, request))
        }))
    }

    /// Attaches to the state. No lock of the core is held meanwhile.
    pub fn attach(self, attach: impl FnOnce(LocalRequest) -> core::result::Result<LocalState, (Error, String)>) -> LocalOpened {
        let asked = self.0.map_err(|error| (error, String::new()));
        LocalOpened(asked.and_then(|(asked, request)| Ok((asked, attach(request)?))))
    }

    /// What the page asks for. The waits are written back as they are in force.
    fn request(page: &mut Page) -> Result<LocalRequest> {
        let geometry = page.geometry()?;
        let node_missing = !page.flag(slot::HAS_NODE) && !page.flag(slot::NODE_NONE);
        let node = if node_missing { 0 } else { page.node(&geometry)? };
        let max_lead_ms = page.option(slot::HAS_MAX_LEAD_MS, slot::MAX_LEAD_MS, Subject::MaxLeadMs, MAX_WAIT_MS)?;
        let machine = Machine::placed_leading(geometry, node, max_lead_ms)?;
        page.waits()?;
        let start_wait_ms = page.option(slot::HAS_START_WAIT_MS, slot::START_WAIT_MS, Subject::StartWaitMs, MAX_WAIT_MS)?;
        let sequence_start = page.sequence_start()?;
        let [dir, scope, file_system] = page.texts([
            (slot::DIR_BYTES, Subject::Dir),
            (slot::SCOPE_BYTES, Subject::Scope),
            (slot::FILE_SYSTEM_BYTES, Subject::FileSystem),
        ])?;
        Ok(LocalRequest { machine, node_missing, sequence_start, dir, scope, file_system, start_wait_ms })
    }
}

/// A number that must be whole and within bounds.
fn whole(value: f64, code: Code, subject: Subject, min: u64, max: u64) -> Result<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the comparison below refuses what the cast changed"
    )]
    let number = value as u64;
    #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "bounds are below 2^53, and only an exact match passes")]
    if number as f64 != value || number < min || number > max {
        return Err(Error::about(code, subject, Rule::WholeNumber).within(min, max));
    }
    Ok(number)
}

/// How many generators a handle table can have open at a time.
const PLACES: u64 = 1 << 24;
/// A handle is a place and, above it, how often the place was used before: a number that JavaScript has exactly.
const HANDLES: u64 = MAX_SAFE_INTEGER + 1;

/// The place in a handle. Any number has one; whose it is, the seat says.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the seat is compared with the whole number")]
const fn place_of(handle: f64) -> usize {
    (handle as u64 & (PLACES - 1)) as usize
}

/// The generators that one page has open, by number.
///
/// Equal generators have one number, so opening one a request does not grow the handle table. A private one has its own until it
/// is released. A number is never given twice: a call that comes after the release, or was begun before it, is `CLOSED`.
///
/// ```
/// use frazil::Registry;
/// use frazil::page::{Handles, Page, slot};
/// let (mut registry, mut handles, mut page) = (Registry::new(), Handles::new(), Page::new());
/// assert_eq!(handles.open(&mut page, &mut registry), frazil::Code::InvalidLayout as u32); // a page of zeros is no layout
/// ```
#[derive(Debug, Default)]
pub struct Handles {
    /// By place.
    seats: Vec<Seat>,
    /// Places to use again.
    free: Vec<usize>,
    /// The handles of those that equal generators share.
    twins: Table<(usize, u64), f64>,
}

/// A place for a generator.
#[derive(Debug)]
struct Seat {
    /// The number of the generator that is there, or of the next one.
    handle: f64,
    generator: Option<Generator>,
}

impl Handles {
    /// A handle table with nothing open.
    ///
    /// ```
    /// # use frazil::page::{Handles, Page};
    /// assert_ne!(Handles::new().reserve(&mut Page::new(), 0.0, 0.0, 1, false), 0);
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self { seats: Vec::new(), free: Vec::new(), twins: Table::new() }
    }

    /// Opens the generator that the page describes and writes its `HANDLE`, `MAX_BLOCK` and the options in force.
    pub fn open(&mut self, page: &mut Page, registry: &mut Registry) -> u32 {
        self.try_open(page, registry).map_or_else(|error| page.refuse(error), |()| 0)
    }

    /// Opens a generator on a state that `attach` finds a home for, as `Snowflake.local()` does, and writes what `open` does,
    /// and how long it is until the first ID. The generator has its number to itself until it is released. The layout and node
    /// id are claimed before `attach` is called, and no lock is held meanwhile.
    ///
    /// ```
    /// use frazil::page::{Handles, Page};
    /// let (mut handles, mut page) = (Handles::new(), Page::new());
    /// let status = handles.local(&mut page, |_| unreachable!("a page of zeros is no layout"));
    /// assert_eq!(status, frazil::Code::InvalidLayout as u32);
    /// ```
    #[cfg(feature = "std")]
    pub fn local(
        &mut self,
        page: &mut Page,
        attach: impl FnOnce(LocalRequest) -> core::result::Result<LocalState, (Error, String)>,
    ) -> u32 {
        let opening = LocalOpening::of(page);
        self.opened(page, opening.attach(attach))
    }

    /// Ends what [`LocalOpening`] began: writes what [`Handles::local`] writes, or why it was refused. The page may hold anything by
    /// now.
    ///
    /// ```
    /// use frazil::page::{Handles, LocalOpening, Page};
    /// let (mut handles, mut page) = (Handles::new(), Page::new());
    /// let opened = LocalOpening::of(&mut page).attach(|_| unreachable!("a page of zeros is no layout"));
    /// assert_eq!(handles.opened(&mut page, opened), frazil::Code::InvalidLayout as u32);
    /// ```
    #[cfg(feature = "std")]
    pub fn opened(&mut self, page: &mut Page, LocalOpened(opened): LocalOpened) -> u32 {
        match opened {
            Ok((asked, LocalState { keeper, wait_ms })) => {
                // Only now: where nothing is kept, nothing is in the way of a static generator.
                asked.claim.confirm();
                page.describe(&asked.machine, wait_ms);
                [page.numbers[slot::MAX_WAIT_MS], page.numbers[slot::MAX_ASYNC_WAIT_MS]] = asked.waits;
                // A node id has at most 32 bits.
                page.numbers[slot::NODE] = f64::from(u32::try_from(asked.machine.node()).unwrap_or(u32::MAX));
                page.numbers[slot::HANDLE] = self.seat(Generator::kept_by(asked.machine, keeper));
                0
            }
            Err((error, text)) => page.refuse_saying(error, Some(&text)),
        }
    }

    fn try_open(&mut self, page: &mut Page, registry: &mut Registry) -> Result<()> {
        let geometry = page.geometry()?;
        let node = page.node(&geometry)?;
        // The bound of the lead depends on how the node id was come by, so the generator judges it; here it is a number.
        let max_lead_ms = page.option(slot::HAS_MAX_LEAD_MS, slot::MAX_LEAD_MS, Subject::MaxLeadMs, MAX_WAIT_MS)?;
        page.waits()?;
        let start = page.numbers[slot::START_MS];
        let start_ms = if start.is_nan() { None } else { Some(millisecond_of(start)?) };
        let sequence_start = page.sequence_start()?;
        let placed = Placed { geometry, node, max_lead_ms, start_ms, sequence_start };
        let private = page.flag(slot::PRIVATE);
        let generator = if private { Generator::private_placed(&placed)? } else { registry.open_placed(&placed)? };
        page.describe(generator.machine(), 0);
        page.numbers[slot::HANDLE] = if private { self.seat(generator) } else { self.share(generator) };
        Ok(())
    }

    /// The number of those that mint by the same rules from the same state.
    fn share(&mut self, generator: Generator) -> f64 {
        let Some(twin) = generator.twin() else { return self.seat(generator) };
        if let Some(handle) = self.twins.get(&twin) {
            return *handle;
        }
        let handle = self.seat(generator);
        if !handle.is_nan() {
            self.twins.insert(twin, handle);
        }
        handle
    }

    /// A number for a generator alone; where there is no place left, one that is closed.
    #[expect(clippy::cast_precision_loss, reason = "places are below 2^24")]
    fn seat(&mut self, generator: Generator) -> f64 {
        let generator = Some(generator);
        if let Some(seat) = self.free.pop().and_then(|place| self.seats.get_mut(place)) {
            seat.generator = generator;
            return seat.handle;
        }
        let place = self.seats.len() as u64;
        if place >= PLACES {
            return f64::NAN;
        }
        self.seats.push(Seat { handle: place as f64, generator });
        place as f64
    }

    /// Gives back the number of a generator, which is closed from then on.
    ///
    /// ```
    /// # use frazil::page::Handles;
    /// Handles::new().release(3.0); // not open: nothing happens
    /// ```
    #[expect(clippy::cast_precision_loss, reason = "2^24 and 2^53 are exact")]
    pub fn release(&mut self, handle: f64) {
        let place = place_of(handle);
        let Some(seat) = self.seats.get_mut(place).filter(|seat| seat.handle.to_bits() == handle.to_bits()) else { return };
        let Some(generator) = seat.generator.take() else { return };
        seat.handle += PLACES as f64;
        // A place that has had all its numbers stays empty.
        if seat.handle < HANDLES as f64 {
            self.free.push(place);
        }
        // The bindings release private generators only. Releasing a shared one closes it for all who share its number.
        if let Some(twin) = generator.twin()
            && self.twins.get(&twin).is_some_and(|shared| shared.to_bits() == handle.to_bits())
        {
            self.twins.remove(&twin);
        }
    }

    fn generator(&self, handle: f64) -> Result<&Generator> {
        let seat = self.seats.get(place_of(handle)).filter(|seat| seat.handle.to_bits() == handle.to_bits());
        seat.and_then(|seat| seat.generator.as_ref()).ok_or(Error::new(Code::Closed))
    }

    /// Whether a call for `count` IDs that may wait `wait_ms` is one that could ever be met.
    ///
    /// ```
    /// # use frazil::page::{Handles, Page};
    /// assert_eq!(Handles::new().admit(&mut Page::new(), 0.0, 1.0, 0.0), frazil::Code::Closed as u32);
    /// ```
    pub fn admit(&self, page: &mut Page, handle: f64, count: f64, wait_ms: f64) -> u32 {
        let judge = || {
            let machine = self.generator(handle)?.machine();
            let count = whole(count, Code::InvalidArgument, Subject::Count, 0, MAX_COUNT as u64)?;
            let max = machine.max_count(whole(wait_ms, Code::InvalidArgument, Subject::MaxWaitMs, 0, MAX_WAIT_MS)?);
            if count > max {
                return Err(Error::about(Code::SequenceExhausted, Subject::Count, Rule::CountReach).within(0, max));
            }
            Ok(0)
        };
        judge().unwrap_or_else(|error| page.refuse(error))
    }

    /// Reserves up to `want` IDs, at most [`IDS`], and writes them with their `COUNT` and the clock's tick.
    ///
    /// ```
    /// # use frazil::page::{Handles, Page};
    /// assert_eq!(Handles::new().reserve(&mut Page::new(), 0.0, 0.0, 1, true), frazil::Code::Closed as u32);
    /// ```
    pub fn reserve(&self, page: &mut Page, handle: f64, now_ms: f64, want: u32, confirmed: bool) -> u32 {
        let want = (want as usize).min(IDS);
        self.try_reserve(page, handle, now_ms, want, confirmed).unwrap_or_else(|error| self.refuse(page, handle, error))
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of at most 4096, and times within a Date")]
    fn try_reserve(&self, page: &mut Page, handle: f64, now_ms: f64, want: usize, confirmed: bool) -> Result<u32> {
        let generator = self.generator(handle)?;
        let now_ms = millisecond_of(now_ms)?;
        if generator.lacks_key() {
            if let Some(key) = page.take_key()? {
                generator.offer(key);
            }
            if generator.lacks_key() {
                // Asked for only where it would be used: Workers allow no entropy at module scope, where their clock shows 0.
                return match generator.health(now_ms).refusal {
                    Some(_) if !confirmed => Ok(RECHECK),
                    Some(error) => Err(error),
                    None => Ok(KEYLESS),
                };
            }
        }
        match generator.reserve(now_ms, want, confirmed)? {
            Reservation::Recheck => Ok(RECHECK),
            Reservation::Issued { block, wall_tick_ms } => {
                block.write(&mut page.ids);
                page.numbers[slot::COUNT] = block.len() as f64;
                page.numbers[slot::VALID_FROM_MS] = wall_tick_ms.0 as f64;
                page.numbers[slot::VALID_UNTIL_MS] = wall_tick_ms.1 as f64;
                Ok(0)
            }
        }
    }

    /// One ID, or [`NO_ID`] with the reason in `STATUS`.
    ///
    /// ```
    /// # use frazil::page::{Handles, NO_ID, Page};
    /// assert_eq!(Handles::new().next(&mut Page::new(), 0.0, 0.0, true), NO_ID);
    /// ```
    pub fn next(&self, page: &mut Page, handle: f64, now_ms: f64, confirmed: bool) -> u64 {
        let status = self.reserve(page, handle, now_ms, 1, confirmed);
        page.numbers[slot::STATUS] = f64::from(status);
        if status == 0 { page.ids[0] } else { NO_ID }
    }

    /// How the generator stands at a time: the status is 0, or that of the refusal a call would meet now.
    ///
    /// ```
    /// # use frazil::page::{Handles, Page};
    /// assert_eq!(Handles::new().health(&mut Page::new(), 0.0, 0.0), frazil::Code::Closed as u32);
    /// ```
    pub fn health(&self, page: &mut Page, handle: f64, now_ms: f64) -> u32 {
        self.try_health(page, handle, now_ms).unwrap_or_else(|error| self.refuse(page, handle, error))
    }

    /// Refuses, and lets the keeper of the state say more.
    fn refuse(&self, page: &mut Page, handle: f64, error: Error) -> u32 {
        #[cfg(feature = "std")]
        if error.rule() == Rule::None
            && let Ok(generator) = self.generator(handle)
            && let Some(keeper) = generator.keeper()
            && keeper.fault().is_some_and(|fault| fault.code() == error.code())
        {
            return page.refuse_saying(error, keeper.explain().as_deref());
        }
        let _: (&Self, f64) = (self, handle);
        page.refuse(error)
    }

    /// What keeps the state of a generator that `local` opened: its path and file system as text, and its numbers. `CLOSED`
    /// where there is no such generator, and `INVALID_ARGUMENT` where its state is the process's own.
    ///
    /// ```
    /// # use frazil::page::{Handles, Page};
    /// assert_eq!(Handles::new().file(&mut Page::new(), 0.0), frazil::Code::Closed as u32);
    /// ```
    #[cfg(feature = "std")]
    #[expect(clippy::cast_precision_loss, reason = "counts, and times within a Date")]
    pub fn file(&self, page: &mut Page, handle: f64) -> u32 {
        let own = Error::refusal(Code::InvalidArgument, Subject::Generator);
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

    #[expect(clippy::cast_precision_loss, reason = "counts, and times within a Date")]
    fn try_health(&self, page: &mut Page, handle: f64, now_ms: f64) -> Result<u32> {
        let generator = self.generator(handle)?;
        let (health, stats) = (generator.health(millisecond_of(now_ms)?), generator.stats());
        for (at, value) in [
            (slot::LEAD_MS, health.lead_ms),
            (slot::WORST_LEAD_MS, stats.worst_lead_ms),
            (slot::STEPS_BACK, stats.steps_back),
            (slot::LARGEST_STEP_BACK_MS, stats.largest_step_back_ms),
            (slot::SWITCHES, stats.switches),
            (slot::EXTENSIONS, stats.extensions),
            (slot::END_MS, health.end_ms),
            (slot::REMAINING_MS, health.remaining_ms),
            (slot::ENDS_SOON, u64::from(health.ends_soon)),
        ] {
            page.numbers[at] = value as f64;
        }
        health.refusal.map_or(Ok(0), Err)
    }
}
