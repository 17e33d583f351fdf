//! Segments: `segment`, one call with a number for what it does.
//!
//! JavaScript carries requests to the store and answers back; what they mean is decided in [`Segment`]. The monotonic time and
//! random numbers are in the frame before each call.

use alloc::boxed::Box;

use super::calls::numbered_calls;
use super::frame::{Frame, IDS};
use super::handles::{Handles, Minter};
use super::slots::slot;
use crate::asking::Nonce;
use crate::clock::millisecond_of;
use crate::error::{Code, Result, Subject};
use crate::layout::MAX_SAFE_INTEGER;
use crate::segment::{Allocated, MAX_STRIDE, REFUSALS_GROWING, Segment, SegmentRange, SegmentRequest, SegmentTerms};

numbered_calls! {
    /// The calls of `segment`, by number.
    segment_call;
    /// The calls of `segment`, by name and in the order of the numbers.
    SEGMENT_CALLS: 9;
    random: ASK, ASK_AGAIN, TAKE, FAIL, REFUSE;
    /// Opens a segment.
    OPEN = 0;
    /// Hands out numbers.
    DRAW = 1;
    /// Returns the request that is due now.
    ASK = 2;
    /// The store allocated a range.
    TAKE = 3;
    /// An attempt failed.
    FAIL = 4;
    /// Only writes the counters, as every call does.
    STATUS = 5;
    /// Writes `WANT` numbers as IDs, from the first of the IDs in steps of `STRIDE`. It needs no handle.
    WRITE = 6;
    /// As `ASK`, for a caller that cannot wait for the answer to another caller's try.
    ASK_AGAIN = 7;
    /// An attempt was refused: asking again does not help until something has changed.
    REFUSE = 8;
}

numbered_calls! {
    /// The requests of the slot `REQUEST`, by number.
    segment_request;
    /// The requests of the slot `REQUEST`, by name and in the order of the numbers.
    SEGMENT_REQUESTS: 3;
    /// Enough is there.
    NOTHING = 0;
    /// Nothing for `NEXT_MS`.
    WAIT = 1;
    /// Ask the store for `RANGE_COUNT` numbers, or as many as it has for the tag if that is 0.
    ALLOCATE = 2;
}

impl Frame {
    fn read_terms(&self) -> Result<SegmentTerms> {
        SegmentTerms::read(self.flag(slot::HAS_STEP), |subject, min, max| {
            let at = match subject {
                Subject::Step => slot::STEP,
                Subject::MaxStep => slot::MAX_STEP,
                Subject::GrowBelowMs => slot::GROW_BELOW_MS,
                _ => slot::SHRINK_ABOVE_MS,
            };
            self.whole_number(at, Code::InvalidOption, subject, min, max)
        })
    }

    fn read_count(&self, at: usize) -> Result<u64> {
        self.whole_number(at, Code::InvalidArgument, Subject::Count, 0, MAX_SAFE_INTEGER)
    }

    /// Reads an answer. A bad number makes the range empty, which is refused.
    fn read_allocated(&self, attempt: Nonce) -> Allocated {
        let read = |at: usize| self.whole_number(at, Code::StoreRefused, Subject::Segment, 0, MAX_SAFE_INTEGER);
        let (stride, count, step) = match (read(slot::STRIDE), read(slot::RANGE_COUNT), read(slot::STEP)) {
            (Ok(stride), Ok(count), Ok(step)) => (stride, count, step),
            _ => (0, 0, 0),
        };
        let range = SegmentRange { first: self.first_id(), stride, count };
        Allocated { attempt, range, step: (step > 0).then_some(step) }
    }

    fn write_range(&mut self) -> Result<()> {
        let read = |at: usize, max: u64| self.whole_number(at, Code::InvalidArgument, Subject::Count, 0, max);
        let (count, stride) = (read(slot::WANT, IDS as u64)?, read(slot::STRIDE, MAX_STRIDE)?);
        let mut number = self.first_id();
        #[expect(clippy::cast_possible_truncation, reason = "at most 4096")]
        for id in self.ids.iter_mut().take(count as usize) {
            *id = number;
            number = number.wrapping_add(stride);
        }
        Ok(())
    }

    fn first_id(&self) -> u64 {
        self.ids.first().copied().unwrap_or(0)
    }

    fn set_first_id(&mut self, value: u64) {
        if let Some(first) = self.ids.first_mut() {
            *first = value;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "pauses and steps below 2^53")]
    fn write_segment_request(&mut self, request: SegmentRequest) {
        let number = match request {
            SegmentRequest::Nothing => segment_request::NOTHING,
            SegmentRequest::Wait { .. } => segment_request::WAIT,
            SegmentRequest::Allocate { count, above, attempt } => {
                self.numbers[slot::RANGE_COUNT] = count.unwrap_or(0) as f64;
                self.set_first_id(above);
                self.write_bits(slot::NONCE, attempt.0);
                segment_request::ALLOCATE
            }
        };
        self.numbers[slot::REQUEST] = f64::from(number);
    }

    #[expect(clippy::cast_precision_loss, reason = "counters and times below 2^53")]
    fn write_segment_status(&mut self, segment: &Segment, monotonic_ms: u64, ahead: u64) {
        let stats = segment.stats();
        self.numbers[slot::MONOTONIC_MS] = monotonic_ms as f64;
        self.numbers[slot::ASKED_NUMBER] = segment.tries() as f64;
        self.numbers[slot::STEP] = stats.step as f64;
        self.numbers[slot::LEFT] = stats.left as f64;
        self.numbers[slot::BUFFERS] = segment.buffers(ahead) as f64;
        self.numbers[slot::RANGES] = stats.ranges as f64;
        self.numbers[slot::ALLOCATED] = stats.allocated as f64;
        self.numbers[slot::FAILURES] = f64::from(stats.failures);
        self.numbers[slot::FETCH_MS] = stats.fetch_ms as f64;
        self.numbers[slot::SHORT] = f64::from(u8::from(segment.is_short(0)));
        self.numbers[slot::NEXT_MS] = segment.retry_after_ms(monotonic_ms) as f64;
        self.numbers[slot::RETRY_MS] = segment.retry_usually_ms(monotonic_ms) as f64;
        self.numbers[slot::TRY_IN_MS] = segment.try_in_ms(monotonic_ms) as f64;
        self.numbers[slot::REST_MS] = segment.rest_ms(monotonic_ms) as f64;
    }
}

impl Handles {
    /// Opens a segment, or makes the call of that number on one ([`SEGMENT_CALLS`]).
    ///
    /// ```
    /// # use frazil::abi::{Handles, Frame, SEGMENT_CALLS};
    /// let ask = SEGMENT_CALLS.iter().position(|name| *name == "ASK").unwrap();
    /// assert_eq!(Handles::new().segment(&mut Frame::new(), 0.0, ask as u32), frazil::Code::Closed as u32);
    /// ```
    pub fn segment(&mut self, frame: &mut Frame, handle: f64, call: u32) -> u32 {
        self.try_segment(frame, handle, call).map_or_else(|error| frame.refuse(error), |()| 0)
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "steps and counters below 2^53, and a cast of a time that was read from here saturates"
    )]
    fn try_segment(&mut self, frame: &mut Frame, handle: f64, call: u32) -> Result<()> {
        if call == segment_call::OPEN {
            let terms = frame.read_terms()?;
            frame.numbers[slot::TIMEOUT_MS] = terms.timeout_ms() as f64;
            let segment = if frame.flag(slot::BY_CALLS) { Segment::of_requests(terms) } else { Segment::new(terms) };
            frame.numbers[slot::HANDLE] = self.insert(Minter::Segment(Box::new(segment)));
            return Ok(());
        }
        if call == segment_call::WRITE {
            return frame.write_range();
        }
        let segment = self.segment_mut(handle)?;
        let monotonic_ms = segment.seen(millisecond_of(frame.number(slot::MONOTONIC_MS))?);
        let ahead = frame.read_count(slot::AHEAD)?;
        match call {
            segment_call::DRAW => {
                let drawn = segment.draw(monotonic_ms, frame.read_count(slot::WANT)?);
                let SegmentRange { first, stride, count } = drawn.unwrap_or(SegmentRange { first: 0, stride: 1, count: 0 });
                frame.set_first_id(first);
                frame.numbers[slot::STRIDE] = stride as f64;
                frame.numbers[slot::RANGE_COUNT] = count as f64;
            }
            segment_call::ASK | segment_call::ASK_AGAIN => {
                let (want, random) = (frame.read_count(slot::WANT)?, frame.read_bits(slot::RANDOM)?);
                let is_again = call == segment_call::ASK_AGAIN;
                frame.write_segment_request(segment.request(monotonic_ms, want, ahead, random, is_again));
            }
            segment_call::TAKE => {
                let (jitter, attempt) = (frame.read_jitter()?, Nonce(frame.read_bits(slot::NONCE)?));
                let (number, asked_ms) = (frame.read_count(slot::ASKED_NUMBER)?, frame.number(slot::ASKED_MONOTONIC_MS) as u64);
                let taken = segment.answered(&frame.read_allocated(attempt), number, asked_ms, monotonic_ms);
                if taken.is_err() {
                    segment.ended(0, monotonic_ms, jitter, REFUSALS_GROWING);
                }
                frame.numbers[slot::TAKEN] = f64::from(u8::from(taken?));
            }
            segment_call::FAIL | segment_call::REFUSE => {
                let (number, jitter) = (frame.read_count(slot::ASKED_NUMBER)?, frame.read_jitter()?);
                let growing = if call == segment_call::FAIL { u32::MAX } else { REFUSALS_GROWING };
                segment.ended(number, monotonic_ms, jitter, growing);
            }
            _ => {}
        }
        frame.write_segment_status(segment, monotonic_ms, ahead);
        Ok(())
    }
}
