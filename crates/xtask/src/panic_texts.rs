//! Removes from the WebAssembly module what the standard library says before it ends a program that has no memory.
//!
//! The panic handler of `crates/wasm` ends the instance and reads nothing, so nobody sees these texts, some 400 bytes of the
//! compressed module.
//!
//! * **The functions that say them only end**: a function of [`ENDING`] ends in `unreachable`, and is that instruction afterwards.
//! * **The texts become zeros**, which Binaryen leaves out.
//! * **Checked**: a module is refused if code refers to an address in a text, or to a place in the source that names one.

use std::ops::Range;

use walrus::ir::{Const, Instr, Load, Store, Value, Visitor, dfs_in_order};
use walrus::{ConstExpr, Data, DataKind, FunctionKind, Module};

/// The functions of the standard library that end a program without memory, as their names end.
const ENDING: [&str; 3] = ["::__rdl_alloc_error_handler", "::raw_vec::capacity_overflow", "::raw_vec::handle_error"];

/// What they say, and how a path of the standard library begins and ends.
const MESSAGES: [&[u8]; 2] = [b"\x15memory allocation of \xc0\r bytes failed", b"capacity overflow"];
const PATH: (&[u8], &[u8]) = (b"/rustc/", b".rs");
/// The length of `core::panic::Location`, whose first field is the address of a path.
const LOCATION_BYTES: usize = 16;

/// Removes the texts.
///
/// # Errors
///
/// If one is in use.
pub(crate) fn remove_panic_texts(module: &mut Module) -> Result<(), String> {
    for function in module.funcs.iter_mut() {
        let is_ending = function.name.as_ref().is_some_and(|name| ENDING.iter().any(|end| name.ends_with(end)));
        let FunctionKind::Local(local) = &mut function.kind else { continue };
        let mut body = local.builder_mut().func_body();
        if is_ending && body.instrs().last().is_some_and(|(last, _)| matches!(last, Instr::Unreachable(_))) {
            body.instrs_mut().clear();
            body.unreachable();
        }
    }
    let mut removed = Vec::new();
    for id in module.data.iter().map(Data::id).collect::<Vec<_>>() {
        let data = module.data.get_mut(id);
        let DataKind::Active { offset: ConstExpr::Value(Value::I32(start)), .. } = data.kind else { continue };
        let start = usize::try_from(start).map_err(|_| "data lies beyond 2 GB")?;
        let texts = texts_in(&data.value);
        let locations = locations_in(&data.value, start, &texts);
        for range in texts.into_iter().chain(locations) {
            data.value[range.clone()].fill(0);
            removed.push(start + range.start..start + range.end);
        }
    }
    let mut references = References { removed, found: None };
    for (id, local) in module.funcs.iter_local() {
        dfs_in_order(&mut references, local, local.entry_block());
        if let Some(address) = references.found {
            let name = module.funcs.get(id).name.as_deref().unwrap_or("a function");
            return Err(format!("{name} uses a text of a panic at {address}: let nothing panic in the WebAssembly module"));
        }
    }
    Ok(())
}

/// Where texts are.
fn texts_in(bytes: &[u8]) -> Vec<Range<usize>> {
    let digits = (0..100).flat_map(|number| format!("{number:02}").into_bytes()).collect::<Vec<_>>();
    let find = |from: usize, text: &[u8]| bytes[from..].windows(text.len()).position(|part| part == text).map(|at| from + at);
    let mut texts = Vec::new();
    for text in MESSAGES.into_iter().chain([&digits[..]]) {
        texts.extend(find(0, text).map(|at| at..at + text.len()));
    }
    let mut from = 0;
    while let Some(path) = find(from, PATH.0)
        && let Some(end) = find(path, PATH.1)
    {
        from = end + PATH.1.len();
        texts.push(path..from);
    }
    texts
}

/// Where places in the source are, which begin with the address of a text.
fn locations_in(bytes: &[u8], start: usize, texts: &[Range<usize>]) -> Vec<Range<usize>> {
    let is_text = |word: &[u8]| texts.iter().any(|text| word == u32::try_from(start + text.start).unwrap_or(0).to_le_bytes());
    let words = (0..bytes.len().saturating_sub(LOCATION_BYTES - 1)).filter(|at| (start + at).is_multiple_of(4));
    words.filter(|at| is_text(&bytes[*at..at + 4])).map(|at| at..at + LOCATION_BYTES).collect()
}

/// Looks for an address of what was removed.
struct References {
    removed: Vec<Range<usize>>,
    found: Option<u64>,
}

impl References {
    fn see(&mut self, address: u64) {
        let is_in = |range: &Range<usize>| usize::try_from(address).is_ok_and(|address| range.contains(&address));
        if self.removed.iter().any(is_in) {
            self.found = Some(address);
        }
    }
}

impl Visitor<'_> for References {
    fn visit_const(&mut self, constant: &Const) {
        if let Value::I32(address) = constant.value {
            self.see(u64::from(address.cast_unsigned()));
        }
    }

    fn visit_load(&mut self, load: &Load) {
        self.see(load.arg.offset);
    }

    fn visit_store(&mut self, store: &Store) {
        self.see(store.arg.offset);
    }
}

#[cfg(test)]
mod tests {
    use walrus::ir::Value;
    use walrus::{ConstExpr, DataKind, FunctionBuilder, Module};

    use super::{MESSAGES, remove_panic_texts};

    const START: i32 = 1024;

    /// A module with texts, a place in the source and a live text at the end. `handle_error` uses `addresses[0]`, and `next` the others.
    fn module_with(addresses: &[i32]) -> Module {
        let mut module = Module::default();
        let memory = module.memories.add_local(false, false, 1, None, None);
        let mut bytes = b"/rustc/0123/library/alloc.rs".to_vec();
        bytes.extend(u32::try_from(START).expect("an address").to_le_bytes());
        bytes.extend([9; 12]);
        bytes.extend(MESSAGES[1]);
        bytes.extend(b"node");
        let offset = ConstExpr::Value(Value::I32(START));
        module.data.add(DataKind::Active { memory, offset }, bytes);
        for (name, addresses, ends) in [("alloc::raw_vec::handle_error", &addresses[..1], true), ("next", &addresses[1..], false)]
        {
            let mut function = FunctionBuilder::new(&mut module.types, &[], &[]);
            function.name(name.to_owned());
            for address in addresses {
                function.func_body().i32_const(*address).drop();
            }
            if ends {
                function.func_body().unreachable();
            }
            let function = function.finish(vec![], &mut module.funcs);
            module.exports.add(name, function);
        }
        module
    }

    fn data_of(module: &Module) -> Vec<u8> {
        module.data.iter().next().expect("data").value.clone()
    }

    #[test]
    fn texts_and_places_become_zeros_and_what_is_used_stays() {
        let mut module = module_with(&[START + 44, START + 61]);
        assert_eq!(remove_panic_texts(&mut module), Ok(()));
        let bytes = data_of(&module);
        assert_eq!((&bytes[61..], bytes[..61].iter().all(|byte| *byte == 0)), (&b"node"[..], true));
    }

    #[test]
    fn a_module_whose_code_uses_one_is_refused_by_the_name_of_the_function() {
        for address in [START, START + 27, START + 28, START + 43, START + 44, START + 60] {
            let refusal = remove_panic_texts(&mut module_with(&[START, address])).expect_err("it is in use");
            assert!(refusal.starts_with("next uses a text of a panic"), "{refusal}");
        }
    }
}
