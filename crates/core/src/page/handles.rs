//! The table of open generators.

use alloc::vec::Vec;

use super::memory::Page;
#[cfg(feature = "std")]
use crate::error::Rule;
use crate::error::{Code, Error, Result};
use crate::generator::Generator;
use crate::layout::MAX_SAFE_INTEGER;
use crate::table::Table;

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

    /// The number of those that mint by the same rules from the same state.
    pub(super) fn share(&mut self, generator: Generator) -> f64 {
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
    pub(super) fn seat(&mut self, generator: Generator) -> f64 {
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

    pub(super) fn generator(&self, handle: f64) -> Result<&Generator> {
        let seat = self.seats.get(place_of(handle)).filter(|seat| seat.handle.to_bits() == handle.to_bits());
        seat.and_then(|seat| seat.generator.as_ref()).ok_or(Error::new(Code::Closed))
    }

    /// Refuses, and lets the keeper of the state say more.
    pub(super) fn refuse(&self, page: &mut Page, handle: f64, error: Error) -> u32 {
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
}
