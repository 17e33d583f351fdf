//! Removes from a WebAssembly module what the package does not need: what wasm-bindgen adds for its glue, and calls.
//!
//! * **No imports**: bundlers and hosts that take a `.wasm` file for an ES module look for the files that it imports. Only numbers
//!   cross the boundary (`crates/wasm`), so the module needs nothing from its host, and the package does not contain the glue.
//!   Of the module `host` they stay: the audit has its disk there, and no bundler sees that module.
//! * **Checked**: if an import remains, the module is refused.

use walrus::Module;

/// How the exports begin that only the glue uses. One of them, `__wbindgen_start`, is an import of the glue that fills a table of
/// JavaScript values.
const GLUE: &str = "__";

/// How the memory is exported.
const MEMORY: &str = "memory";

/// The module of imports that a crate asks for itself.
const HOST: &str = "host";

/// Removes all exports but those that are named and the memory; none, if nothing is named.
///
/// # Errors
///
/// If the module lacks one.
pub(crate) fn keep_exports(module: &mut Module, names: &[&str]) -> Result<(), String> {
    if let Some(name) = names.iter().find(|name| !module.exports.iter().any(|export| export.name == **name)) {
        return Err(format!("the WebAssembly module has no export {name:?}"));
    }
    let is_kept = |name: &str| names.is_empty() || name == MEMORY || names.contains(&name);
    let others: Vec<_> = module.exports.iter().filter(|export| !is_kept(&export.name)).map(walrus::Export::id).collect();
    for export in others {
        module.exports.delete(export);
    }
    Ok(())
}

/// Removes the exports that only the glue uses, and then what nothing uses, such as imports.
///
/// # Errors
///
/// If an import remains.
pub(crate) fn remove_glue(module: &mut Module) -> Result<(), String> {
    let glue: Vec<_> = module.exports.iter().filter(|export| export.name.starts_with(GLUE)).map(walrus::Export::id).collect();
    for export in glue {
        module.exports.delete(export);
    }
    walrus::passes::gc::run(module);
    let others = module.imports.iter().filter(|import| import.module != HOST);
    let imports: Vec<String> = others.map(|import| format!("{:?} of {:?}", import.name, import.module)).collect();
    if imports.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the WebAssembly module imports {}: let only numbers cross the boundary (crates/wasm/src/lib.rs)",
        imports.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use walrus::{FunctionBuilder, Module};

    use super::{keep_exports, remove_glue};

    /// A module that exports `next`, which calls an import or does not, and the import as wasm-bindgen's start function.
    fn module_that(calls_the_import: bool) -> Module {
        module_with("./frazil_bg.js", calls_the_import)
    }

    fn module_with(imported: &str, calls_the_import: bool) -> Module {
        let mut module = Module::default();
        let void = module.types.add(&[], &[]);
        let (import, _) = module.add_import_func(imported, "init", void);
        let mut next = FunctionBuilder::new(&mut module.types, &[], &[]);
        if calls_the_import {
            next.func_body().call(import);
        }
        let next = next.finish(vec![], &mut module.funcs);
        module.exports.add("next", next);
        module.exports.add("__wbindgen_start", import);
        module
    }

    #[test]
    fn the_import_that_only_the_glue_needs_is_removed() {
        let mut module = module_that(false);
        assert!(remove_glue(&mut module).is_ok());
        let module = Module::from_buffer(&module.emit_wasm()).expect("a valid module");
        assert_eq!(module.imports.iter().count(), 0);
        assert_eq!(module.exports.iter().map(|export| export.name.as_str()).collect::<Vec<_>>(), ["next"]);
    }

    #[test]
    fn only_the_exports_that_are_named_stay_and_one_that_is_missing_is_refused() {
        let mut module = module_that(false);
        assert!(keep_exports(&mut module, &[]).is_ok());
        assert_eq!(module.exports.iter().count(), 2, "nothing was named");
        let refusal = keep_exports(&mut module, &["next", "close"]).expect_err("it does not export that");
        assert!(refusal.contains(r#"no export "close""#), "{refusal}");
        assert!(keep_exports(&mut module, &["next"]).is_ok());
        assert_eq!(module.exports.iter().map(|export| export.name.as_str()).collect::<Vec<_>>(), ["next"]);
    }

    #[test]
    fn an_import_that_the_module_uses_is_refused_by_name() {
        let refusal = remove_glue(&mut module_that(true)).expect_err("it imports a function");
        assert!(refusal.contains(r#"imports "init" of "./frazil_bg.js""#), "{refusal}");
        assert_eq!(remove_glue(&mut module_with("host", true)), Ok(()), "the crate asks for it");
    }
}
