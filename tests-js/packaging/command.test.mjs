// The command line of the installed package.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { hasAddon, installConsumer, pack, run } from "./tarballs.mjs";

test("cli: every command works from the installed tarball, as text and as JSON", () => {
  const folder = installConsumer("cli");
  const npx = (...args) => run(folder, "npx", ["--offline", "frazil", ...args]).stdout;
  const program = join(folder, "node_modules/.bin/frazil");
  const frazil = (...args) => run(folder, program, args).stdout;
  const lines = (text) => text.trimEnd().split("\n");

  const help = npx("--help");
  for (const said of [
    "next",
    "decode",
    "convert",
    "range",
    "layouts",
    "plan",
    "doctor",
    "ddl",
    "fence",
    "key",
    "seal",
    "open",
    "--layout",
    "--tag",
    "--json",
  ])
    assert.ok(help.includes(said), said);
  assert.equal(frazil(), help);
  assert.equal(frazil("--version"), `${pack()[0].report.version}\n`);

  assert.match(npx("next", "--node", "7"), /^\d{18,19}\n$/);
  const ids = lines(frazil("next", "--node", "7", "--count", "3", "--json")).map((line) => JSON.parse(line));
  assert.ok(ids.length === 3 && ids.every((id) => typeof id === "string") && BigInt(ids[0]) < BigInt(ids[2]), `${ids}`);

  if (hasAddon) {
    // Without a node id: first on the state file of the user, then on one in a folder.
    const home = { env: { XDG_STATE_HOME: join(folder, "state") } };
    const minted = ["1", "2"].flatMap((count) => lines(run(folder, program, ["next", "--count", count], home).stdout));
    assert.ok(minted.length === 3 && BigInt(minted[0]) < BigInt(minted[1]), `${minted}`);
    assert.equal(readdirSync(join(folder, "state/frazil")).length, 1);
    const here = join(folder, "here");
    assert.match(frazil("next", "--dir", here), /^\d{18,19}\n$/);
    assert.match(frazil("next", "--dir", here, "--accept-unproven-platform"), /^\d{18,19}\n$/);
    assert.equal(readdirSync(here).length, 1);
  }

  const read = ["decode", "1541815603606036480", "--layout", "twitter"];
  const shown = frazil(...read);
  assert.match(shown, /^time +2022-06-28T16:07:40\.105Z \(1656432460105\)$/m);
  assert.match(shown, /^ +datacenter +11$/m);
  assert.match(shown, /^bits +\d{41} 01011 11010 0{12}$/m);
  const { id, parts, sequence, timestampMs } = JSON.parse(frazil(...read, "--json"));
  const expected = { id: read[1], parts: { datacenter: 11, worker: 26 }, sequence: 0, timestampMs: 1656432460105 };
  assert.deepEqual({ id, parts, sequence, timestampMs }, expected);

  assert.equal(frazil("convert", read[1], "--as", "base62"), "1ptWyK4WgZU\n");
  assert.match(frazil("range", "--from", "2026-11-01", "--to", "2026-12-01"), /^untilId +385943076864000000$/m);
  assert.match(frazil("layouts"), /^twitter +1 ms/m);
  assert.match(frazil("doctor", "--node", "7"), hasAddon ? /^ +addon +frazil-linux-x64-gnu /m : /^backend +wasm/m);
  assert.match(frazil("plan", "--layout", "twitter"), /^last time +2080-07-10T17:30:30\.208Z$/m);
  const plan = JSON.parse(frazil("plan", "--json", "--epoch", "0"));
  assert.deepEqual([plan.epochMs, plan.nodes, plan.idsPerTick], [0, 1024, 4096]);

  assert.match(
    frazil("ddl", "postgres", "--scope", "orders"),
    /^VALUES \('orders', '1704067200000 1ms time41 node10 /m,
  );
  assert.match(frazil("ddl", "sqlite", "--layout", "discord"), /'default', '1420070400000 1ms time\d+ node10 /);
  const tags = frazil("ddl", "postgres", "--tag", "orders", "--tag", "invoices/2026-11-22");
  assert.match(tags, /^VALUES \('orders', 1, .*^VALUES \('invoices\/2026-11-22', 1, /ms);
  assert.doesNotMatch(tags, /record of the scope/);

  const key = { env: { ID_KEY: frazil("key", "new").trim() } };
  const flags = ["--kind", "usr", "--key-env", "ID_KEY"];
  const [sealed] = lines(run(folder, program, ["seal", read[1], ...flags], key).stdout);
  assert.match(sealed, /^[\dA-Za-z]{22}$/);
  assert.equal(run(folder, program, ["open", `usr_${sealed}`, ...flags], key).stdout, `${read[1]}\n`);
  assert.match(run(folder, program, ["key", "derive", ...flags], key).stdout, /^[\da-f]{32}\n$/);
});

test("cli: a refusal gives exit code 1, wrong arguments give 2, and standard error says what to do", () => {
  const folder = installConsumer("cli");
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", XDG_STATE_HOME: join(folder, "state") };
  const refused = (status, ...args) => {
    const { stdout, stderr } = run(folder, join(folder, "node_modules/.bin/frazil"), args, { status, env });
    assert.equal(stdout, "");
    const said =
      status === 2
        ? /^frazil: .*\n(hint: .*\n)?npx frazil (help \w+|--help) shows/
        : /^frazil: [A-Z_]+: .*\n(hint: .*\n)?$/;
    assert.match(stderr, said);
    return stderr;
  };
  assert.match(refused(1, "next"), hasAddon ? /NODE_REQUIRED: .*Kubernetes/ : /NATIVE_REQUIRED/);
  assert.match(refused(2, "next", "--node", "7", "--dir", "here"), /--node and --dir/);
  assert.match(refused(2, "next", "--node", "7", "--accept-unproven-platform"), /--node and --accept/);
  assert.match(refused(1, "next", "--node", "1024"), /INVALID_NODE: --node must be .* 0 to 1023, got 1024\n/);
  assert.match(refused(1, "decode", "12x"), /INVALID_ID/);
  assert.match(
    refused(1, "plan", "--layout", "tweeter"),
    /INVALID_LAYOUT: --layout must be .*, got "tweeter"\nhint: .*twitter/,
  );
  assert.match(refused(2, "next", "--node", "seven"), /--node must be .*, got "seven"\n/);
  assert.match(refused(2, "next", "--nodes", "7"), /--nodes/);
  assert.match(refused(2, "mint"), /mint/);
  assert.match(refused(2, "decode"), /decode needs an ID/);
  assert.match(refused(2, "ddl", "postgres", "--tag", "orders", "--scope", "orders"), /--tag .* --scope/);
  assert.match(refused(2, "ddl", "sqlite", "--tag", "orders"), /--tag is not for ddl sqlite\nhint: .*initSegment/);
  assert.match(refused(1, "ddl", "postgres", "--tag", "o'orders"), /--tag must have only letters.*, got "o'orders"\n/);
});
