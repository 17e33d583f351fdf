// The output of each command.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Layout } from "frazil";
import { nextSql, sqlFor } from "frazil/sql";
import * as forms from "frazil/text";
import { folder, frazil, hasAddon } from "./cli.mjs";

/** The output of a command that succeeds and has nothing to say besides. */
async function printed(...args) {
  const { stdout, stderr, code } = await frazil(args);
  assert.deepEqual([stderr, code], ["", 0], args.join(" "));
  return stdout;
}
const lines = (text) => text.trimEnd().split("\n");

test("next prints IDs of a node id, in every form, and as many as are asked for", async () => {
  assert.match(await printed("next", "-n", "7"), /^\d{18,19}\n$/);
  assert.equal(await printed("next", "-n", "7", "-c", "0"), "");
  const layout = Layout.named("default");
  for (const [form, decode] of [
    ["decimal", BigInt],
    ["signed", BigInt],
    ["base62", forms.base62.decode],
    ["base58-short", forms.base58.short.decode],
    ["hex", forms.hex.decode],
  ]) {
    const ids = lines(await printed("next", "--node=7", "--count", "3", "--as", form)).map(decode);
    assert.deepEqual(
      ids.map((id) => layout.decode(id).node),
      [7, 7, 7],
    );
    assert.ok(ids[0] < ids[1] && ids[1] < ids[2], `${ids}`);
  }
  const json = lines(await printed("next", "-n", "7", "-c", "2", "--as", "base62", "--json"));
  assert.ok(json.every((line) => JSON.parse(line).length === 11));
  const many = lines(await printed("next", "-n", "7", "-c", "40000"));
  assert.equal(new Set(many).size, 40_000);
});

test("next --dir and --scope use a state file of their own", {
  skip: !hasAddon && "needs the native addon",
}, async () => {
  const own = join(folder, "own");
  await printed("next", "--dir", own, "--scope", "orders");
  await printed("next", "--dir", own);
  const { stderr, code } = await frazil(["next", "--dir", "own"]);
  assert.match(stderr, /INVALID_OPTION: --dir must be an absolute path, got own\nhint: .* From here it is .*own\.$/m);
  assert.equal(code, 1);
  assert.deepEqual(
    readdirSync(own)
      .map((name) => name.split("-")[0])
      .sort(),
    ["default", "orders"],
  );
});

test("decode prints the fields of an ID, of its layout and in its form", async () => {
  const shown = await printed("decode", "1541815603606036480", "-l", "twitter");
  for (const row of [
    "time +2022-06-28T16:07:40\\.105Z \\(1656432460105\\)",
    "node +378",
    "  datacenter +11",
    "  worker +26",
  ])
    assert.match(shown, new RegExp(`^${row}$`, "m"));
  assert.match(shown, /^bits +\d{41} 01011 11010 0{12}$/m);
  assert.doesNotMatch(shown, /or as/);
  const inBase62 = await printed("decode", "--from", "base62", "1ptWyK4WgZU", "-l", "twitter");
  assert.match(inBase62, /^id +1541815603606036480 \(1ptWyK4WgZU\)$/m);
  const { id, parts } = JSON.parse(await printed("decode", "1541815603606036480", "-l", "twitter", "--json"));
  assert.deepEqual({ id, parts }, { id: "1541815603606036480", parts: { datacenter: 11, worker: 26 } });
});

test("decode without a layout names the others that give a time that can be, and says if default gives none", async () => {
  const layouts = (shown) =>
    /^or as +(.*(\n {2,}[^\n]*)*)/m.exec(shown)?.[1].match(/[a-z][a-z0-9-]+ \d{4}-\d\d-\d\d/g) ?? [];
  const known = await printed("decode", "1541815603606036480");
  assert.match(known, /^doubt +as default, its time has not come yet$/m);
  // The most likely one first.
  assert.equal(layouts(known)[0], "twitter 2022-06-28", known);
  assert.equal(layouts(await printed("decode", "175928847299117063"))[0], "discord 2016-04-30");
  assert.ok(!layouts(known).some((layout) => layout.startsWith("tsid")), "tsid would be 2030");
  const today = `${Layout.named("default").minIdAt(Date.now())}`;
  assert.doesNotMatch(await printed("decode", today), /^doubt/m);
  assert.match(await printed("decode", "175928847299117063"), /^doubt +discord is more likely\nor as +discord /m);
  const small = await printed("decode", "5");
  assert.match(small, /^doubt +as default, its time is the first day of the epoch$/m);
  assert.deepEqual(layouts(small), []);
  // Nothing is guessed where the layout, or its epoch, is given, or where a program reads the answer.
  for (const flags of [["-l", "default"], ["--epoch", "1704067200000"], ["--json"]])
    assert.doesNotMatch(await printed("decode", "1541815603606036480", ...flags), /or as|doubt/);
});

test("decode doubts no ID of default of the last year with a low node id, and those of other systems", async () => {
  const layout = Layout.named("default");
  const own = [];
  for (const node of [0, 1, 7, 15])
    for (const sequence of [0, 1, 17, 2048])
      for (let day = 0; day < 365; day += 13)
        own.push(`${layout.compose({ timestampMs: Date.now() - day * 86_411_000, node, sequence })}`);
  assert.doesNotMatch(await printed("decode", ...own), /doubt/);
  for (const [id, system] of [
    ["175928847299117063", /^doubt +discord is more likely$/m],
    ["109348685643125123", /^doubt +mastodon is more likely$/m],
    ["1541815603606036480", /^doubt +as default, its time has not come yet$/m],
  ])
    assert.match(await printed("decode", id), system);
});

test("convert takes every form to every form, and back", async () => {
  const ids = [0n, 5n, 1541815603606036480n, 2n ** 63n, 2n ** 64n - 1n];
  const names = ["decimal", "signed", ...Object.keys(forms).filter((name) => typeof forms[name].alphabet === "string")];
  assert.ok(names.length >= 6);
  for (const name of names) {
    for (const as of name === "decimal" || name === "signed" ? [name] : [name, `${name}-short`]) {
      const there = lines(await printed("convert", ...ids.map(String), "--as", as));
      const back = lines(await printed("convert", "--from", as, "--", ...there));
      assert.deepEqual(back.map(BigInt), ids, as);
    }
  }
  assert.equal(await printed("convert", `${2n ** 64n - 1n}`, "--as", "signed"), "-1\n");
});

test("layouts lists every named layout", async () => {
  const [, ...rows] = lines(await printed("layouts"));
  assert.deepEqual(
    rows.map((row) => row.split(" ")[0]),
    Layout.names,
  );
  const layouts = lines(await printed("layouts", "--json")).map((line) => JSON.parse(line));
  for (const { name, epochMs, tickMs, unsigned, fields, lastDate } of layouts) {
    const layout = Layout.named(name);
    assert.deepEqual({ epochMs, tickMs, unsigned, fields }, layout.toJSON());
    assert.equal(lastDate, layout.plan().lastDate.toISOString());
  }
});

test("range prints what layout.range answers, for days, times with a zone, milliseconds and now", async () => {
  const layout = Layout.named("twitter");
  const of = async (...args) => {
    const { fromId, untilId } = JSON.parse(await printed("range", ...args, "-l", "twitter", "--json"));
    return { fromId: BigInt(fromId), untilId: BigInt(untilId) };
  };
  const [from, to] = [Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1)];
  const november = layout.range(from, to);
  assert.deepEqual(await of("--from", "2026-11-01", "--to", "2026-12-01"), november);
  assert.deepEqual(await of("--from", "2026-11-01T01:00+01:00", "--to", "2026-12-01T00:00:00.000Z"), november);
  assert.deepEqual(await of("--from", `${from}`, "--to", `${to}`), november);
  assert.deepEqual(await of("--from=-5", "--to", `${from}`), { fromId: 0n, untilId: november.fromId });
  const before = Date.now();
  const { untilId } = await of("--from", "0", "--to", "now");
  const ms = layout.timestampOf(untilId);
  assert.ok(ms >= before && ms <= Date.now(), `${ms}`);
  assert.match(
    await printed("range", "--from", "2026-11-01", "--to", "2026-12-01", "-l", "twitter"),
    new RegExp(`^SQL +id >= ${november.fromId} AND id < ${november.untilId}$`, "m"),
  );
  const seata = await printed(
    "range",
    "--from",
    "2026-11-01",
    "--to",
    "2026-12-01",
    "-l",
    "seata",
    "-n",
    "7",
    "--json",
  );
  assert.equal(JSON.parse(seata).fromId, `${Layout.named("seata").range(from, to, { node: 7 }).fromId}`);
});

test("a range that no ID can be in says why on standard error", async () => {
  for (const [from, to, why] of [
    ["1990-01-01", "1991-01-01", "it ends before the first time of the layout, 2010-11-04T01:42:54.657Z"],
    ["2300-01-01", "2301-01-01", "it begins after the last time of the layout, 2080-07-10T17:30:30.208Z"],
    ["2026-11-01", "2026-11-01", "--from and --to are one time"],
  ]) {
    const { stdout, stderr, code } = await frazil(["range", "--from", from, "--to", to, "-l", "twitter", "--json"]);
    const { fromId, untilId } = JSON.parse(stdout);
    assert.deepEqual([fromId, stderr, code], [untilId, `frazil: no ID is in this range: ${why}\n`, 0]);
  }
  const layout = Layout.named("sonyflake");
  const { lastDate } = layout.plan();
  for (const [from, why] of [
    [Date.UTC(2026, 10, 1), "both ends lie in one tick of 10 ms"],
    [lastDate.getTime(), "both ends lie in one tick of 10 ms"],
    [lastDate.getTime() + 10, `it begins after the last time of the layout, ${lastDate.toISOString()}`],
  ]) {
    const { stderr } = await frazil(["range", "--from", `${from}`, "--to", `${from + 9}`, "-l", "sonyflake"]);
    assert.equal(stderr, `frazil: no ID is in this range: ${why}\n`);
  }
  await printed("range", "--from", "1990-01-01", "--to", "2300-01-01");
});

test("--node takes the parts of a layout by name, as decode and a console print them", async () => {
  for (const node of [
    "datacenter=3,worker=17",
    "worker=17 datacenter=3",
    '{"datacenter":3,"worker":17}',
    "{ worker: 17, datacenter: 3 }",
  ]) {
    const id = (await printed("next", "-l", "twitter", "--node", node)).trim();
    assert.deepEqual(Layout.named("twitter").decode(id).parts, { datacenter: 3, worker: 17 }, node);
  }
  const doctor = JSON.parse(await printed("doctor", "-l", "twitter", "--node", "datacenter=3,worker=17", "--json"));
  assert.deepEqual([doctor.ok, doctor.static.node], [true, { datacenter: 3, worker: 17 }]);
  const { code } = await frazil(["next", "-l", "twitter", "--node", "datacenter=3,worker=32"]);
  assert.equal(code, 1, "a worker that the layout does not have is refused");
});

test("--epoch takes a day, a time with its zone, and milliseconds", async () => {
  for (const epoch of ["2020-01-01", "2020-01-01T01:00+01:00", "1577836800000"])
    assert.equal(JSON.parse(await printed("plan", "--json", "--epoch", epoch)).epochMs, 1_577_836_800_000, epoch);
});

test("an ID may have the n with which a console prints a bigint", async () => {
  assert.equal(await printed("decode", "123n", "--json"), await printed("decode", "123", "--json"));
  assert.equal(await printed("convert", "123n", "--as", "hex"), await printed("convert", "123", "--as", "hex"));
  assert.equal(await printed("convert", "--from", "signed", "--", "-1n"), `${2n ** 64n - 1n}\n`);
  // In other forms it is a digit, or none.
  assert.equal(await printed("convert", "--from", "base62", "123n"), `${forms.base62.short.decode("123n")}\n`);
  assert.equal((await frazil(["convert", "--from", "hex", "123n"])).code, 1);
});

test("plan prints the capacity of a layout", async () => {
  assert.match(await printed("plan", "-l", "twitter"), /^last time +2080-07-10T17:30:30\.208Z$/m);
  const { epochMs, nodes, idsPerTick } = JSON.parse(await printed("plan", "--json", "--epoch", "0"));
  assert.deepEqual([epochMs, nodes, idsPerTick], [0, 1024, 4096]);
});

test("sql prints what sqlFor gives, with the layout, the schema and the partitions of the flags", async () => {
  assert.equal(await printed("sql", "duckdb", "-l", "twitter"), sqlFor("twitter", "duckdb"));
  assert.equal(
    await printed("sql", "postgres", "--schema", "app", "--down"),
    sqlFor("default", "postgres", { schema: "app", down: true }),
  );
  const times = { from: Date.UTC(2026, 10, 1), until: Date.UTC(2027, 0, 1) };
  assert.equal(
    await printed("sql", "mariadb", ..."--partition week --table t --from 2026-11-01 --to 2027-01-01".split(" ")),
    sqlFor("default", "mariadb", { partition: { table: "t", by: "week", ...times } }),
  );
  // From now to 93 days ahead: at least three whole months.
  const starts = (await printed("sql", "mysql", "--partition", "month", "--table", "t")).match(/^ {2}PARTITION p/gm);
  assert.ok(starts.length >= 4 && starts.length <= 5, `${starts.length}`);
});

test("sql postgres with a node id prints what nextSql gives", async () => {
  assert.equal(
    await printed(..."sql postgres --node datacenter=3,worker=17 -l twitter --schema ids --role app".split(" ")),
    nextSql("twitter", { node: { datacenter: 3, worker: 17 }, schema: "ids", grant: "app" }),
  );
  assert.equal(
    await printed("sql", "postgres", "--node", "1022", "--down"),
    nextSql("default", { node: 1022, down: true }),
  );
});

test("decode says if leased() may have minted an ID that was read as default", async () => {
  const edge = Layout.named("edge");
  const id = edge.compose({ timestampMs: Date.UTC(2026, 5, 1), node: 4321, sequence: 2 });
  assert.match(await printed("decode", `${id}`), /^or by +leased\(\) of frazil\/workers\? --layout edge$/m);
  assert.doesNotMatch(await printed("decode", `${id}`, "-l", "default"), /leased/);
  const own = Layout.named("default").compose({ timestampMs: Date.UTC(2026, 5, 1), node: 7, sequence: 2 });
  assert.doesNotMatch(await printed("decode", `${own}`), /leased/);
});

test("decode --grep adds the fields to IDs in a log, and changes nothing else", async () => {
  const id = "382138004275228672";
  const { date, node, sequence } = Layout.named("default").decode(id);
  const fields = `[${date.toISOString()} node=${node} sequence=${sequence}]`;
  const run = async (input, ...flags) => {
    const { stdout, stderr, code } = await frazil(["decode", "--grep", ...flags], { input });
    assert.deepEqual([stderr, code], ["", 0]);
    return stdout;
  };
  for (const [before, after] of [
    ["order ", " placed"],
    ['{"id":"', '"}\r'],
    ["GET /orders/", "/items"],
    ["id=", "."],
    ["ids [", ",1]"],
    ["\u00e9\u{1f600} ", "\u00e9"],
  ])
    assert.equal(await run(`${before}${id}${after}\n`), `${before}${id} ${fields}${after}\n`);
  for (const same of [
    `x${id}`,
    `${id}7777`,
    `-${id}`,
    `1.${id}`,
    `${id}.5`,
    `${id}_`,
    "5",
    "1764000000000",
    "9".repeat(18),
    "",
  ])
    assert.equal(await run(`a ${same} b`), `a ${same} b`);
  // Pieces of the input end anywhere, also in an ID or in a word that is longer than any.
  const line = `${"w".repeat(61)} ${id} ${"7".repeat(90)} `;
  const many = line.repeat(5000) + id;
  assert.equal(await run(many), `${line.replace(id, `${id} ${fields}`).repeat(5000)}${id} ${fields}`);
  assert.match(
    await run("1541815603606036480", "-l", "twitter"),
    /^1541815603606036480 \[2022-06-28T16:07:40.105Z datacenter=/,
  );
});
