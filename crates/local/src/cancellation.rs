//! Whether the opening that runs on this thread is still wanted.
//!
//! This is kept for the thread and is no parameter, because only the loop in which an opening waits asks for it.

use std::cell::RefCell;

type IsWanted = Box<dyn Fn() -> bool>;

thread_local! {
    static IS_WANTED: RefCell<Option<IsWanted>> = const { RefCell::new(None) };
}

/// Makes a call. What it opens stops waiting when `is_wanted` is false.
pub(crate) fn while_wanted<T>(is_wanted: IsWanted, call: impl FnOnce() -> T) -> T {
    IS_WANTED.set(Some(is_wanted));
    let result = call();
    IS_WANTED.take();
    result
}

pub(crate) fn is_wanted() -> bool {
    IS_WANTED.with_borrow(|is_wanted| is_wanted.as_ref().is_none_or(|is_wanted| is_wanted()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_wanted_unless_it_says_otherwise_and_the_next_one_again() {
        assert!(is_wanted());
        while_wanted(Box::new(|| false), || assert!(!is_wanted()));
        while_wanted(Box::new(|| true), || assert!(is_wanted()));
        assert!(is_wanted());
    }
}
