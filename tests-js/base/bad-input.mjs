// A table of bad input and of the error that each call must give. Uses no test runner: `bad-input.test.mjs` checks every row, and
// runs this file in a process on the other backend to compare the messages.
import { inspect } from "node:util";
import { Layout, Snowflake } from "frazil";
import { decode } from "frazil/decode";
import { rules } from "../vectors/generated-tables.mjs";

/** The time that the scripted clock shows. */
export const start = 1_780_000_000_000;

/** A private generator, and the clock it reads. */
export function subject(options) {
  const clock = { read: () => start };
  return { clock, ids: new Snowflake({ node: 7, maxWaitMs: 0, now: () => clock.read(), ...options }) };
}

/** A rule with its bounds, as in an error. */
const ruleOf = (name, min, max) => rules[name].replace("{min}", min).replace("{max}", max);
const whole = (min, max) => ruleOf("WHOLE_NUMBER", min, max);
const waysToANode = /One machine: Snowflake\.local\(\)\. Several: await lease\(store\), .* Workers: await leased\(/;
/** It lists what the object can have. */
const noObject = /^must be a plain object\nWrite \{ \w+(, \w+)* \}\.$/;
const show = (value) => inspect(value, { depth: 5, breakLength: Number.POSITIVE_INFINITY }).slice(0, 400);
const thrower = () => {
  throw new Error("the value must not be converted");
};
/** An object that throws whenever it is converted to another type. */
const unconvertible = { valueOf: thrower, toString: thrower, toJSON: thrower, [Symbol.toPrimitive]: thrower };

/** A row: creating a generator with these options. */
const creating = (options, expected) => ({
  about: "options",
  name: `new Snowflake(${show(options)})`,
  call: () => new Snowflake(options),
  ...expected,
});

/** A row: an option with a wrong value, with all others right. */
const option = (field, value, code, rule, expected) =>
  creating({ node: 7, [field]: value }, { code, field, value, rule, ...expected });

function* nodes() {
  const rule = whole(0, 1023);
  for (const node of [true, null, () => 1, Symbol("7")]) yield option("node", node, "INVALID_NODE", rule);
  for (const node of [-1, 1024, 1.5, Number.POSITIVE_INFINITY, 2 ** 53, "1024", "9".repeat(400)])
    yield option(
      "node",
      node,
      "INVALID_NODE",
      `${rule}\nCount from 0. A layout with more node bits needs another column.`,
    );
  yield option("node", 7n, "INVALID_NODE", `${rule}\nPass a number, not a bigint.`);
  const digits = "A string must have decimal digits only. Of a pod: lease(store, { node: preferredNode() }).";
  for (const node of ["node-1", "-1", "7.0", "7 ", "0x7", "1e2"])
    yield option("node", node, "INVALID_NODE", `${rule}\n${digits}`);
  yield option("node", "", "INVALID_NODE", `${rule}\nIs the environment variable empty?`);
  const unset = "Is the environment variable set? Number(undefined) is NaN.";
  yield option("node", Number.NaN, "INVALID_NODE", `${rule}\n${unset}`);
  yield option("node", "none", "INVALID_NODE", rules.NODE_NOT_NONE);
  for (const node of [[], {}, [7], { worker: 7 }, unconvertible]) {
    yield option("node", node, "INVALID_NODE", `${rules.PART_NAMES}\nPass a number.`);
  }
  // Inherited options do not count.
  const variable = { code: "NODE_REQUIRED", field: "node", value: undefined };
  yield creating(
    { node: undefined },
    { ...variable, rule: /^must be given\nIs the environment variable set\? One machine: / },
  );
  for (const options of [undefined, {}, { now: Date.now }]) {
    yield creating(options, { code: "NODE_REQUIRED", field: "node", value: undefined, rule: waysToANode });
  }
  for (const [node, hint] of [
    [{ datacenter: 3 }, ""],
    [{ datacenter: 3, worker: 17, rack: 1 }, ""],
    [{ dataCenter: 3, worker: 17 }, 'Did you mean "datacenter"? '],
    [{}, ""],
  ]) {
    yield creating(
      { layout: "twitter", node },
      {
        code: "INVALID_NODE",
        field: "node",
        value: node,
        rule: `${rules.PART_NAMES}\n${hint}Pass { datacenter, worker }, or a number.`,
      },
    );
  }
  for (const worker of [32, -1, 1.5, "1.5", "", null, 17n]) {
    const options = { layout: "twitter", node: { datacenter: 3, worker } };
    yield creating(options, { code: "INVALID_NODE", field: "node.worker", value: worker, rule: whole(0, 31) });
  }
  for (const node of [0, 7, "7", "", null, {}, 1.5]) {
    yield creating(
      { layout: "mastodon", node },
      { code: "INVALID_NODE", field: "node", value: node, rule: rules.NODE_NONE },
    );
  }
  yield creating(
    { layout: "mastodon" },
    { code: "NODE_REQUIRED", field: "node", value: undefined, rule: rules.NODE_NONE },
  );
}

function* options() {
  for (const given of [null, 5, "7", true, 7n, () => 1, Symbol("7")]) {
    yield creating(given, { code: "INVALID_OPTION", field: "options", value: given, rule: noObject });
  }
  for (const [misspelt, hint] of Object.entries({
    nod: 'Did you mean "node"?',
    nodeId: 'Did you mean "node"?',
    maxLead: 'Did you mean "maxLeadMs"?',
    maxwaitms: 'Did you mean "maxWaitMs"?',
    epoch: 'Did you mean "epochMs"?',
    twepoch: 'Did you mean "epochMs"?',
    custom_epoch: 'Did you mean "epochMs"?',
    workerId: 'Pass { layout: "twitter", node: { datacenter, worker } }.',
    worker_id: 'Pass { layout: "twitter", node: { datacenter, worker } }.',
    datacenterId: 'Pass { layout: "twitter", node: { datacenter, worker } }.',
    data_center: 'Pass { layout: "twitter", node: { datacenter, worker } }.',
    machineId: 'Did you mean "node"?',
    instance_id: 'Did you mean "node"?',
    mid: 'Did you mean "node"?',
    layuot: 'Did you mean "layout"?',
    somethingElse:
      "Use one of node, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart, freshness, unshared, now.",
  })) {
    yield option(misspelt, 5, "INVALID_OPTION", `unknown option "${misspelt}"\n${hint}`);
  }
  for (const field of ["maxLeadMs", "maxWaitMs", "maxAsyncWaitMs"]) {
    for (const value of [-1, 1.5, Number.NaN, "5", null, 5n, [], unconvertible, 2 ** 31, Number.POSITIVE_INFINITY]) {
      yield option(field, value, "INVALID_OPTION", whole(0, field === "maxLeadMs" ? 1000 : 2 ** 31 - 1));
    }
  }
  yield option("maxLeadMs", 1001, "INVALID_OPTION", ruleOf("STATIC_LEAD", 0, 1000));
  for (const value of ["Zero", "ones", "", null, 0, ["zero"], unconvertible])
    yield option("sequenceStart", value, "INVALID_OPTION", rules.KNOWN_START);
  for (const value of ["Turn", "", null, 0, true, ["turn"], unconvertible])
    yield option("freshness", value, "INVALID_OPTION", rules.KNOWN_FRESHNESS);
  for (const value of ["yes", 1, 0, null]) yield option("unshared", value, "INVALID_OPTION", rules.TRUE_OR_FALSE);
  for (const value of [5, null, "Date.now", {}]) yield option("now", value, "INVALID_OPTION", rules.FUNCTION);
}

const time = { kind: "time", bits: 41 };
const node = { kind: "node", bits: 10 };
const sequence = { kind: "sequence", bits: 12 };
const spec = (changes) => ({ epochMs: 1704067200000, fields: [time, node, sequence], ...changes });

/** A row: an invalid layout. */
const layout = (given, field, value, rule) =>
  option("layout", given, "INVALID_LAYOUT", rule, { about: "layouts", field, value });
const withFields = (fields, field, value, rule) => layout(spec({ fields }), field, value, rule);
/** A row: a layout with an invalid field. */
const withField = (wrong, field, rule) => withFields([time, wrong, sequence], field, wrong[field], rule);

function* layouts() {
  for (const value of [null, 5, true, () => 1, 7n]) yield layout(value, "layout", value, noObject);
  for (const name of ["nope", "", "constructor", "__proto__", "twitter 1288834974657"]) {
    yield layout(name, "layout", name, `${rules.KNOWN_LAYOUT}\nUse one of ${Layout.names.join(", ")}.`);
  }
  for (const [name, meant] of Object.entries({ Twitter: "twitter", "default ": "default", snowflake: "sonyflake" })) {
    yield layout(name, "layout", name, `${rules.KNOWN_LAYOUT}\nDid you mean "${meant}"?`);
  }
  const [list, pair] = [[], ["time", 41]];
  yield layout(list, "layout", list, `${rules.AN_OBJECT}\nWrite { epochMs, tickMs, unsigned, fields }.`);
  yield withFields([pair, node, sequence], "fields", pair, `${rules.AN_OBJECT}\nWrite { kind, bits, name }.`);
  for (const value of [{}, { epochMs: 0 }]) yield layout(value, "fields", undefined, rules.FIELD_LIST);
  for (const [misspelt, hint] of Object.entries({
    epoch: 'Did you mean "epochMs"?',
    tickMS: 'Did you mean "tickMs"?',
    resolution: "Use one of epochMs, tickMs, unsigned, fields.",
  })) {
    yield layout(spec({ [misspelt]: 10 }), misspelt, 10, `unknown property "${misspelt}"\n${hint}`);
  }
  for (const epochMs of [-1, 1.5, Number.NaN, "1704067200000", null, undefined, 2 ** 53, new Date(Number.NaN), 0n]) {
    const isNone = ["NaN", "Invalid Date"].includes(`${epochMs}`);
    const cure = isNone
      ? "Look at what the Date was made from."
      : typeof epochMs === "string"
        ? "Pass new Date(text)."
        : "Pass Unix milliseconds or a valid Date.";
    const rule = `${whole(0, Number.MAX_SAFE_INTEGER)}\n${cure}`;
    yield layout(spec({ epochMs }), "epochMs", epochMs, rule);
    if (epochMs !== undefined) yield option("epochMs", epochMs, "INVALID_LAYOUT", rule, { about: "layouts" });
  }
  for (const tickMs of [0, -1, 1.5, "10", null, Number.POSITIVE_INFINITY]) {
    yield layout(spec({ tickMs }), "tickMs", tickMs, whole(1, Number.MAX_SAFE_INTEGER));
  }
  for (const unsigned of [1, "true", null]) yield layout(spec({ unsigned }), "unsigned", unsigned, rules.TRUE_OR_FALSE);
  const oneTime = rules.ONE_TIME;
  const oneSequence = rules.ONE_SEQUENCE;
  for (const fields of [null, 5, {}, { time: 41 }, "time 41"]) {
    yield withFields(fields, "fields", fields, rules.FIELD_LIST);
  }
  // Each field has a bit, so a long list need not be read: that of a few bytes may have a length of 2^32.
  for (const [fields, unsigned] of [
    [Array(65).fill(node), false],
    [Array(1e9), false],
    [Array(2 ** 32 - 1), true],
  ])
    yield layout(spec({ unsigned, fields }), "fields", fields, ruleOf("WIDTH", 0, unsigned ? 64 : 63));
  for (const [fields, rule] of [
    [[], oneTime],
    [[node, sequence], oneTime],
    [[{ kind: "time", bits: 20 }, { kind: "time", bits: 20 }, sequence], oneTime],
    [[time, node], oneSequence],
    [[time, { kind: "sequence", bits: 5 }, { kind: "sequence", bits: 5 }], oneSequence],
    [[time, { kind: "clock", bits: 1 }, { kind: "clock", bits: 1 }, sequence], rules.ONE_CLOCK],
    [[{ kind: "time", bits: 51 }, sequence], rules.LAST_TICK],
  ]) {
    const given = rule === rules.LAST_TICK ? spec({ tickMs: 10, fields }) : spec({ fields });
    yield layout(given, "fields", fields, rule);
  }
  yield withFields([time, node, { kind: "sequence", bits: 13 }], "fields", 64, ruleOf("WIDTH", 0, 63));
  const all = [{ kind: "time", bits: 42 }, { kind: "node", bits: 11 }, sequence];
  yield layout(spec({ unsigned: true, fields: all }), "fields", 65, ruleOf("WIDTH", 0, 64));
  const parts = [
    { kind: "node", bits: 17, name: "a" },
    { kind: "node", bits: 16, name: "b" },
  ];
  yield withFields([time, ...parts, sequence], "fields", 33, ruleOf("NODE_WIDTH", 0, 32));
  yield withFields([time, { kind: "sequence", bits: 54 }], "bits", 54, whole(1, 53));
  yield withFields([time, { kind: "clock", bits: 9 }, sequence], "bits", 9, whole(1, 8));
  for (const field of [null, 5, "node 10", undefined])
    yield withFields([time, field, sequence], "fields", field, noObject);
  // A hole in the list counts as `undefined`.
  const holed = [time, node, node, sequence];
  delete holed[1];
  yield withFields(holed, "fields", undefined, noObject);
  for (const bits of [0, -1, 1.5, 65, "10", null, undefined, 10n])
    yield withField({ kind: "node", bits }, "bits", whole(1, 64));
  for (const kind of ["timestamp", "", null, undefined, 0]) {
    yield withField({ kind, bits: 10 }, "kind", rules.KNOWN_KIND);
  }
  yield withField(
    { kind: "node", bits: 10, width: 10 },
    "width",
    'unknown property "width"\nUse one of kind, bits, name.',
  );
  for (const name of ["1st", "", "a b", 5, null, "n".repeat(33)]) {
    yield withField({ kind: "node", bits: 10, name }, "name", rules.NAME_SYNTAX);
  }
  yield withField({ kind: "clock", bits: 2, name: "clock" }, "name", rules.NAME_ONLY_NODE);
  const twice = [
    { kind: "node", bits: 5 },
    { kind: "node", bits: 5, name: "node" },
  ];
  yield withFields([time, ...twice, sequence], "name", "node", rules.DISTINCT_NAMES);
}

/** A row: a call of a generator. */
const called = (about, method, args, expected) => ({
  about,
  name: `${method}(${args.map(show).join(", ")})`,
  call: ({ ids }) => ids[method](...args),
  ...expected,
});

function* bulk() {
  for (const method of ["nextMany", "nextManyStrings", "nextManyAsync", "nextManyStringsAsync"]) {
    for (const count of [
      -1,
      1.5,
      Number.NaN,
      1048577,
      Number.POSITIVE_INFINITY,
      "3",
      2n,
      null,
      undefined,
      [],
      [3],
      unconvertible,
      true,
    ]) {
      const type = ["string", "bigint"].includes(typeof count) ? `\nPass a number, not a ${typeof count}.` : "";
      const rule = `${whole(0, 1048576)}${type}`;
      const expected = { code: "INVALID_ARGUMENT", field: "count", value: count, rule };
      yield called("bulk calls", method, [count], expected);
    }
  }
  const tagged = Object.defineProperty(new Uint8Array(8), Symbol.toStringTag, { value: "BigUint64Array" });
  const fake = { length: 2, byteLength: 16, set() {}, [Symbol.toStringTag]: "BigUint64Array" };
  const arrays = [
    new Uint8Array(8),
    new BigInt64Array(1),
    new Float64Array(1),
    new DataView(new ArrayBuffer(8)),
    new ArrayBuffer(8),
  ];
  const others = [
    [],
    [0n],
    null,
    undefined,
    5,
    "x",
    fake,
    tagged,
    new Proxy(new BigUint64Array(1), {}),
    BigUint64Array.prototype,
  ];
  for (const method of ["fill", "fillAsync"]) {
    for (const target of [...arrays, ...others]) {
      const expected = { code: "INVALID_ARGUMENT", field: "target", value: target, rule: rules.TARGET_ARRAY };
      yield {
        ...called("bulk calls", method, [target], expected),
        name: `${method}(${typeof target} ${show(target)})`,
      };
    }
    const inParts = "count is target.length: fill it in parts, await fillAsync(target.subarray(from, until)).";
    const rule = `${whole(0, 1048576)}\n${inParts}`;
    const tooLong = { code: "INVALID_ARGUMENT", field: "count", value: 1048577, rule };
    yield { ...called("bulk calls", method, [new BigUint64Array(1048577)], tooLong), name: `${method}(1048577 long)` };
  }
}

function* signals() {
  const calls = {
    nextAsync: [],
    nextStringAsync: [],
    fillAsync: [new BigUint64Array(1)],
    nextManyAsync: [1],
    nextManyStringsAsync: [1],
  };
  const half = { aborted: false, addEventListener() {}, throwIfAborted() {} };
  for (const [method, args] of Object.entries(calls)) {
    for (const options of [null, 5, "x", () => 1]) {
      const expected = { code: "INVALID_OPTION", field: "options", value: options, rule: noObject };
      yield called("signals", method, [...args, options], expected);
    }
    const misspelt = {
      code: "INVALID_OPTION",
      field: "singal",
      value: 5,
      rule: 'unknown option "singal"\nDid you mean "signal"?',
    };
    yield called("signals", method, [...args, { singal: 5 }], misspelt);
    for (const signal of [null, 5, "x", {}, half, new EventTarget(), new AbortController()]) {
      const expected = { code: "INVALID_OPTION", field: "signal", value: signal, rule: rules.A_SIGNAL };
      yield called("signals", method, [...args, { signal }], expected);
    }
  }
}

function* texts() {
  const { ID_TEXT: text, ID_INPUT: input } = rules;
  const range = ruleOf("ID_RANGE", 0, 2n ** 63n - 1n);
  const wrong = [
    [text, ["12a", "", "007", "00", " 12", "12 ", "+1", "-1", "1e3", "0x10", "1_000", "12n", "\u0661\u0662", "12\n"]],
    [`${input}\nJSON.parse rounds larger numbers, so keep IDs as text.`, [2 ** 53, 2 ** 53 + 2, -(2 ** 53), 1e300]],
    [input, [1.5, Number.NaN, Number.POSITIVE_INFINITY, null, undefined, true, Symbol("1"), () => 1]],
    [
      `${input}\nPass its id. For many, use decodeMany or encodeMany.`,
      [{}, unconvertible, Object(5n), Object(12), [], [1n], new BigUint64Array(1)],
    ],
    [range, [-1, -1n, 2n ** 63n, 2n ** 64n, 2n ** 70n, "9223372036854775808", "18446744073709551616", "9".repeat(60)]],
  ];
  const calls = {
    "ids.decode": ({ ids }, id) => ids.decode(id),
    "layout.decode": ({ ids }, id) => ids.layout.decode(id),
    "layout.parse": ({ ids }, id) => ids.layout.parse(id),
    "layout.timestampOf": ({ ids }, id) => ids.layout.timestampOf(id),
    "frazil/decode": (_, id) => decode(id, "default"),
    "layout.toSigned": (_, id) => Layout.named("default").toSigned(id),
  };
  for (const [name, call] of Object.entries(calls)) {
    for (const [rule, ids] of wrong) {
      for (const id of ids) {
        const expected = { code: "INVALID_ID", field: "id", value: id, rule };
        yield { about: "ids", name: `${name}(${typeof id} ${show(id)})`, call: (it) => call(it, id), ...expected };
      }
    }
  }
}

function* clocks() {
  const calls = {
    next: (ids) => ids.next(),
    nextString: (ids) => ids.nextString(),
    fill: (ids) => ids.fill(new BigUint64Array(2)),
    nextMany: (ids) => ids.nextMany(2),
    nextAsync: (ids) => ids.nextAsync(),
    nextManyAsync: (ids) => ids.nextManyAsync(2),
  };
  const infinite = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const strange = [
    `${start}`,
    new Date(start),
    BigInt(start),
    "12",
    undefined,
    null,
    5n,
    {},
    unconvertible,
    true,
    Symbol("now"),
  ];
  const notFinite = { code: "INVALID_CLOCK", field: "now", rule: rules.FINITE_CLOCK };
  for (const [name, call] of Object.entries(calls)) {
    const at = (value, expected) => ({
      about: "clocks",
      name: `${name}() when the clock shows ${typeof value} ${show(value)}`,
      call: ({ ids, clock }) => {
        clock.read = () => value;
        return call(ids);
      },
      ...expected,
    });
    for (const value of [Number.NaN, ...infinite, ...strange]) yield at(value, { ...notFinite, value });
    for (const value of [-1, -1e300, 0, 1704067199999]) yield at(value, { code: "CLOCK_BEFORE_EPOCH" });
    for (const value of [1704067200000 + 2 ** 41, 1e300]) yield at(value, { code: "TIME_EXHAUSTED" });
  }
}

/** Every row: the call, and the code, field, value and rule of the error; after a line break in the rule, its hint. */
export const refusals = [nodes, options, layouts, bulk, signals, texts, clocks].flatMap((rows) => [...rows()]);

/** The error that a call throws or rejects with, if any. */
export async function errorOf(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** The message of every row, by its name. */
export async function messages() {
  const said = {};
  for (const { name, call } of refusals) {
    const error = await errorOf(() => call(subject()));
    said[name] = `${error}\n${error.hint}`;
  }
  return said;
}

if (process.argv[1] === import.meta.filename) process.stdout.write(JSON.stringify(await messages()));
