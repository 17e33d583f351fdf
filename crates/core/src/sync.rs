//! The atomics and the shared pointer of the shared wrapper: those of the language, or loom's where it checks the wrapper
//! (`--cfg frazil_loom`, see `crates/core/tests/loom.rs`). A cfg of our own, since plain `loom` flips dependencies too.

#[cfg(not(frazil_loom))]
pub(crate) use alloc::sync::Arc;
#[cfg(not(frazil_loom))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering};

#[cfg(frazil_loom)]
pub(crate) use loom::sync::Arc;
#[cfg(frazil_loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
