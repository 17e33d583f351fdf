// `npx frazil audit` on what is no list of IDs, and where it is stopped. Nothing is left of temporary files.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { unshare, withMounts } from "../local/child-process.mjs";
import { environment, folder, frazil, hasAddon, program, shell } from "./cli.mjs";

const BACKENDS = [...(hasAddon ? ["native"] : []), "wasm"];
const FIRST = 1541815603606036480n;
const write = (name, bytes) => writeFileSync(join(folder, name), bytes);
write("ids.txt", `${FIRST}\n`);

/** What it says about a file: the message and the hint. */
async function refusalOf(args, env = {}) {
  const { stdout, stderr, code } = await frazil(["audit", ...args], { env });
  assert.deepEqual([stdout, code], ["", 2], `${args.join(" ")}: ${stderr}`);
  const [, message, hint = ""] =
    /^frazil: ([^\n]+)\n(?:hint: ([^\n]+)\n)?npx frazil help audit shows what can be done\.\n$/.exec(stderr) ?? [];
  assert.ok(message, stderr);
  return [message, hint];
}

for (const backend of BACKENDS) {
  const env = { FRAZIL_BACKEND: backend };

  test(`${backend}: an input that is no list of IDs is named, with what to do`, async () => {
    for (const [name, bytes, args, said, hint] of [
      ["none.txt", "", [], /no IDs/, /^/],
      ["header.csv", "id,host\n", [], /no IDs/, /^/],
      ["column.csv", "order_id,host\n5,a\n", [], /^column\.csv, line 1: .*"id".*"order_id", "host"/, /--id/],
      ["column.csv", "order_id,host\n5,a\n", ["--id", "orderid"], /"orderid".*"order_id", "host"/, /--id/],
      ["column.csv", "order_id,host\n5,a\n", ["--id", "order_id", "--host", "server"], /"server".*"host"/, /--host/],
      ["key.ndjson", '{"order":"5"}\n', [], /^key\.ndjson, line 1: .*order/, /--id/],
      ["prose.txt", "These are\nno IDs\nat all\n", [], /^prose\.txt, line 2: .*"no IDs"/, /./],
      ["list.json", "[5,\n6]\n", [], /^list\.json, line 1: .*array/, /jq -c/],
      ["ids.xlsx", "PK\x03\x04\0\0", [], /^ids\.xlsx, line 1: .*workbook/, /CSV/],
    ]) {
      write(name, bytes);
      const [message, given] = await refusalOf([name, ...args], env);
      assert.match(message, said);
      assert.match(given, hint, message);
    }
  });

  test(`${backend}: the CSV of Excel, with a mark, semicolons and rounded numbers`, async () => {
    write("excel.csv", `\ufeffid;host\r\n1.54182E+18;a\r\n1.54182E+18;b\r\n${FIRST};a\r\n`);
    const [message, hint] = await refusalOf(["excel.csv"], env);
    assert.match(`${message} ${hint}`, /1\.54182E\+18/);
    write("marked.csv", `\ufeffid;host\r\n${FIRST};a\r\n`);
    const { stdout, code } = await frazil(["audit", "marked.csv", "--json", "--now=2022-07-01"], { env });
    assert.deepEqual([JSON.parse(stdout).ids, code], [1, 0]);
  });
}

test("a file that is cut is told", async () => {
  const cut = gzipSync(`${FIRST}\n`.repeat(50_000));
  write("cut.gz", cut.subarray(0, cut.length / 2));
  assert.match((await refusalOf(["cut.gz"]))[0], /^cannot read cut\.gz: unexpected end of file$/);
});

test("a path that cannot be read is named", async () => {
  mkdirSync(join(folder, "days"), { recursive: true });
  assert.deepEqual(await refusalOf(["days/"]), ["days/ is a directory", "Give its files: npx frazil audit days/*"]);
  assert.match((await refusalOf(["no-such.txt"]))[0], /^cannot read no-such\.txt: ENOENT/);
  const isRoot = process.getuid?.() === 0;
  // The folder is that of the user of this test.
  const as = isRoot ? "setpriv --reuid 65534 --clear-groups" : "";
  const { stderr, codes } = await shell(
    `${isRoot ? "" : "chmod 0 ids.txt;"} ${as} "${process.execPath}" "${program}" audit "$PWD/ids.txt"; [ $? = 2 ]; chmod 600 ids.txt`,
  );
  assert.match(stderr, /^frazil: cannot read \S+ids\.txt: EACCES/);
  assert.deepEqual(codes, [0]);
});

test("a layout that cannot be is a bad input, since 1 says that something was found", async () => {
  for (const args of [
    ["--layout", "tweeter"],
    ["--epoch", "now"],
    ["--memory", "much"],
    ["--format", "xml"],
  ])
    await refusalOf(["ids.txt", ...args]);
  const wasm = { env: { FRAZIL_BACKEND: "wasm" } };
  assert.equal((await frazil(["audit", "ids.txt", "--memory", "900G"], wasm)).code, 0, "as much as there can be");
  assert.match((await shell("frazil audit ids.txt > /dev/full; echo $? >&2")).stderr, /ENOSPC.*\n2\n$/);
});

/** Many IDs, from a program that writes until its reader is gone. */
const MANY = `node -e 'let at = 0n; const go = () => { do { let text = ""; for (let i = 0; i < 5000; i++) text += ${FIRST}n + (at++ << 22n) + "\\n"; var ok = process.stdout.write(text); } while (ok && at < 4e6); if (at < 4e6) process.stdout.once("drain", go); }; process.stdout.on("error", () => {}); go()'`;

for (const backend of BACKENDS) {
  const prefix = `FRAZIL_BACKEND=${backend}`;

  test(`${backend}: a full disk is told, and leaves no file`, withMounts, async () => {
    const { stdout, stderr, codes } = await shell(
      `export MANY_IDS; mkdir -p full; ${unshare.join(" ")} bash -c '
        mount -t tmpfs -o size=256k none full
        node() { "${process.execPath}" "$@"; }
        ${MANY.replaceAll("'", `'\\''`)} | TMPDIR=$PWD/full ${prefix} node "${program}" audit --memory 1M
        echo "exit \${PIPESTATUS[1]}"; ls -A full'`,
    );
    assert.match(
      stderr,
      /^frazil: cannot keep temporary files in \S+\/full: .*(ENOSPC|No space left)[^\n]*\nhint: Set TMPDIR /,
    );
    assert.deepEqual([stdout, codes], ["exit 2\n", [0]]);
  });

  test(`${backend}: so is a limit of the size of files`, async () => {
    mkdirSync(join(folder, "limited"), { recursive: true });
    const { stderr, codes } = await shell(
      `node() { "${process.execPath}" "$@"; }; ${MANY} | (ulimit -f 128; TMPDIR=$PWD/limited ${prefix} frazil audit --memory 1M)`,
    );
    assert.match(stderr, /^frazil: cannot keep temporary files in \S+\/limited: .*(EFBIG|File too large)/);
    assert.deepEqual([codes[1], readdirSync(join(folder, "limited"))], [2, []]);
  });

  test(`${backend}: Ctrl-C and kill -9 leave no file`, {
    skip: process.platform !== "linux" && "looks into /proc",
  }, async () => {
    for (const signal of ["SIGINT", "SIGKILL"]) {
      const temporary = mkdtempSync(join(folder, "stopped-"));
      const env = { ...environment, FRAZIL_BACKEND: backend, TMPDIR: temporary };
      const child = spawn(process.execPath, [program, "audit", "--memory", "1M"], {
        env,
        stdio: ["pipe", "ignore", "inherit"],
      });
      const ended = once(child, "close");
      child.stdin.on("error", () => {});
      const openFiles = () =>
        readdirSync(`/proc/${child.pid}/fd`).filter((fd) => {
          try {
            return readlinkSync(`/proc/${child.pid}/fd/${fd}`).startsWith(temporary);
          } catch {
            return false;
          }
        });
      for (let at = 0n; openFiles().length === 0; at += 10_000n) {
        const some = Array.from({ length: 10_000 }, (_, i) => `${FIRST + ((at + BigInt(i)) << 22n)}\n`).join("");
        if (!child.stdin.write(some)) await once(child.stdin, "drain");
        await pause(1);
      }
      assert.deepEqual(readdirSync(temporary), [], "no name while it runs");
      child.kill(signal);
      assert.deepEqual(await ended, [null, signal]);
      assert.deepEqual(readdirSync(temporary), []);
      rmSync(temporary, { recursive: true });
    }
  });
}
