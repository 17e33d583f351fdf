// One file of the package reads the time, so that every rule about clocks is in one place.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const source = new URL("../../npm/frazil/src/", import.meta.url);

/** The places outside `clock.ts` where files read the time. */
function readers(files) {
  const reads = /\bperformance\s*(\?\.|\.|\[)|\bDate\s*\.\s*now\b|\bhrtime\b|\bnew Date\(\s*\)|(?<!new )\bDate\(\s*\)/;
  return Object.entries(files).flatMap(([file, text]) => {
    // A comment may name what it explains.
    const code = text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " ")).replace(/\/\/.*/g, "");
    const lines = code
      .split("\n")
      .flatMap((line, at) => (reads.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : []));
    return file === "base/clock.ts" ? [] : lines;
  });
}

test("only clock.ts reads the time", () => {
  const names = readdirSync(source, { recursive: true }).map((name) => name.replaceAll("\\", "/"));
  const files = names.filter((name) => name.endsWith(".ts"));
  assert.ok(files.includes("base/clock.ts") && files.length > 50, `${files.length} files`);
  const found = readers(Object.fromEntries(files.map((name) => [name, readFileSync(new URL(name, source), "utf8")])));
  assert.deepEqual(found, []);
});

test("every way to read the time is found, and no comment", () => {
  for (const line of [
    "const a = performance.now();",
    "globalThis.performance?.timeOrigin",
    "Date.now()",
    "new Date()",
    "Date()",
    "process.hrtime.bigint()",
  ])
    assert.deepEqual(readers({ "stores/x.ts": `\n${line}\n` }).length, 1, line);
  assert.deepEqual(
    readers({ "x.ts": "// Date.now()\n/**\n * Date.now()\n */\nnew Date(ms); a.Date;", "base/clock.ts": "Date.now()" }),
    [],
  );
});
