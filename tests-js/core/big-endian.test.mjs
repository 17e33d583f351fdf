// A big-endian processor (s390x): WebAssembly's memory is little-endian there too, so nothing is minted; decoding works.
//
// The processor is simulated: views with the other byte order, beside an engine with its own. docs/reference/platforms.md has the results
// of a real one.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const VIEWS = `
  const isIndex = (key) => typeof key === "string" && /^\\d+$/.test(key);
  for (const name of ["Uint16", "Uint32", "Float64", "BigUint64"]) {
    const View = globalThis[name + "Array"];
    const [get, set] = ["get", "set"].map((verb) => DataView.prototype[verb + name]);
    const handler = {
      get(view, key) {
        if (isIndex(key)) return key < view.length ? get.call(new DataView(view.buffer), view.byteOffset + key * View.BYTES_PER_ELEMENT) : undefined;
        return typeof view[key] === "function" ? view[key].bind(view) : view[key];
      },
      set(view, key, value) {
        if (key < view.length) set.call(new DataView(view.buffer), view.byteOffset + key * View.BYTES_PER_ELEMENT, value);
        return true;
      },
    };
    globalThis[name + "Array"] = new Proxy(View, {
      construct(View, given) {
        const view = new View(...given);
        const swapped = new Proxy(view, handler);
        if (Array.isArray(given[0])) given[0].forEach((value, at) => { swapped[at] = value; });
        return swapped;
      },
    });
  }
`;

const PROGRAM = `
  const { Layout, Snowflake } = await import("frazil");
  const codeOf = (call) => {
    try {
      return String(call());
    } catch ({ code, message }) {
      return [code, /big-endian/.test(message)];
    }
  };
  const ids = new Snowflake({ node: 7 });
  const { timestampMs, node, sequence } = Layout.named("default").decode(382138004275228672n);
  console.log(JSON.stringify({ calls: [ids.next, () => ids.nextMany(2), ids.tryNext].map(codeOf), decoded: [timestampMs, node, sequence] }));
`;

function run(program) {
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: import.meta.dirname,
    encoding: "utf8",
    env: { ...process.env, FRAZIL_BACKEND: "wasm" },
  });
  assert.ok(stdout, stderr);
  return JSON.parse(stdout);
}

const decoded = [1795176000000, 7, 0];

test("a big-endian processor mints nothing, by a code, and decodes", () => {
  const refused = ["WASM_UNAVAILABLE", true];
  assert.deepEqual(run(VIEWS + PROGRAM), { calls: [refused, refused, refused], decoded });
});

test("the checker sees a processor that mints", () => {
  const { calls, decoded: here } = run(PROGRAM);
  assert.ok(calls.every((call) => typeof call === "string" && /\d{18}/.test(call)));
  assert.deepEqual(here, decoded);
});
