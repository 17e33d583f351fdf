//! The fleets that are explored.

use std::sync::Arc;

use crate::MARGIN;
use crate::fleet::{Fleet, Readings};
use crate::mutant::Mutant;
use crate::state::Budget;

pub(crate) fn fleet(name: &'static str) -> Fleet {
    Fleet {
        name,
        nodes: 1,
        holders: 2,
        horizon: 6,
        under_way: (1, 1),
        readings: Readings::All,
        faults: Budget::default(),
        failover: None,
        restore: false,
        driver: false,
        mutant: Mutant::None,
        seen: Arc::default(),
    }
}

pub(crate) fn crash() -> Fleet {
    Fleet { faults: Budget { crashes: 1, ..Budget::default() }, ..fleet("a holder crashes") }
}

pub(crate) fn close() -> Fleet {
    let faults = Budget { closes: 1, ..Budget::default() };
    Fleet { faults, readings: Readings::UpTo, horizon: 5, ..fleet("a holder closes") }
}

pub(crate) fn decline() -> Fleet {
    Fleet { faults: Budget { declines: 1, ..Budget::default() }, horizon: 5, ..fleet("a holder declines") }
}

pub(crate) fn clocks() -> Fleet {
    Fleet { readings: Readings::Near(2), horizon: 5, ..fleet("clocks of holders step") }
}

pub(crate) fn step_back() -> Fleet {
    let faults = Budget { steps_back: 1, crashes: 1, ..Budget::default() };
    Fleet { faults, horizon: 5, ..fleet("the store's clock steps back") }
}

pub(crate) fn reorder() -> Fleet {
    Fleet { under_way: (2, 2), horizon: 3, ..fleet("messages overtake") }
}

pub(crate) fn duplicate() -> Fleet {
    Fleet { faults: Budget { duplicates: 1, ..Budget::default() }, nodes: 2, horizon: 4, ..fleet("a message comes twice") }
}

pub(crate) fn copy() -> Fleet {
    Fleet { faults: Budget { clones: 1, ..Budget::default() }, holders: 1, ..fleet("a holder is copied") }
}

pub(crate) fn failover() -> Fleet {
    let faults = Budget { saves: 1, disasters: 1, ..Budget::default() };
    Fleet { faults, failover: Some(MARGIN), horizon: 5, ..fleet("a replica takes over") }
}

pub(crate) fn restore() -> Fleet {
    let faults = Budget { saves: 1, disasters: 1, ..Budget::default() };
    Fleet { faults, restore: true, horizon: 5, ..fleet("the store is put back") }
}

pub(crate) fn copy_and_close() -> Fleet {
    // The third holder is the process that starts after the one that closed.
    let faults = Budget { clones: 1, closes: 1, crashes: 1, ..Budget::default() };
    Fleet { faults, holders: 1, readings: Readings::UpTo, horizon: 1, ..fleet("a holder is copied, one copy closes") }
}

pub(crate) fn close_and_crash() -> Fleet {
    let faults = Budget { closes: 1, crashes: 1, ..Budget::default() };
    Fleet { faults, readings: Readings::UpTo, horizon: 3, ..fleet("a holder closes, one crashes") }
}

/// The shipped driver: an attempt that it gives up is answered later.
pub(crate) fn late() -> Fleet {
    Fleet { driver: true, under_way: (1, 2), horizon: 4, ..fleet("answers come after their attempt") }
}

pub(crate) fn late_and_overtaken() -> Fleet {
    Fleet { driver: true, under_way: (2, 2), holders: 1, horizon: 4, ..fleet("late answers and requests overtake") }
}

pub(crate) fn late_and_copied() -> Fleet {
    let faults = Budget { clones: 1, ..Budget::default() };
    Fleet { driver: true, faults, holders: 1, under_way: (1, 2), horizon: 1, ..fleet("a holder with late answers is copied") }
}

pub(crate) fn late_and_failover() -> Fleet {
    let faults = Budget { saves: 1, disasters: 1, ..Budget::default() };
    let name = "a replica takes over, and answers come late";
    Fleet { driver: true, faults, failover: Some(MARGIN), under_way: (1, 2), holders: 1, horizon: 4, ..fleet(name) }
}
