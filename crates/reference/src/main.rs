//! Writes the test vectors of `crates/core/vectors`.
//!
//! * `cargo run -p frazil-reference` writes the files.
//! * `cargo run -p frazil-reference -- --check` writes nothing and fails if a file differs from what would be written.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        [] => frazil_reference::write().map_err(|failure| failure.to_string()),
        ["--check"] => frazil_reference::check(),
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
