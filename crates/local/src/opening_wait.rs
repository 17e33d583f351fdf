//! How long an opening waits for users of other files of the name, decided from what its looks at the name locks showed. No I/O.
//!
//! * **While a look shows a user of another file**, the opening waits for that user to stop.
//! * **From the first look on that shows no user**, it waits for the whole time that a user can issue ahead of the clock. The
//!   time of the last look that showed one does not count: the user may have issued until just before the look that did not.
//! * **Below a directory that shows no users**, a look says nothing. Then the opening waits as long as a user takes to notice
//!   that its path leads elsewhere, and for all that this user has issued. Not if another process has the file open.
//!
//! The opening waits before it attaches, and holds its own name locks meanwhile. So nothing of the wait is in the mapped state,
//! where a crash could lose it.
//!
//! An opening that may not wait for so long is refused. The process remembers what its openings of the name saw, so an opening
//! that is tried again has to wait for no more and no less than what is left. Another process does not know what the refused
//! opening saw: a user that ended less than a second before the first look of an opening is not seen.

use std::time::{Duration, Instant};

use frazil::mint::Machine;

use crate::ceiling::WINDOW_MS;
use crate::file_spec::NEW_FOR;
use crate::first_id::issued_ahead_ms;
use crate::os::Identity;

/// How much later than a refusal said an opening below a directory that shows no users may be tried again, and still not wait
/// from the start. The processes that it did not see wait just as long, so this has to be short.
const RETRY_GRACE: Duration = Duration::from_millis(250);

/// How far ahead of the clock a user of another file can have issued.
const fn issued_ahead(machine: &Machine) -> Duration {
    Duration::from_millis(issued_ahead_ms(machine))
}

/// How long an opening waits below a directory that shows no users.
fn unseen_wait(machine: &Machine) -> Duration {
    Duration::from_millis(WINDOW_MS).max(issued_ahead(machine))
}

/// What the openings of a process saw of users of other files of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Others {
    /// Nobody, or all that they issued is over.
    #[default]
    None,
    /// There was one at the last look.
    InUse,
    /// There was one, and none since this first look that did not show one.
    GoneSince(Instant),
}

/// What the openings of a process remember of a name until one of them succeeds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sightings {
    others: Others,
    /// The file that was opened below a directory that shows no users, and since when its path led to it.
    unseen: Option<(Identity, Instant)>,
    /// The file that was new.
    new_file: Option<Identity>,
    /// When the above says nothing any more; `None` while it has no end.
    forget_at: Option<Instant>,
}

/// What a look showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// A user of another file of the name.
    pub(crate) other_user: bool,
    /// The file, if there can be a user that the look did not show.
    pub(crate) unseen_of: Option<Identity>,
}

impl Sightings {
    /// Notes that the file is new. Its name may have had another file just before. That file's user may have ended before this look, or
    /// been seen only by another opening that did not start the new file.
    pub(crate) fn note_new_file(&mut self, file: Identity) {
        if self.new_file.replace(file) != Some(file) || self.others == Others::None {
            self.others = Others::InUse;
        }
        self.forget_at = None;
    }

    /// Notes a look, and returns how long the opening has to wait from now on; zero if it may attach. If the look showed a user,
    /// the opening has to look again, and to wait that long after the user is gone.
    pub(crate) fn note(&mut self, look: Look, machine: &Machine, now: Instant) -> Duration {
        self.others = match (self.others, look.other_user) {
            (_, true) => Others::InUse,
            (Others::InUse, false) => Others::GoneSince(now),
            (others, false) => others,
        };
        let since = self.unseen.filter(|(opened, since)| {
            look.unseen_of == Some(*opened) && now.saturating_duration_since(*since) <= unseen_wait(machine) + RETRY_GRACE
        });
        self.unseen = look.unseen_of.map(|opened| since.unwrap_or((opened, now)));
        let rest = |since, wait: Duration| wait.saturating_sub(now.saturating_duration_since(since));
        let after_others = match self.others {
            Others::None => Duration::ZERO,
            Others::InUse => issued_ahead(machine),
            Others::GoneSince(gone) => rest(gone, issued_ahead(machine)),
        };
        if after_others.is_zero() {
            self.others = Others::None;
        }
        let wait = after_others.max(self.unseen.map_or(Duration::ZERO, |(_, since)| rest(since, unseen_wait(machine))));
        // Not before a file that is new would have to wait again.
        self.forget_at = (self.others != Others::InUse).then(|| now + wait + NEW_FOR);
        wait
    }

    /// Notes that the path led to another file than the one that was opened.
    pub(crate) const fn note_replaced(&mut self) {
        if let Others::GoneSince(_) = self.others {
            self.others = Others::InUse;
        }
        self.unseen = None;
        self.forget_at = None;
    }

    /// Whether it says nothing that an opening from now on needs.
    pub(crate) fn is_empty(&self, now: Instant) -> bool {
        (self.others == Others::None && self.unseen.is_none()) || self.forget_at.is_some_and(|at| at < now)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test whose set-up fails has failed")]

    use frazil::{Layout, Node};

    use super::*;

    const NOBODY: Look = Look { other_user: false, unseen_of: None };
    const A_USER: Look = Look { other_user: true, unseen_of: None };

    fn identity(inode: u64) -> Identity {
        Identity { device: 1, inode, created_ns: 0, generation: None }
    }

    fn file(inode: u64) -> Look {
        Look { other_user: false, unseen_of: Some(identity(inode)) }
    }

    /// The waits after looks at those milliseconds. The layout has ticks of 1 ms, so a user can be ahead by 1001 ms.
    fn waits(sightings: &mut Sightings, looks: &[(u64, Look)]) -> Vec<u128> {
        let machine = Machine::new(&Layout::named("default").unwrap(), Node::Id(0), 0).unwrap();
        let start = Instant::now();
        looks.iter().map(|(ms, look)| sightings.note(*look, &machine, start + Duration::from_millis(*ms)).as_millis()).collect()
    }

    // docs/internals/claims.md: 18
    #[test]
    fn the_wait_begins_with_the_first_look_that_shows_no_user() {
        let mut sightings = Sightings::default();
        let looks = [(0, NOBODY), (10, A_USER), (40, A_USER), (70, NOBODY), (100, NOBODY), (1070, NOBODY), (1071, NOBODY)];
        assert_eq!(waits(&mut sightings, &looks), [0, 1001, 1001, 1001, 971, 1, 0]);
        // Another user, and an opening that is tried again after a refusal, however late.
        assert_eq!(waits(&mut sightings, &[(0, A_USER), (60_000, NOBODY), (60_500, A_USER), (60_600, NOBODY)]), [1001; 4]);
        assert!(!sightings.is_empty(Instant::now()));
    }

    #[test]
    fn a_new_file_waits_as_if_its_name_had_a_user_until_now() {
        let mut sightings = Sightings::default();
        sightings.note_new_file(identity(1));
        assert_eq!(waits(&mut sightings, &[(0, NOBODY), (1000, NOBODY), (1001, NOBODY)]), [1001, 1, 0]);
    }

    #[test]
    fn a_new_file_whose_opening_is_tried_again_does_not_wait_again_and_the_next_new_file_does() {
        let machine = Machine::new(&Layout::named("default").unwrap(), Node::Id(0), 0).unwrap();
        let (mut sightings, start) = (Sightings::default(), Instant::now());
        let mut waits = |inode, ms| {
            sightings.note_new_file(identity(inode));
            sightings.note(NOBODY, &machine, start + Duration::from_millis(ms)).as_millis()
        };
        assert_eq!([waits(1, 0), waits(1, 900), waits(2, 1000), waits(2, 1900), waits(2, 2001)], [1001, 101, 1001, 101, 0]);
    }

    #[test]
    fn a_file_that_is_replaced_while_it_waits_waits_from_the_start() {
        let mut sightings = Sightings::default();
        assert_eq!(waits(&mut sightings, &[(0, A_USER), (10, NOBODY)]), [1001; 2]);
        sightings.note_replaced();
        assert_eq!(waits(&mut sightings, &[(500, NOBODY)]), [1001]);
    }

    // docs/internals/claims.md: 18
    #[test]
    fn what_an_opening_that_sees_nobody_remembers_ends_with_the_wait_and_with_the_file() {
        let mut sightings = Sightings::default();
        assert_eq!(waits(&mut sightings, &[(0, file(1)), (2000, file(1)), (3000, file(1)), (3250, file(1))]), [3000, 1000, 0, 0]);
        assert_eq!(waits(&mut sightings, &[(3251, file(1)), (3300, file(1))]), [3000, 2951], "too late");
        assert_eq!(waits(&mut sightings, &[(3400, file(2)), (3500, file(1))]), [3000, 3000], "another file of the name");
        sightings.note_replaced();
        assert_eq!(waits(&mut sightings, &[(3600, file(1))]), [3000]);
        assert_eq!(waits(&mut sightings, &[(3700, NOBODY)]), [0], "another process has it open");
        assert!(sightings.is_empty(Instant::now()));
    }

    #[test]
    fn what_is_remembered_ends_when_it_is_over_and_a_user_is_remembered_for_good() {
        let (mut sightings, start) = (Sightings::default(), Instant::now());
        let is_empty = |sightings: &Sightings, ms| sightings.is_empty(start + Duration::from_millis(ms));
        assert!(is_empty(&sightings, 0));
        waits(&mut sightings, &[(0, A_USER)]);
        assert!(!is_empty(&sightings, 1 << 32));
        waits(&mut sightings, &[(0, NOBODY)]);
        assert!(!is_empty(&sightings, 11_001) && is_empty(&sightings, 12_000));
        waits(&mut sightings, &[(0, file(1))]);
        assert!(!is_empty(&sightings, 13_000) && is_empty(&sightings, 14_000));
        sightings.note_new_file(identity(1));
        assert!(!is_empty(&sightings, 1 << 32), "an opening is about to look");
    }
}
