// The installed package without an addon: WebAssembly, one warning that names every cause, and what to install.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { addonPackages, native } from "./installed.mjs";
import { installConsumer, node } from "./tarballs.mjs";

test("no-addon: WebAssembly is used, with one warning that names every cause", () => {
  const folder = installConsumer("no-addon", { addon: false });
  assert.ok(!existsSync(join(folder, "node_modules", addonPackages[0])));
  const searched = `${join(folder, "node_modules/frazil/dist/node.cjs")} or ${join(folder, "main.mjs")}`;
  const causes = addonPackages.map((addonPackage) => `Cannot find module '${addonPackage}' from ${searched}`);

  const { stdout, stderr } = node(folder, ["main.mjs"]);
  const { main, thread, warnings } = JSON.parse(stdout);
  assert.deepEqual(main, [
    { backend: "wasm", decoded: 7 },
    { backend: "wasm", decoded: 7 },
  ]);
  assert.deepEqual(
    warnings.map(({ name, code }) => ({ name, code })),
    [{ name: "Warning", code: "FRAZIL_WASM" }],
  );
  for (const cause of causes) assert.ok(warnings[0].message.includes(cause), warnings[0].message);
  assert.match(warnings[0].detail, /FRAZIL_BACKEND=wasm/);
  assert.equal(stderr.match(/\[FRAZIL_WASM\]/g)?.length, 1, stderr);
  assert.equal(thread.refused.code, "NATIVE_REQUIRED");
  assert.deepEqual(thread.refused.causes, causes);
  assert.deepEqual(thread.unshared, { backend: "wasm", decoded: 7 });

  const quiet = node(folder, ["main.mjs"], { env: { FRAZIL_BACKEND: "wasm" } });
  assert.equal(quiet.stderr, "");
  assert.deepEqual(JSON.parse(quiet.stdout).warnings, []);

  const forced = node(folder, ["main.mjs"], { env: { FRAZIL_BACKEND: "native" } });
  const refused = JSON.parse(forced.stdout);
  assert.equal(forced.stderr, "");
  for (const error of [...refused.main, refused.thread.refused, refused.thread.unshared]) {
    assert.equal(error.code, "NATIVE_REQUIRED");
    assert.deepEqual(error.causes, causes);
    for (const cause of causes) assert.ok(error.message.includes(cause), error.message);
  }
});

test("no-addon: threads that ran before the first generator do not warn again", () => {
  const folder = installConsumer("no-addon", { addon: false });
  const { stderr, stdout } = node(folder, ["pool.mjs"]);
  assert.equal(stdout, "wasm wasm wasm wasm wasm");
  if (process.platform === "linux") assert.equal(stderr.match(/\[FRAZIL_WASM\]/g)?.length, 1, stderr);
});

test("no-addon: an addon that cannot be loaded counts as missing, and the warning names the cause", native, () => {
  const folder = installConsumer("no-addon", { addon: true });
  writeFileSync(join(folder, "node_modules", addonPackages[0], "frazil.node"), "no shared library");
  const { main, warnings } = JSON.parse(node(folder, ["main.mjs"]).stdout);
  assert.equal(main[0].backend, "wasm");
  assert.equal(warnings.length, 1);
  for (const cause of [/frazil\.node: file too short/, /Cannot find module 'frazil-linux-\w+-musl'/]) {
    assert.match(warnings[0].message, cause);
  }
});

test("no-addon: node_modules of another system are named, with what to install, by every message", () => {
  const folder = installConsumer("no-addon", { addon: false });
  const foreign = "frazil-darwin-s390x";
  mkdirSync(join(folder, "node_modules", foreign));
  const { platform, arch } = process;
  const cause = `${foreign} is installed, for another system`;
  const remedy = `Install on the system that runs the program, or for it: npm install --os=${platform} --cpu=${arch}`;
  const says = (text) => {
    for (const part of [cause, remedy]) assert.ok(text.includes(part), text);
    assert.ok(!text.includes("omit=optional"), text);
  };
  const [warning] = JSON.parse(node(folder, ["main.mjs"]).stdout).warnings;
  says(`${warning.message}\n${warning.detail}`);
  const forced = JSON.parse(node(folder, ["main.mjs"], { env: { FRAZIL_BACKEND: "native" } }).stdout);
  says(`${forced.main[0].message}\n${forced.main[0].hint}`);
  const local = 'require("frazil").Snowflake.local({ dir: process.cwd() })';
  says(node(folder, ["-p", `try { ${local} } catch ({ message, hint }) { message + hint }`]).stdout);
  // Without it, the others have the remedy for a package that was left out.
  rmSync(join(folder, "node_modules", foreign), { recursive: true });
  const without = JSON.parse(node(folder, ["main.mjs"], { env: { FRAZIL_BACKEND: "native" } }).stdout);
  assert.match(without.main[0].hint, /^Install without --omit=optional/);
});

// As Node words them: by glibc, by musl, by Node's permission model, by a mount with noexec.
for (const [message, code, remedy] of [
  ["/lib/x86_64-linux-gnu/libc.so: invalid ELF header", "ERR_DLOPEN_FAILED", /Install on the system that runs/],
  ["Error loading shared library ld-linux-x86-64.so.2: No such file", "ERR_DLOPEN_FAILED", /Install on the system/],
  ["Cannot load native addon because loading addons is disabled.", "ERR_DLOPEN_DISABLED", /--allow-addons/],
  [
    "frazil.node: failed to map segment",
    "ERR_DLOPEN_FAILED",
    /The addon is installed, and this system cannot load it\. See the page "Platforms"\./,
  ],
]) {
  test(`no-addon: what to do about "${message.slice(-40)}"`, () => {
    const folder = installConsumer("no-addon", { addon: false });
    const platformPackage = join(folder, "node_modules", addonPackages[0]);
    mkdirSync(platformPackage);
    const thrown = JSON.stringify({ message, code });
    writeFileSync(join(platformPackage, "index.js"), `throw Object.assign(new Error(), ${thrown});`);
    const { main, warnings } = JSON.parse(node(folder, ["main.mjs"]).stdout);
    assert.equal(main[0].backend, "wasm");
    assert.match(warnings[0].detail, remedy);
    assert.doesNotMatch(warnings[0].detail, /omit=optional/);
  });
}

test("no-addon: on a system that no addon is for, nothing is looked for, and the messages say so", () => {
  const folder = installConsumer("no-addon");
  writeFileSync(join(folder, "arm.cjs"), 'Object.defineProperty(process, "arch", { value: "arm" });');
  const on = (env) => JSON.parse(node(folder, ["--require", "./arm.cjs", "main.mjs"], { env }).stdout);
  const { main, warnings } = on({});
  const cause = `there is no addon for ${process.platform}-arm`;
  assert.equal(main[0].backend, "wasm");
  assert.ok(warnings[0].message.endsWith(`no native addon could be loaded: ${cause}`), warnings[0].message);
  assert.match(warnings[0].detail, /Run on a system that has one\. See the page "Platforms"\./);
  const [forced] = on({ FRAZIL_BACKEND: "native" }).main;
  assert.deepEqual([forced.code, forced.causes], ["NATIVE_REQUIRED", [cause]]);
});

test("no-addon: Node that forbids addons is told apart from an addon that is missing", native, () => {
  const folder = installConsumer("no-addon", { addon: true });
  const { warnings } = JSON.parse(node(folder, ["--no-addons", "main.mjs"]).stdout);
  const flag = process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission";
  assert.ok(warnings[0].detail.includes(`Under ${flag}, add --allow-addons`), warnings[0].detail);
});
