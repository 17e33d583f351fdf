//! A naive model of frazil, and the writers of the test vectors in `crates/core/vectors`.
//!
//! `model` computes the answers. `vectors` chooses the cases and writes them as JSON; the tests of the core and of the npm
//! package read the files and compare. The tests `oracle` and `exhaustive` of the core ask the model themselves.
//!
//! * **Independent**: this crate depends on no other crate of the workspace, so the core and the model agree only if both are
//!   right or both have the same error.
//! * **Deterministic**: every run writes the same bytes.
//! * **Fresh**: a test of this crate fails if a committed file differs from what would be written.
//!
//! Not covered: the state file, threads and waiting, which have tests of their own.

use std::path::Path;

mod model;
mod vectors;

pub use model::generator::{Generator, Refusal};
pub use model::layout::{Field, Kind, Layout};
pub use model::minting::{Answer, Position, Rules, SequenceStart, State, Window};

use vectors::VectorFile;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Writes the vectors.
///
/// # Errors
/// If a file cannot be written.
pub fn write() -> std::io::Result<()> {
    vectors::files().into_iter().try_for_each(|VectorFile { path, text }| std::fs::write(Path::new(ROOT).join(path), text))
}

/// Writes nothing, and compares.
///
/// # Errors
/// A sentence, if a file differs from what would be written.
pub fn check() -> Result<(), String> {
    for VectorFile { path, text } in vectors::files() {
        if std::fs::read_to_string(Path::new(ROOT).join(path)).ok() != Some(text) {
            return Err(format!("{path} is stale; to write it again: cargo run -p frazil-reference"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn the_vectors_are_what_the_reference_model_says() {
        if let Err(stale) = check() {
            panic!("{stale}");
        }
    }
}
