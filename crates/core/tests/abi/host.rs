//! A host of the handle table.

use frazil::abi::{Frame, Handles, KINDS, slot};
use frazil::error::{Rule, Subject};
use frazil::layout::LayoutSpec;
use frazil::{Code, Layout, Registry};

use crate::vector_files::camel;

/// A thread of a host: its handle table, frame and registry.
pub(crate) struct Host {
    pub(crate) registry: Registry,
    pub(crate) handles: Handles,
    pub(crate) frame: Box<Frame>,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self { registry: Registry::new(), handles: Handles::new(), frame: Box::new(Frame::new()) }
    }

    /// Writes a request for a generator with the layout, node id 7 and no other options into the frame.
    pub(crate) fn request(&mut self, layout: &LayoutSpec) {
        let numbers = &mut self.frame.numbers;
        numbers.fill(0.0);
        numbers[slot::EPOCH_MS] = number(layout.epoch_ms);
        numbers[slot::TICK_MS] = number(layout.tick_ms);
        numbers[slot::UNSIGNED] = f64::from(u8::from(layout.unsigned));
        numbers[slot::FIELD_COUNT] = number(layout.fields.len() as u64);
        for (at, field) in layout.fields.iter().enumerate() {
            let kind = KINDS.iter().position(|row| row.1 == field.kind).unwrap();
            numbers[slot::FIELDS + 2 * at] = number(kind as u64);
            numbers[slot::FIELDS + 2 * at + 1] = f64::from(field.bits);
        }
        numbers[slot::HAS_NODE] = 1.0;
        numbers[slot::NODE] = 7.0;
        numbers[slot::START_MS] = f64::NAN;
    }

    pub(crate) fn request_default(&mut self) {
        self.request(&Layout::named("default").unwrap().spec());
    }

    pub(crate) fn set(&mut self, at: usize, value: f64) {
        self.frame.numbers[at] = value;
    }

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    pub(crate) fn set_places(&mut self, from: usize, until: usize) {
        self.set(slot::FILL_FROM, from as f64);
        self.set(slot::FILL_UNTIL, until as f64);
    }

    pub(crate) fn set_key(&mut self, halves: [u64; 2]) {
        let parts = halves.iter().flat_map(|half| [half >> 32, half & u64::from(u32::MAX)]);
        for (at, part) in parts.enumerate() {
            self.set(slot::KEY + at, number(part));
        }
        self.set(slot::HAS_KEY, 1.0);
    }

    pub(crate) fn open(&mut self) -> u32 {
        self.handles.open(&mut self.frame, &mut self.registry)
    }

    /// Opens the generator that the frame describes, which must succeed.
    pub(crate) fn handle(&mut self) -> f64 {
        assert_eq!(self.open(), 0, "{}", self.refusal());
        self.frame.numbers[slot::HANDLE]
    }

    /// Opens a generator of the layout `default` with another node id, private or not.
    pub(crate) fn handle_of(&mut self, node: u32, private: bool) -> f64 {
        self.request_default();
        self.set(slot::NODE, f64::from(node));
        self.set(slot::PRIVATE, f64::from(u8::from(private)));
        self.handle()
    }

    pub(crate) fn reserve(&mut self, handle: f64, now_ms: f64, want: u32, confirmed: bool) -> u32 {
        self.handles.reserve(&mut self.frame, handle, now_ms, want, confirmed)
    }

    /// One ID; the call must succeed.
    pub(crate) fn next(&mut self, handle: f64, now_ms: f64) -> u64 {
        assert_eq!(self.reserve(handle, now_ms, 1, true), 0);
        self.frame.ids[0]
    }

    /// A slot that holds the number of a subject or a rule.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the core wrote a small whole number")]
    pub(crate) fn index(&self, at: usize) -> usize {
        self.frame.numbers[at] as usize
    }

    fn subject(&self) -> Subject {
        Subject::ALL[self.index(slot::SUBJECT)]
    }

    fn rule(&self) -> Rule {
        Rule::ALL[self.index(slot::RULE)]
    }

    /// The text of the last refusal, from the slots of the frame.
    pub(crate) fn refusal(&self) -> String {
        let numbers = &self.frame.numbers;
        let filled = self.rule().template().replace("{min}", &numbers[slot::MIN].to_string());
        format!("{} {}", camel(self.subject().name()), filled.replace("{max}", &numbers[slot::MAX].to_string()))
    }

    #[track_caller]
    pub(crate) fn assert_refused(&self, status: u32, code: Code, subject: Subject, rule: Rule) {
        assert_eq!(status, code as u32);
        assert_eq!((self.subject(), self.rule()), (subject, rule));
    }
}

#[expect(clippy::cast_precision_loss, reason = "the numbers of the vectors are exact as a JavaScript number")]
pub(crate) fn number(value: u64) -> f64 {
    value as f64
}
