//! Writes the test vectors of `crates/core/vectors` from a naive model of frazil.
//!
//! * `cargo run -p frazil-reference` writes the files.
//! * `cargo run -p frazil-reference -- --check` writes nothing and fails if a file differs from what would be written.
//!
//! `model` computes the answers; `vectors` chooses the cases and writes them as JSON. The tests of the core and of the npm
//! package read the files and compare.
//!
//! * **Independent**: this crate depends on no other crate of the workspace, so the core and the model agree only if both are
//!   right or both have the same error.
//! * **Deterministic**: every run writes the same bytes.
//! * **Fresh**: a test of this crate fails if a committed file differs from what would be written.
//!
//! Not covered: the state file, threads and waiting, which have tests of their own.

use std::path::Path;
use std::process::ExitCode;

mod model;
mod vectors;

use vectors::VectorFile;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        [] => write(),
        ["--check"] => check(),
        _ => Err("usage: frazil-reference [--check]".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            #[expect(clippy::print_stderr, reason = "a build task reports on its standard error")]
            {
                eprintln!("frazil-reference: {failure}");
            }
            ExitCode::FAILURE
        }
    }
}

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn write() -> Result<(), Failure> {
    for VectorFile { path, text } in vectors::files() {
        std::fs::write(Path::new(ROOT).join(path), text)?;
    }
    Ok(())
}

fn check() -> Result<(), Failure> {
    for VectorFile { path, text } in vectors::files() {
        if std::fs::read_to_string(Path::new(ROOT).join(path)).ok() != Some(text) {
            return Err(format!("{path} is stale; to write it again: cargo run -p frazil-reference").into());
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
