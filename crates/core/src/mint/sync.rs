//! The atomics and the shared pointer of states: those of the language, or loom's when loom explores the interleavings
//! (`--cfg frazil_loom`, see `crates/core/tests/loom`). The cfg is our own, because plain `loom` also changes dependencies.

#[cfg(not(frazil_loom))]
pub(crate) use alloc::sync::Arc;
#[cfg(not(frazil_loom))]
pub(crate) use core::sync::atomic::{AtomicU64, Ordering};

#[cfg(frazil_loom)]
pub(crate) use loom::sync::Arc;
#[cfg(frazil_loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
