// Several realms in one thread, as vm contexts and Jest create them: each loads the package again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { entry, inNewProcess, needsAddon, repeats } from "./node-process.mjs";

/** `realm()` loads the package in a new vm context, and returns its exports and the context. */
const REALMS = `
  import { createRequire } from "node:module";
  import { readFileSync } from "node:fs";
  import vm from "node:vm";
  const path = ${JSON.stringify(entry)};
  const wrapped = (file) => "(function (exports, require, module, __filename) {" + readFileSync(file, "utf8") + "\\n})";
  function realm() {
    const context = vm.createContext({ process, performance, crypto, TextEncoder, TextDecoder, AbortSignal, atob, setTimeout });
    const load = (file) => {
      const outside = createRequire(file);
      const require = (name) => (name.startsWith("./") ? load(outside.resolve(name)) : outside(name));
      const module = { exports: {} };
      new vm.Script(wrapped(file), { filename: file }).runInContext(context)(module.exports, require, module, file);
      return module.exports;
    };
    return { context, ...load(path) };
  }
  const collect = async () => {
    for (let round = 0; round < 20; round++) {
      gc();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
`;

for (const backend of ["native", "wasm"]) {
  const needed = backend === "native" ? needsAddon : {};

  test(`${backend}: a realm that has minted can be garbage-collected with all it loaded`, needed, async () => {
    const script = `
      ${REALMS}
      const kept = [];
      const round = async (hold) => {
        const before = process.memoryUsage();
        const contexts = [];
        for (let at = 0; at < 60; at++) {
          const { context, Snowflake } = realm();
          const ids = [new Snowflake({ node: at }), new Snowflake({ node: at, now: Date.now })];
          for (const each of ids) each.nextMany(10);
          contexts.push(new WeakRef(context));
          if (hold && at < 20) kept.push(ids);
          if (at % 20 === 19) await collect();
        }
        await collect();
        const { heapUsed, external, arrayBuffers } = process.memoryUsage();
        const grown = heapUsed + external + arrayBuffers - before.heapUsed - before.external - before.arrayBuffers;
        return { alive: contexts.filter((context) => context.deref()).length, grown };
      };
      await round(false);
      const freed = await round(false);
      const held = await round(true);
      process.stdout.write(JSON.stringify({ freed, held }));
    `;
    const { freed, held } = await inNewProcess(script, { flags: ["--expose-gc"], env: { FRAZIL_BACKEND: backend } });
    assert.ok(held.alive >= 20, `the checker must detect contexts that are held: ${held.alive}`);
    assert.ok(freed.alive <= 5, `${freed.alive} of 60 contexts are alive`);
    assert.ok(
      freed.grown < held.grown / 4,
      `${freed.grown} bytes were not freed, and ${held.grown} if 20 realms are held`,
    );
  });

  test(`${backend}: realms of one thread share the states of a node id`, needed, async () => {
    const script = `
      ${REALMS}
      const now = Date.now() + 500;
      const mint = (options) => {
        const issued = [];
        for (let at = 0; at < 3; at++) {
          const { context, Snowflake } = realm();
          context.now = now;
          vm.runInContext("Date.now = () => now", context);
          issued.push(...new Snowflake(options(context)).nextManyStrings(500));
        }
        return issued;
      };
      process.stdout.write(JSON.stringify([mint(() => ({ node: 9 })), mint(({ now }) => ({ node: 9, now: () => now }))]));
    `;
    const [issued, broken] = await inNewProcess(script, { env: { FRAZIL_BACKEND: backend } });
    assert.equal(issued.length, 1500);
    assert.equal(repeats(broken), 1000, "the checker must catch realms with states of their own");
    assert.equal(repeats(issued), 0);
  });
}
