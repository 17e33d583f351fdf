// SQLite: the contract through each client that docs/stores.md names, in its runtime, and what can go wrong with files.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { tools } from "../../../scripts/tools.mjs";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Runs a program to its end. Returns its output. */
function output(program, ...args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  let errors = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) =>
      status === 0 ? resolve(text) : reject(new Error(`status ${status}\n${text}${errors}`)),
    );
  });
}

const CLIENTS = [
  ["Node 22", tools.node22, "node:sqlite"],
  ["Node 24", tools.node24, "node:sqlite"],
  ["Bun", tools.bun, "bun:sqlite"],
  // Compiled from its sources by `npm test -- stores-better-sqlite3`, which takes minutes.
  ...(process.env.FRAZIL_BETTER_SQLITE3
    ? [["better-sqlite3", process.execPath, process.env.FRAZIL_BETTER_SQLITE3]]
    : []),
];

for (const [name, program, client] of CLIENTS) {
  test(`${client} in ${name} keeps the contract`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "frazil-sqlite-"));
    try {
      const { held, skipped, failures } = JSON.parse(await output(program, file("main.mjs"), folder, client));
      assert.deepEqual(failures, []);
      assert.deepEqual(skipped, ["a jump of the store's clock costs time only"]);
      assert.ok(held > 40, `${held} scenarios`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

test("traps", async () => {
  await output(tools.node24, "--no-warnings", "--test", file("traps.mjs"));
});
