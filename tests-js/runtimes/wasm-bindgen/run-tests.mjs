// Runs the tests of crates/wasm as wasm-bindgen's own runner does: by the context that wasm-bindgen-test puts into the module. That context
// is not a public interface, so its version is pinned in Cargo.toml.
// Compiling the runner itself would take 90 s more on each machine.
import * as glue from "#glue";

/** The prefix of the names under which wasm-bindgen-test exports the tests. */
const PREFIX = "__wbgt_";

/** Runs every test of the module. Returns what they printed, the number of tests, and whether all passed. */
export async function runTests(bytes) {
  const printed = [];
  globalThis.__wbgtest_og_console_log = (line) => printed.push(line);
  globalThis.__wbg_test_output_writeln = (line) => printed.push(line);
  globalThis.__wbg_test_invoke = (test) => test();
  const { log, error } = console;
  console.log = (line) => printed.push(line);
  console.error = (line) => printed.push(line);
  try {
    const instance = new WebAssembly.Instance(await WebAssembly.compile(bytes), { "./frazil_bg.js": glue });
    glue.__wbg_set_wasm(instance.exports);
    instance.exports.__wbindgen_start();
    const context = new glue.WasmBindgenTestContext(false);
    const tests = Object.keys(instance.exports).filter((name) => name.startsWith(PREFIX));
    context.include_ignored(true);
    context.filtered_count(0);
    const passed = await context.run(tests.map((name) => instance.exports[name]));
    return { passed, tests: tests.length, printed: printed.join("\n") };
  } finally {
    Object.assign(console, { log, error });
  }
}
