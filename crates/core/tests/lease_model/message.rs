//! The messages under way, and the slots that they come from or are for.

use frazil::lease::Release;

use crate::NONE;
use crate::lease::small;
use crate::store::{Answer, Reason};

/// The slot of a process that is gone.
pub(crate) const GONE: u8 = u8::MAX;
/// The bit in the slot of a message whose attempt was given up.
pub(crate) const LATE: u8 = 64;
/// The same, if another attempt has begun since.
pub(crate) const EARLIER: u8 = 32;

/// The holder in a slot.
const fn holder_of(slot: u8) -> u8 {
    if slot == GONE { GONE } else { slot & !(LATE | EARLIER) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Message {
    Acquire { slot: u8, grant: u8, nonce: u8 },
    Renew { slot: u8, grant: u8, nonce: u8, node: u8, until: u8 },
    Ensure { slot: u8, behind: bool },
    Release { grant: u8, node: u8, until: u8, known_until: u8 },
    Granted { slot: u8, answer: Answer },
    Refused { slot: u8, grant: u8, reason: Reason },
    Fenced { slot: u8 },
}

impl Message {
    /// The holder that an answer is for.
    pub(crate) fn addressee(self) -> Option<u8> {
        match self {
            Self::Granted { slot, .. } | Self::Refused { slot, .. } | Self::Fenced { slot } => Some(holder_of(slot)),
            _ => None,
        }
    }

    /// Whether the attempt that it belongs to was given up.
    pub(crate) fn is_late(self) -> bool {
        match self {
            Self::Granted { slot, .. } | Self::Refused { slot, .. } | Self::Fenced { slot } => slot & LATE != 0,
            _ => false,
        }
    }

    /// The holder that waits for an answer to a request.
    pub(crate) fn sender(self) -> Option<u8> {
        match self {
            Self::Acquire { slot, .. } | Self::Renew { slot, .. } | Self::Ensure { slot, .. } => Some(holder_of(slot)),
            _ => None,
        }
    }

    /// Whether no attempt has begun since.
    pub(crate) fn is_of_the_last(self) -> bool {
        match self {
            Self::Granted { slot, .. } | Self::Refused { slot, .. } | Self::Fenced { slot } => slot & EARLIER == 0,
            _ => true,
        }
    }

    /// Changes the holder that it comes from or is for.
    pub(crate) fn readdress(&mut self, change: impl Fn(u8) -> u8) {
        match self {
            Self::Granted { slot, .. }
            | Self::Refused { slot, .. }
            | Self::Fenced { slot }
            | Self::Acquire { slot, .. }
            | Self::Renew { slot, .. }
            | Self::Ensure { slot, .. } => *slot = change(holder_of(*slot)) | *slot & (LATE | EARLIER),
            Self::Release { .. } => {}
        }
    }

    /// Changes the names of its grant and nonce.
    pub(crate) fn rename(&mut self, change: impl Fn(u8) -> u8) {
        match self {
            Self::Acquire { grant, nonce, .. } | Self::Renew { grant, nonce, .. } => {
                (*grant, *nonce) = (change(*grant), change(*nonce));
            }
            Self::Release { grant, .. } | Self::Refused { grant, .. } | Self::Granted { answer: Answer { grant, .. }, .. } => {
                *grant = change(*grant);
            }
            Self::Ensure { .. } | Self::Fenced { .. } => {}
        }
    }

    pub(crate) fn grant(self) -> u8 {
        match self {
            Self::Acquire { grant, .. }
            | Self::Renew { grant, .. }
            | Self::Release { grant, .. }
            | Self::Refused { grant, .. }
            | Self::Granted { answer: Answer { grant, .. }, .. } => grant,
            Self::Ensure { .. } | Self::Fenced { .. } => NONE,
        }
    }

    pub(crate) fn nonce(self) -> u8 {
        match self {
            Self::Acquire { nonce, .. } | Self::Renew { nonce, .. } => nonce,
            _ => NONE,
        }
    }
}

pub(crate) fn released(release: Release) -> Message {
    Message::Release {
        grant: small(release.grant.0),
        node: u8::try_from(release.node).unwrap(),
        until: u8::try_from(release.until_ms).unwrap(),
        known_until: u8::try_from(release.held_until_ms).unwrap(),
    }
}
