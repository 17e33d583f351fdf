// A change of the public declarations must be intended: it has to update the snapshot.
import assert from "node:assert/strict";
import { test } from "node:test";
import { committedDeclarations, ENTRIES, emittedDeclarations } from "./snapshot.mjs";

const update = "if the change is intended: node tests-js/types/snapshot.mjs --update";

/** The first line in which two texts differ. */
function difference(name, ours, theirs) {
  const [before, now] = [ours ?? "", theirs ?? ""].map((text) => text.split("\n"));
  const at = now.findIndex((line, row) => line !== before[row]);
  const row = at === -1 ? now.length : at;
  return `${name}:${row + 1}\n  was ${before[row] ?? "not there"}\n  is  ${now[row] ?? "not there"}`;
}

function compare(kept, emitted) {
  const names = [...new Set([...Object.keys(kept), ...Object.keys(emitted)])].sort();
  const changed = names.filter((name) => kept[name] !== emitted[name]);
  const lines = changed.map((name) => difference(name, kept[name], emitted[name]));
  assert.ok(changed.length === 0, `the public declarations changed; ${update}\n${lines.join("\n")}`);
}

test("the public declarations equal the snapshot", () => compare(committedDeclarations(), emittedDeclarations()));

test("the snapshot contains the declarations of every export", () => {
  const names = Object.keys(emittedDeclarations());
  const entries = ["index", "decode/index", "text/index", "lease/index", "layout/index"];
  for (const name of [...entries, "generator/snowflake", "generated/layouts"])
    assert.ok(names.includes(`${name}.d.ts`), name);
});

/** The names of the values that a declaration file exports. */
function valuesOf(declarations) {
  const declared = declarations.matchAll(/^export declare (?:abstract )?(?:function|const|class|enum) (\w+)/gm);
  const listed = Array.from(declarations.matchAll(/^export \{([^}]*)\}/gm), ([, names]) => names.split(",")).flat();
  const values = listed.map((name) => name.trim()).filter((name) => name !== "" && !name.startsWith("type "));
  return [
    ...new Set([...Array.from(declared, ([, name]) => name), ...values.map((name) => name.split(" ").at(-1))]),
  ].sort();
}

/** What the command line takes from stores; and outside of Workers, one file is both of their entries. */
const KNOWN = { stores: /^\w+(Ddl|Fence)$/, "workers/segment": /^(LeasedSnowflake|durable|leased)$/ };

test("an entry exports what it declares, and nothing else", async () => {
  const files = emittedDeclarations();
  for (const file of ENTRIES) {
    const path = file.replace(/\/?index\.d\.ts$/, "");
    const known = KNOWN[path] ?? KNOWN[path.split("/")[0]];
    const exported = Object.keys(await import(path === "" ? "frazil" : `frazil/${path}`));
    assert.deepEqual(exported.filter((name) => !known?.test(name)).sort(), valuesOf(files[file]), file);
  }
  // The checker finds a name that is not declared.
  const inner = 'export declare function publicIds(): void;\nexport { type Inner, A as keyFacts } from "./a.js";\n';
  assert.deepEqual(valuesOf(inner), ["keyFacts", "publicIds"]);
});

test("a changed, a new and a missing declaration are reported, with the command that accepts the change", () => {
  const kept = { "a.d.ts": "one\ntwo\n", "b.d.ts": "three\n" };
  for (const emitted of [
    { ...kept, "a.d.ts": "one\nzwei\n" },
    { ...kept, "c.d.ts": "four\n" },
    { "a.d.ts": kept["a.d.ts"] },
  ]) {
    assert.throws(() => compare(kept, emitted), /changed; .*node tests-js\/types\/snapshot\.mjs --update/);
  }
  assert.match(difference("a.d.ts", "one\ntwo\n", "one\nzwei\n"), /a\.d\.ts:2\n {2}was two\n {2}is {2}zwei/);
});
