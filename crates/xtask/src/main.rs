//! Build steps that need Rust. They are run by `cargo run -p xtask -- COMMAND`.
//!
//! * `bindgen WASM DIR` writes a module and the glue of wasm-bindgen for it. It uses wasm-bindgen as a library, at the version that
//!   Cargo.lock pins, because the glue and the module must come from the same version. The tests of `crates/wasm` need the glue.
//! * `inspect FILE…` prints what each addon needs and offers, as JSON: one list, in the order of the files.
//! * `module WASM FILE [EXPORT…]` writes a module of the package, which imports at most its host and so needs no glue. If exports are
//!   named, it has those and its memory, and nothing that only others need.
//! * `tables` writes the tables in `npm/frazil/src/generated` from the core. `tables --check` writes nothing and fails if a file
//!   differs from what would be written.
//!
//! Not here: the test vectors, which `crates/reference` writes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

mod failure;
mod inspect;
mod module;
mod tables;

use failure::Failure;
use tables::GeneratedFile;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["bindgen", wasm, directory] => bindgen(Path::new(wasm), Path::new(directory)),
        ["inspect", ref files @ ..] if !files.is_empty() => print_facts(files),
        ["module", wasm, file, ref exports @ ..] => write_module(Path::new(wasm), Path::new(file), exports),
        ["tables"] => write_or_check(&tables::files(), false),
        ["tables", "--check"] => write_or_check(&tables::files(), true),
        _ => Err("usage: xtask bindgen WASM DIR | inspect FILE… | module WASM FILE [EXPORT…] | tables [--check]".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            #[expect(clippy::print_stderr, reason = "a build task reports on its standard error")]
            {
                eprintln!("xtask: {failure}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Writes the files, or fails if one differs from what would be written.
fn write_or_check(files: &[GeneratedFile], check: bool) -> Result<(), Failure> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    for GeneratedFile { path, text } in files {
        let file = root.join(path);
        if !check {
            std::fs::create_dir_all(file.parent().ok_or("a generated file has a folder")?)?;
            std::fs::write(file, text)?;
        } else if std::fs::read_to_string(&file).ok().as_ref() != Some(text) {
            return Err(format!("{path} is stale; to write it again: cargo run -p xtask -- tables").into());
        }
    }
    Ok(())
}

/// wasm-bindgen, set up for a module.
fn wasm_bindgen(wasm: &Path) -> Result<Bindgen, Failure> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(wasm).out_name("frazil").typescript(false).bundler(true)?;
    Ok(bindgen)
}

fn bindgen(wasm: &Path, directory: &Path) -> Result<(), Failure> {
    Ok(wasm_bindgen(wasm)?.generate(directory)?)
}

fn write_module(wasm: &Path, file: &Path, exports: &[&str]) -> Result<(), Failure> {
    let mut output = wasm_bindgen(wasm)?.generate_output()?;
    module::keep_exports(output.wasm_mut(), exports)?;
    module::remove_glue(output.wasm_mut())?;
    std::fs::create_dir_all(file.parent().ok_or("a module has a folder")?)?;
    Ok(std::fs::write(file, output.wasm_mut().emit_wasm())?)
}

fn print_facts(files: &[&str]) -> Result<(), Failure> {
    let facts = files.iter().map(|file| {
        let facts = std::fs::read(file).map_err(Failure::from).and_then(|bytes| inspect::facts(&bytes));
        facts.map_err(|failure| format!("{file}: {failure}").into())
    });
    let facts = facts.collect::<Result<Vec<_>, Failure>>()?;
    #[expect(clippy::print_stdout, reason = "the facts are the output of this command")]
    {
        println!("{}", serde_json::Value::from(facts));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{tables, write_or_check};

    #[test]
    fn the_typescript_tables_are_what_the_core_says() {
        if let Err(stale) = write_or_check(&tables::files(), true) {
            panic!("{stale}");
        }
    }
}
