//! Errors: a cause, its subject, and the rule that the input broke.
//!
//! A [`Code`] is a *cause*, stable across versions: branch on it, never on the message. A [`Rule`] is what bad input broke, and a
//! [`Subject`] is the name of the option, argument or field. Each is a table in its own file. The bindings send their numbers across
//! the boundary, and the JavaScript tables are generated from these files, so there is no second copy.
//!
//! As in PostgreSQL, an error has two texts: the message (`Display`) is one short fact with the value, and [`Error::hint`] says what
//! to do.
//!
//! * **Complete**: every error about input has the [field](Error::field), the [value](Error::value) and the [rule](Error::rule).
//! * **No effect**: when an error is returned, nothing has been changed or issued.
//! * **Copyable**: an [`Error`] owns no memory, so a refusal allocates nothing.
//! * Not covered: texts of any length, such as a path. A [`Keeper`](crate::mint::Keeper) has them (`explain`), and JavaScript adds the
//!   value as it was given.

use core::fmt;

mod codes;
mod rules;
mod subjects;

pub use codes::{Class, Code};
pub use rules::Rule;
pub use subjects::Subject;

/// Why a call was refused: a [`Code`], and what it is about.
///
/// ```
/// use frazil::{Code, Layout, Node};
/// let error = Layout::named("default")?.join_node(Node::Id(1024)).unwrap_err();
/// assert_eq!(error.code(), Code::InvalidNode);
/// assert_eq!((error.field(), error.value()), ("node", Some(1024)));
/// assert_eq!(error.to_string(), "INVALID_NODE: node must be an integer from 0 to 1023, got 1024");
/// # Ok::<(), frazil::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    code: Code,
    pub(crate) subject: Subject,
    pub(crate) rule: Rule,
    /// The magnitude of the value; `kind` says whether there is a value. An `Option<i128>` would bring 128-bit arithmetic into
    /// the WebAssembly module. For a text, which is not stored, this is the position.
    magnitude: u64,
    kind: ValueKind,
    pub(crate) min: u64,
    /// The rule's `{max}`. Without a rule, the milliseconds until a retry can succeed.
    pub(crate) max: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Absent,
    Positive,
    Negative,
    /// The magnitude is a position in a text.
    Position,
    /// The magnitude is a position in one of many texts, and `min` is the index of that text.
    PositionInMany,
}

impl Error {
    /// An error that has only a code.
    pub(crate) const fn new(code: Code) -> Self {
        Self { code, subject: Subject::None, rule: Rule::None, magnitude: 0, kind: ValueKind::Absent, min: 0, max: 0 }
    }

    /// An error about a number: the field, the value, and the rule with its two bounds. Never inlined, because refusals are rare
    /// and the module must stay small.
    #[cold]
    #[inline(never)]
    pub(crate) const fn bad_number(code: Code, subject: Subject, rule: Rule, value: u64, (min, max): (u64, u64)) -> Self {
        Self { code, subject, rule, magnitude: value, kind: ValueKind::Positive, min, max }
    }

    /// An error about input other than a number: the field, and the rule that its value broke. Never inlined, as
    /// `bad_number`.
    ///
    /// ```
    /// use frazil::{Code, Error};
    /// use frazil::error::{Rule, Subject};
    /// let error = Error::bad_input(Code::InvalidOption, Subject::Dir, Rule::APath);
    /// assert_eq!(error.to_string(), "INVALID_OPTION: dir must be a path");
    /// ```
    #[cold]
    #[inline(never)]
    #[must_use]
    pub const fn bad_input(code: Code, subject: Subject, rule: Rule) -> Self {
        Self { code, subject, rule, magnitude: 0, kind: ValueKind::Absent, min: 0, max: 0 }
    }

    /// An error about a text: the rule, the position at which the text breaks it, and the rule's `{max}`.
    #[cold]
    #[inline(never)]
    pub(crate) const fn bad_text(rule: Rule, position: usize, max: u64) -> Self {
        let (code, subject, magnitude) = (Code::InvalidText, Subject::Text, position as u64);
        Self { code, subject, rule, magnitude, kind: ValueKind::Position, min: 0, max }
    }

    /// The same error about one of many texts, by its index.
    pub(crate) const fn with_index(mut self, index: usize) -> Self {
        self.kind = ValueKind::PositionInMany;
        self.min = index as u64;
        self
    }

    /// The same error with a signed number as its value.
    pub(crate) const fn with_signed_value(mut self, value: i64) -> Self {
        self.magnitude = value.unsigned_abs();
        self.kind = if value < 0 { ValueKind::Negative } else { ValueKind::Positive };
        self
    }

    /// The same error with the two numbers of the rule's sentence.
    pub(crate) const fn with_bounds(mut self, min: u64, max: u64) -> Self {
        self.min = min;
        self.max = max;
        self
    }

    /// An error with a code and a subject but no rule, for a [`Keeper`](crate::mint::Keeper) to return.
    ///
    /// ```
    /// use frazil::{Code, Error};
    /// use frazil::error::Subject;
    /// assert_eq!(Error::with_subject(Code::StateFileFailed, Subject::Dir).field(), "dir");
    /// ```
    #[must_use]
    pub const fn with_subject(code: Code, subject: Subject) -> Self {
        Self::bad_input(code, subject, Rule::None)
    }

    /// A refusal that ends after that many milliseconds without any action by the caller.
    ///
    /// ```
    /// use frazil::{Code, Error};
    /// assert_eq!(Error::retry_after(Code::LeaseExpired, 10).retry_after_ms(), 10);
    /// ```
    #[must_use]
    pub const fn retry_after(code: Code, retry_after_ms: u64) -> Self {
        let mut error = Self::new(code);
        error.max = retry_after_ms;
        error
    }

    /// The cause.
    ///
    /// ```
    /// let error = frazil::Layout::named("twiter").unwrap_err();
    /// assert_eq!(error.code(), frazil::Code::InvalidLayout);
    /// ```
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The name of the option, argument or field at fault; empty if there is none.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        self.subject.name()
    }

    /// The value at fault, if it is a whole number.
    ///
    /// ```
    /// # use frazil::Layout;
    /// # use frazil::layout::{Field, LayoutSpec};
    /// let spec = LayoutSpec { tick_ms: 0, ..Layout::named("default")?.spec() };
    /// assert_eq!(Layout::new(spec).unwrap_err().value(), Some(0));
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn value(&self) -> Option<i128> {
        match self.kind {
            ValueKind::Absent | ValueKind::Position | ValueKind::PositionInMany => None,
            ValueKind::Positive => Some(self.magnitude as i128),
            ValueKind::Negative => Some(-(self.magnitude as i128)),
        }
    }

    /// The position of the byte at which a text breaks the rule; the length of the text if it is too short.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        let is_text = matches!(self.kind, ValueKind::Position | ValueKind::PositionInMany);
        usize::try_from(self.magnitude).ok().filter(|_| is_text)
    }

    /// Which of many texts is at fault.
    ///
    /// ```
    /// let error = frazil::TextForm::Hex.short().decode_many(&["ff", "xx"], &mut [0; 2]).unwrap_err();
    /// assert_eq!(error.index(), Some(1));
    /// ```
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        usize::try_from(self.min).ok().filter(|_| self.kind == ValueKind::PositionInMany)
    }

    /// The rule that was broken.
    #[must_use]
    pub const fn rule(&self) -> Rule {
        self.rule
    }

    /// What to do, if there is anything to add.
    ///
    /// ```
    /// use frazil::Layout;
    /// let layout = Layout::named("default")?;
    /// let error = layout.range(1_704_067_201, 1_704_067_202, None).unwrap_err();
    /// assert_eq!(error.to_string(), "TIME_OUT_OF_RANGE: from must be Unix milliseconds, got 1704067201");
    /// assert_eq!(error.hint().unwrap().to_string(), "Is it in seconds?");
    /// assert!(layout.decode(u64::MAX).unwrap_err().hint().is_none());
    /// # Ok::<(), frazil::Error>(())
    /// ```
    #[must_use]
    pub const fn hint(&self) -> Option<Hint> {
        if self.retry_after_ms() == 0 && self.rule.hint().is_empty() { None } else { Some(Hint(*self)) }
    }

    /// Milliseconds until the same call can first succeed; 0 if waiting does not help.
    #[must_use]
    pub const fn retry_after_ms(&self) -> u64 {
        if matches!(self.rule, Rule::None) { self.max } else { 0 }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code.name())?;
        let mut rest = self.rule.template();
        if rest.is_empty() {
            return f.write_str(self.code.meaning());
        }
        let is_about_field = rest.starts_with("must ");
        if is_about_field {
            f.write_str(self.field())?;
            if let Some(index) = self.index() {
                write!(f, " {index}")?;
            }
            f.write_str(" ")?;
        }
        while let Some(open) = rest.find('{') {
            f.write_str(&rest[..open])?;
            let end = rest.find('}').unwrap_or(rest.len() - 1);
            match &rest[open + 1..end] {
                "min" => write!(f, "{}", self.min)?,
                "max" => write!(f, "{}", self.max)?,
                // An error has no texts. JavaScript names it.
                name => write!(f, "this {name}")?,
            }
            rest = &rest[end + 1..];
        }
        f.write_str(rest)?;
        match (self.value(), self.position()) {
            (Some(value), _) if is_about_field => write!(f, ", got {value}"),
            (_, Some(position)) => write!(f, ", wrong at byte {position}"),
            _ => Ok(()),
        }
    }
}

/// What to do about an [`Error`]: one or two sentences.
///
/// ```
/// assert_eq!(frazil::Error::retry_after(frazil::Code::LeaseExpired, 10).hint().unwrap().to_string(), "Retry after 10 ms.");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint(Error);

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.retry_after_ms() {
            0 => f.write_str(self.0.rule.hint()),
            // As `retryText` in npm/frazil/src/base/errors.ts says it.
            after_ms => {
                let (unit_ms, unit) = match after_ms {
                    0..120_000 => (1, "ms"),
                    120_000..172_800_000 => (60_000, "minutes"),
                    _ => (86_400_000, "days"),
                };
                write!(f, "Retry after {} {unit}.", after_ms.div_ceil(unit_ms))
            }
        }
    }
}

impl core::error::Error for Error {}

/// The result of this crate's calls.
///
/// ```
/// fn last_ms(name: &str) -> frazil::Result<u64> {
///     Ok(frazil::Layout::named(name)?.plan().last_ms)
/// }
/// assert_eq!(last_ms("default"), Ok(3_903_090_455_551));
/// ```
pub type Result<T> = core::result::Result<T, Error>;
