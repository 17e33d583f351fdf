// Checks the vectors of crates/core/vectors against a build of the package. Uses no test runner and no file system, so that
// Node, Workers, browsers, Deno and Bun all run this same file. Every function returns the number of cases it checked, or
// throws one error that lists all failures.

/** Runs cases and collects the failures. */
export class Cases {
  #failures = [];
  count = 0;

  run(name, work) {
    this.count++;
    try {
      work();
    } catch (error) {
      this.#failures.push(`${name}: ${error.message}`);
    }
  }

  done() {
    const { length } = this.#failures;
    if (length > 0)
      throw new Error(`${length} of ${this.count} cases failed:\n${this.#failures.slice(0, 20).join("\n")}`);
    if (this.count === 0) throw new Error("no case was checked");
    return this.count;
  }
}

export function equal(actual, expected, what) {
  const [a, b] = [actual, expected].map((value) => (typeof value === "bigint" ? `${value}n` : JSON.stringify(value)));
  if (a !== b) throw new Error(`${what} is ${a}, expected ${b}`);
}

/**
 * Checks that a call is refused with the code, field and rule of the vector, as far as the vector has them. Returns the error.
 */
export function refused(expected, call) {
  let error;
  try {
    const result = call();
    throw new TypeError(`not refused: ${String(result)}`);
  } catch (caught) {
    if (caught instanceof TypeError) throw caught;
    error = caught;
  }
  equal(error.code, expected.code, "code");
  // In JavaScript the field may be a part of a node.
  if (expected.field !== undefined) equal(error.field?.split(".")[0], expected.field, "field");
  if (expected.rule !== undefined) equal(error.rule, expected.rule, "rule");
  if (!error.message.startsWith(`${expected.code}: `))
    throw new Error(`message does not start with the code: ${error.message}`);
  return error;
}

const given = (fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

const layoutsOf = (Layout, vectors) => (layout) => {
  if (typeof layout !== "string") return new Layout(layout);
  return vectors.layouts !== undefined && Object.hasOwn(vectors.layouts, layout)
    ? new Layout(vectors.layouts[layout])
    : Layout.named(layout);
};

/** `layouts.json`: the named layouts, plans, decoding and composing, single and many at once, and invalid layouts. */
export function checkLayouts({ Layout }, vectors) {
  const cases = new Cases();
  cases.run("names", () =>
    equal(
      [...Layout.names],
      vectors.named.map(({ name }) => name),
      "Layout.names",
    ),
  );
  for (const { name, plan, cases: ids, ...spec } of [...vectors.named, ...vectors.custom]) {
    const isNamed = vectors.named.some((row) => row.name === name);
    const layout = isNamed ? Layout.named(name) : new Layout(spec);
    cases.run(`${name}: spec`, () => {
      equal(layout.toJSON(), spec, "toJSON()");
      equal(new Layout(layout.toJSON()).toJSON(), spec, "a layout from its own toJSON()");
    });
    cases.run(`${name}: plan`, () => {
      const { lastDate, signedUntil, ordered, nodes, idsPerTick, idsPerSecond } = layout.plan();
      const ours = {
        lastMs: lastDate.getTime(),
        signedUntilMs: signedUntil?.getTime() ?? null,
        ordered,
        nodes,
        idsPerTick,
      };
      equal(ours, plan, "plan()");
      equal(idsPerSecond, (plan.idsPerTick * 1000) / spec.tickMs, "idsPerSecond");
    });
    for (const { name: edge, id, ...expected } of ids) {
      cases.run(`${name}: ${edge}`, () => {
        const decoded = layout.decode(id);
        const { timestampMs, node = null, parts = {}, clock = null, sequence } = decoded;
        equal({ timestampMs, node, parts, clock, sequence }, expected, `decode(${id})`);
        equal(decoded.id, BigInt(id), "id");
        equal(decoded.date.getTime(), expected.timestampMs, "date");
        equal(layout.decode(BigInt(id)).toJSON(), decoded.toJSON(), "decode(bigint)");
        equal(layout.timestampOf(id), expected.timestampMs, "timestampOf");
        const fields = given({ timestampMs, node: expected.node, clock: expected.clock, sequence });
        equal(layout.compose(fields), BigInt(id), "compose");
        equal(layout.compose(decoded), BigInt(id), "compose(decode(id))");
        if (node !== null) equal(layout.compose({ ...fields, node: expected.parts }), BigInt(id), "compose with parts");
      });
    }
    cases.run(`${name}: decodeMany`, () => {
      const { timestampMs, node, clock, sequence } = layout.decodeMany(
        BigUint64Array.from(ids, ({ id }) => BigInt(id)),
      );
      ids.forEach((expected, at) => {
        const ours = [timestampMs[at], node?.[at] ?? null, clock?.[at] ?? null, sequence[at]];
        equal(ours, [expected.timestampMs, expected.node, expected.clock, expected.sequence], `row ${at}`);
      });
    });
  }
  for (const { layout, id, date, source, parts, ...facts } of vectors.published) {
    cases.run(`published: ${source}`, () => {
      const decoded = Layout.named(layout).decode(id);
      equal(decoded.date.toISOString(), date, "date");
      for (const [name, value] of Object.entries(facts)) equal(decoded[name], value, name);
      if (parts !== undefined) equal(decoded.parts, parts, "parts");
    });
  }
  for (const { name, layout, ...expected } of vectors.invalid) {
    cases.run(`invalid: ${name}`, () =>
      refused(expected, () => (typeof layout === "string" ? Layout.named(layout) : new Layout(layout))),
    );
  }
  return cases.done();
}

/**
 * The part of `layouts.json` and `ids.json` that `frazil/decode` covers: the built-in layouts, and input that is no ID of
 * theirs.
 */
export function checkDecoder({ decode }, layouts, ids) {
  const cases = new Cases();
  for (const { name, cases: rows } of layouts.named) {
    for (const { name: edge, id, ...expected } of rows) {
      cases.run(`${name}: ${edge}`, () => {
        const decoded = decode(id, name);
        const { timestampMs, node = null, parts = {}, clock = null, sequence } = decoded;
        equal({ timestampMs, node, parts, clock, sequence }, expected, `decode(${id})`);
        equal(decoded.id, BigInt(id), "id");
      });
    }
  }
  for (const { layout, id, date } of layouts.published) {
    cases.run(`published: ${id}`, () => equal(decode(id, layout).date.toISOString(), date, "date"));
  }
  for (const { layout, kind, input, ...expected } of ids.invalid) {
    if (Object.hasOwn(ids.layouts, layout)) continue; // a layout that only the vectors define
    cases.run(`${layout}: invalid ${kind} ${JSON.stringify(input)}`, () =>
      refused(expected, () => decode(inputOf({ kind, input }), layout)),
    );
  }
  for (const { name, layout, ...expected } of layouts.invalid) {
    if (typeof layout === "string") cases.run(`invalid: ${name}`, () => refused(expected, () => decode("0", layout)));
  }
  return cases.done();
}

const inputOf = ({ kind, input }) => (kind === "bigint" ? BigInt(input) : input);

/** `ids.json`: valid and invalid IDs, and signed columns. */
export function checkIds({ Layout }, vectors) {
  const cases = new Cases();
  const layoutOf = layoutsOf(Layout, vectors);
  for (const vector of vectors.valid) {
    cases.run(`${vector.layout}: ${vector.kind} ${vector.input}`, () => {
      const layout = layoutOf(vector.layout);
      equal(layout.parse(inputOf(vector)), BigInt(vector.id), "parse");
      equal(layout.tryParse(inputOf(vector)), BigInt(vector.id), "tryParse");
      equal(layout.parse(inputOf(vector)).toString(), vector.id, "text");
    });
  }
  for (const { layout: name, kind, input, ...expected } of vectors.invalid) {
    cases.run(`${name}: invalid ${kind} ${JSON.stringify(input)}`, () => {
      const layout = layoutOf(name);
      const id = inputOf({ kind, input });
      for (const call of ["parse", "decode", "timestampOf"]) refused(expected, () => layout[call](id));
      equal(layout.tryParse(id), undefined, "tryParse");
    });
  }
  for (const { layout: name, id, signed } of vectors.signed) {
    cases.run(`${name}: signed ${signed}`, () => {
      const layout = layoutOf(name);
      equal(layout.toSigned(id), BigInt(signed), "toSigned");
      for (const input of [signed, BigInt(signed)]) equal(layout.fromSigned(input), BigInt(id), "fromSigned");
    });
  }
  for (const { layout: name, signed, ...expected } of vectors.invalidSigned) {
    cases.run(`${name}: invalid signed ${signed}`, () => {
      for (const input of [signed, BigInt(signed)]) refused(expected, () => layoutOf(name).fromSigned(input));
    });
  }
  return cases.done();
}

/** `ranges.json`: composing, ranges of IDs for times and stretches of time, and node ids given by parts. */
export function checkRanges({ Layout }, vectors) {
  const cases = new Cases();
  const layoutOf = layoutsOf(Layout, vectors);
  const judge = (expected, result, call) =>
    expected.code === undefined ? equal(call(), BigInt(result), "result") : refused(expected, call);
  for (const { layout: name, timestampMs, node, clock, sequence, id, ...expected } of vectors.compose) {
    const fields = given({ timestampMs, node, clock, sequence });
    cases.run(`${name}: compose ${JSON.stringify(fields)}`, () =>
      judge(expected, id, () => layoutOf(name).compose(fields)),
    );
  }
  for (const { layout: name, timestampMs, node, minId, maxId, ...expected } of vectors.ranges) {
    cases.run(`${name}: range at ${timestampMs}, node ${JSON.stringify(node)}`, () => {
      const layout = layoutOf(name);
      const options = given({ node });
      judge(expected, minId, () => layout.minIdAt(timestampMs, options));
      judge(expected, maxId, () => layout.maxIdAt(timestampMs, options));
      if (expected.code !== undefined) return;
      equal(layout.minIdAt(new Date(timestampMs), options), BigInt(minId), "minIdAt(Date)");
    });
  }
  for (const { layout: name, fromMs, toMs, node, fromId, untilId, ...expected } of vectors.stretches) {
    cases.run(`${name}: range from ${fromMs} to ${toMs}, node ${JSON.stringify(node)}`, () => {
      const layout = layoutOf(name);
      const options = given({ node });
      if (expected.code !== undefined) return refused(expected, () => layout.range(fromMs, toMs, options));
      const date = new Date(fromMs);
      for (const from of Number.isNaN(Number(date)) ? [fromMs] : [fromMs, date]) {
        const range = layout.range(from, toMs, options);
        equal(range.fromId, BigInt(fromId), "fromId");
        equal(range.untilId, BigInt(untilId), "untilId");
      }
    });
  }
  for (const { layout: name, node, joined, id, ...expected } of vectors.nodes) {
    cases.run(`${name}: node ${JSON.stringify(node)}`, () => {
      const layout = layoutOf(name);
      if (expected.code !== undefined) return refused(expected, () => layout.joinNode(node));
      equal(layout.joinNode(node), joined, "joinNode");
      const clock = layout.fields.some(({ kind }) => kind === "clock") ? 0 : undefined;
      return equal(
        layout.compose(given({ timestampMs: layout.epochMs, node, clock, sequence: 0 })),
        BigInt(id),
        "compose",
      );
    });
  }
  return cases.done();
}

/** `generation.json`: scripts with a scripted clock, run at the boundary that both bindings share. */
export function checkGeneration({ Layout, slot, port }, vectors) {
  const cases = new Cases();
  const layoutOf = layoutsOf(Layout, vectors);
  const { calls, frame } = port.binding;
  for (const script of vectors.scripts) {
    const handle = open({ slot, port }, { ...script, layout: layoutOf(script.layout), private: true });
    if (script.key !== null) {
      const halves = script.key.flatMap((half) => [Number(BigInt(half) >> 32n), Number(BigInt(half) & 0xffffffffn)]);
      port.numbers.set([1, ...halves], slot.HAS_KEY);
    }
    const issued = new Set();
    script.steps.forEach(({ nowMs, want, confirmed, expect }, at) => {
      cases.run(`${script.name}, step ${at + 1}`, () => {
        const status = calls.reserve(frame, handle, nowMs, want, confirmed);
        if (expect.recheck) return equal(status, slot.RECHECK, "status");
        if (expect.code !== undefined) {
          equal(slot.STATUSES[status], expect.code, "status");
          return equal(port.numbers[slot.RETRY_AFTER_MS], expect.retryAfterMs ?? 0, "retryAfterMs");
        }
        equal(status, 0, "status");
        const ids = [...port.ids.subarray(0, port.numbers[slot.COUNT])];
        equal(ids.length, expect.ids.count, "count");
        equal(ids[0], BigInt(expect.ids.first), "first");
        equal(ids.at(-1), BigInt(expect.ids.last), "last");
        equal(port.numbers[slot.VALID_FROM_MS], expect.validFromMs, "validFromMs");
        equal(port.numbers[slot.VALID_UNTIL_MS], expect.validUntilMs, "validUntilMs");
        for (const id of ids) {
          if (issued.has(id)) throw new Error(`${id} is repeated`);
          issued.add(id);
        }
      });
    });
    calls.release(frame, handle);
    cases.run(`${script.name}, released`, () => {
      equal(slot.STATUSES[calls.reserve(frame, handle, 0, 1, true)], "CLOSED", "status after release");
    });
  }
  return cases.done();
}

/** Opens a generator through the frame; throws the error of a refusal. */
function open({ slot, port }, { layout, node, startMs, private: own = false, ...options }) {
  const { numbers } = port;
  numbers[slot.EPOCH_MS] = layout.epochMs;
  numbers[slot.TICK_MS] = layout.tickMs;
  numbers[slot.UNSIGNED] = Number(layout.unsigned);
  numbers[slot.FIELD_COUNT] = layout.fields.length;
  layout.fields.forEach(({ kind, bits }, at) => {
    numbers.set([slot.KINDS.indexOf(kind), bits], slot.FIELDS + 2 * at);
  });
  numbers[slot.HAS_NODE] = Number(node !== null);
  numbers[slot.NODE_NONE] = Number(node === "none");
  numbers[slot.NODE] = typeof node === "number" ? node : Number.NaN;
  numbers[slot.START_MS] = startMs ?? Number.NaN;
  numbers[slot.PRIVATE] = Number(own);
  numbers[slot.SEQUENCE_START] = slot.STARTS.indexOf(options.sequenceStart ?? "zero");
  for (const name of ["maxLeadMs", "maxWaitMs", "maxAsyncWaitMs"]) {
    const upper = name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
    numbers[slot[`HAS_${upper}`]] = Number(options[name] !== undefined);
    numbers[slot[upper]] = options[name] ?? Number.NaN;
  }
  const status = port.binding.calls.open(port.binding.frame);
  if (status !== 0) throw port.error(status, node);
  return port.numbers[slot.HANDLE];
}

/** `errors.json`: the table of codes, and options that are refused, at the boundary and by the public API. */
export function checkErrors({ Layout, Snowflake, slot, port, errors }, vectors) {
  const cases = new Cases();
  const layoutOf = layoutsOf(Layout, vectors);
  for (const { code, number, class: name, retryable } of vectors.codes) {
    cases.run(code, () => {
      equal(slot.STATUSES[number], code, `status ${number}`);
      equal(errors.CLASSES[name].split(" ").includes(code), true, `is a ${name}`);
      equal(errors.RETRYABLE.split(" ").includes(code), retryable, "retryable");
    });
  }
  cases.run("no other codes", () => equal(slot.STATUSES.length, vectors.codes.length + 1, "number of statuses"));
  for (const {
    layout,
    node,
    startMs = 1704067200000,
    private: own,
    code,
    field,
    rule,
    jsOnly: _,
    ...options
  } of vectors.open) {
    const expected = { code, field, rule };
    const name = `${JSON.stringify({ layout, node, startMs, ...options })}`;
    const isParts = typeof node === "object" && node !== null;
    if (!isParts) {
      cases.run(`${name}, through the frame`, () =>
        refused(expected, () =>
          open({ slot, port }, { layout: layoutOf(layout), node, startMs, private: own, ...options }),
        ),
      );
    }
    if (startMs === null) continue; // the public API takes no start time: the host knows it or does not
    cases.run(`${name}, by the public API`, () => {
      const generatorOptions = given({ layout: layoutOf(layout), node, now: own ? Date.now : undefined, ...options });
      // If two rules about the lead are broken, Workers name the one about the unknown start of the process.
      const judged = options.maxLeadMs > 0 && !(globalThis.performance.timeOrigin > 0) ? { code, field } : expected;
      refused(judged, () => new Snowflake(generatorOptions));
    });
  }
  return cases.done();
}

/** `segments.json`: which counts a segment asks for, through the frame. The step rule alone has no call: Rust checks it. */
export function checkSegments({ slot, segment: { SegmentCall, SegmentRequest }, port }, vectors) {
  const cases = new Cases();
  const { binding } = port;
  for (const {
    name,
    step,
    storeStep,
    maxStep,
    growBelowMs,
    shrinkAboveMs,
    askedMs,
    drawn,
    ahead = [],
    counts,
  } of vectors.segments) {
    cases.run(name, () => {
      const call = (handle, what, given) => {
        for (const [at, value] of Object.entries(given)) port.numbers[slot[at]] = value;
        equal(binding.calls.segment(binding.frame, handle, SegmentCall[what]), 0, `the status of ${what}`);
        return port.numbers;
      };
      const terms = { HAS_STEP: Number(step !== undefined), STEP: step ?? 0, MAX_STEP: maxStep };
      const lasting = { GROW_BELOW_MS: growBelowMs, SHRINK_ABOVE_MS: shrinkAboveMs };
      const handle = call(0, "OPEN", { ...terms, ...lasting })[slot.HANDLE];
      const asked = askedMs.map((MONOTONIC_MS, at) => {
        for (let left = drawn[at]; left > 0; )
          left -= call(handle, "DRAW", { MONOTONIC_MS, WANT: left })[slot.RANGE_COUNT];
        const numbers = call(handle, "ASK", { MONOTONIC_MS, WANT: 1, AHEAD: ahead[at] ?? 0 });
        equal(numbers[slot.REQUEST], SegmentRequest.ALLOCATE, `the request at ${MONOTONIC_MS}`);
        const count = numbers[slot.RANGE_COUNT];
        // The frame still has the attempt, and the end of the range before as the first number.
        call(handle, "TAKE", { MONOTONIC_MS, RANGE_COUNT: count || storeStep, STRIDE: 1, STEP: storeStep ?? 0 });
        return count || null;
      });
      binding.calls.release(binding.frame, handle);
      equal(asked, counts, "the counts");
    });
  }
  return cases.done();
}

/** `text.json`: every form in both directions, single and many at once, and invalid texts. */
export function checkText(text, vectors) {
  const cases = new Cases();
  const formOf = (name, short) => (short ? text[name].short : text[name]);
  const ids = BigUint64Array.from(vectors.ids, ({ id }) => BigInt(id));
  for (const { name, alphabet, width } of vectors.forms) {
    cases.run(name, () => equal([text[name].alphabet, text[name].width], [alphabet, width], "alphabet and width"));
    for (const [kind, short] of [
      ["fixed", false],
      ["short", true],
    ]) {
      const form = formOf(name, short);
      const texts = vectors.ids.map((row) => row[kind][name]);
      vectors.ids.forEach(({ name: edge, id }, at) => {
        cases.run(`${name}, ${kind}: ${edge}`, () => {
          equal(form.encode(id), texts[at], `encode("${id}")`);
          equal(form.encode(BigInt(id)), texts[at], `encode(${id}n)`);
          equal(form.decode(texts[at]), BigInt(id), `decode("${texts[at]}")`);
          equal(form.tryDecode(texts[at]), BigInt(id), `tryDecode("${texts[at]}")`);
        });
      });
      cases.run(`${name}, ${kind}: many`, () => {
        equal(form.encodeMany(ids), texts, "encodeMany");
        equal([...form.decodeMany(texts)].map(String), [...ids].map(String), "decodeMany");
        if (short) return;
        const bytes = new Uint8Array(width * ids.length);
        equal(form.encodeInto(ids, bytes), bytes.length, "encodeInto");
        equal(String.fromCharCode(...bytes), texts.join(""), "the bytes of encodeInto");
      });
    }
    cases.run(`${name}: order`, () => {
      const texts = vectors.ids.map((row) => row.fixed[name]);
      const ascends = [...alphabet].toSorted().join("") === alphabet;
      equal(
        JSON.stringify(texts.toSorted()) === JSON.stringify(texts),
        ascends,
        "the texts of ascending IDs are sorted,",
      );
    });
  }
  vectors.ids.forEach(({ name, id, bytes }) => {
    cases.run(`bytes: ${name}`, () => {
      equal([...text.bytes.encode(id)], bytes, `encode("${id}")`);
      equal(text.bytes.decode(Uint8Array.from(bytes)), BigInt(id), "decode");
      equal(text.bytes.tryDecode(Uint8Array.from(bytes)), BigInt(id), "tryDecode");
    });
  });
  cases.run("bytes: many", () => {
    const all = Uint8Array.from(vectors.ids.flatMap(({ bytes }) => bytes));
    equal([...text.bytes.encodeMany(ids)], [...all], "encodeMany");
    equal([...text.bytes.decodeMany(all)].map(String), [...ids].map(String), "decodeMany");
  });
  for (const { form, short, text: theirs, id, source } of vectors.published) {
    cases.run(`published: ${source}`, () => {
      equal(formOf(form, short).encode(id), theirs, `encode("${id}")`);
      equal(formOf(form, short).decode(theirs), BigInt(id), `decode("${theirs}")`);
    });
  }
  for (const { form, short, text: theirs, id } of vectors.read) {
    cases.run(`${form}${short ? ", short" : ""}: ${theirs}`, () => {
      equal(formOf(form, short).decode(theirs), BigInt(id), `decode("${theirs}")`);
    });
  }
  const refusedAt = (expected, call) =>
    equal(refused(expected, call).position ?? null, expected.position ?? null, "position");
  for (const { name, form, short, text: wrong, ...expected } of vectors.refused) {
    cases.run(`${form}${short ? ", short" : ""}: ${name}, ${JSON.stringify(wrong)}`, () => {
      refusedAt(expected, () => formOf(form, short).decode(wrong));
      equal(formOf(form, short).tryDecode(wrong), undefined, "tryDecode");
    });
  }
  for (const { bytes, ...expected } of vectors.refusedBytes) {
    cases.run(`bytes: ${bytes.length} of them`, () => {
      refusedAt(expected, () => text.bytes.decode(Uint8Array.from(bytes)));
      equal(text.bytes.tryDecode(Uint8Array.from(bytes)), undefined, "tryDecode");
    });
  }
  return cases.done();
}
