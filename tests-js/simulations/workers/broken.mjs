// Clients that are wrong on purpose: the shipped sources with lines changed. The checker of the simulation must find each.

const keepsGrant = [
  "const grant = digitsAt(numbers, Slot.GRANT);",
  "const grant = digitsAt(numbers, Slot.GRANT);\n    (this as any).latest = grant;",
];

/** The generator gets a new state, which knows nothing of the one before. */
const reopens = [
  [
    "    write();\n    const { numbers } = port;",
    `    (this as any).reopen = () => {
      this.open(port, write);
      this.#handle = port.numbers[Slot.HANDLE] as number;
      return this.#handle;
    };
    write();
    const { numbers } = port;`,
  ],
  [
    "const changed = (leased: number | undefined) => {",
    "const changed = (leased: number | undefined, handle?: number) => {\n        if (handle) this.#handle = handle;",
  ],
];

/** By what is wrong: the files, what stands there, what stands there instead, and what the checker says. */
export const BROKEN = {
  "all isolates draw the same numbers": {
    files: ["asking/kernel-random.ts"],
    changes: [["isAsking ? drawRandom()", "isAsking ? new Uint32Array(WORDS).fill(7)"]],
    says: /repeats|window/,
  },
  // That the state continues after the last tick of the lease before keeps IDs from repeating here. The simulation of the core has a
  // mutant without that, which repeats (crates/core/tests/lease_simulation/defect.rs).
  "an ended grant is taken again": {
    files: ["asking/kernel-random.ts"],
    changes: [
      [
        "isAsking ? drawRandom()",
        "isAsking ? ((globalThis as any).drawn = Object.assign(drawRandom(), (globalThis as any).drawn?.slice(0, 4)))",
      ],
    ],
    says: /repeats|window|does not mint again|asks the store/,
  },
  "the state begins anew when a lease is renewed": {
    files: ["lease/core-calls.ts", "lease/holder.ts", "generator/snowflake.ts"],
    changes: [
      ...reopens,
      ["import { digitsAt } from", "import { digitsAt, writeDigits } from"],
      [
        "    if (this.isRenewed) {\n      const event",
        `    if (change === LeaseChange.EXTENDED) {
      const handle = (this as any).reopen();
      this.call(LeaseCall.ASK, (numbers) => writeDigits(numbers, Slot.RANDOM, grant));
      this.take(grant, answer, { ...request, number: 1 });
      (this.generator as any).minting.changed(lease.node, handle);
    }
    if (this.isRenewed) {
      const event`,
      ],
    ],
    says: /repeats|window/,
  },
  "the start of a window is ignored": {
    files: ["lease/core-calls.ts"],
    changes: [["numbers[Slot.FROM_MS] = numberOrNaN(fromMs);", "numbers[Slot.FROM_MS] = 0;"]],
    says: /repeats|window/,
  },
  "the end of a window is ignored": {
    files: ["lease/core-calls.ts"],
    changes: [
      ["numbers[Slot.UNTIL_MS] = numberOrNaN(untilMs);", "numbers[Slot.UNTIL_MS] = numberOrNaN(untilMs) + 1e7;"],
    ],
    says: /repeats|window/,
  },
  "the store is told before the generator is closed": {
    files: ["lease/holder.ts", "workers/lease-request-driver.ts", "lease/leased-snowflake.ts"],
    changes: [
      keepsGrant,
      [
        "const note = releaseNoteIn(this.call(LeaseCall.CLOSE));\n    this.free();\n    await this.release(note);",
        `const held = this.call(LeaseCall.STATUS);
    const [node, heldUntilMs] = [held[Slot.HELD_NODE] as number, held[Slot.HELD_UNTIL_MS] as number];
    const early = { grant: (this as any).latest, node, untilMs: this.wallMs + 1, heldUntilMs };
    await this.release(heldUntilMs > 0 ? early : undefined);
    this.call(LeaseCall.CLOSE);
    this.free();`,
      ],
      ["closeNow();\n      const generator", "const generator"],
      ["return driver.close(generator);", "return driver.close(generator).then(closeNow);"],
      ["this.isClosing = true;\n    this.#quietUntilMs = 0;", "this.#quietUntilMs = 0;"],
    ],
    says: /repeats|window/,
  },
  "requests share the promise of an answer": {
    files: ["workers/lease-request-driver.ts"],
    changes: [
      [
        "return sleepUntil(this.#carried(request), ms, signal);",
        `const carried = ((this as any).shared ??= this.#carried(request).finally(() => {
      (this as any).shared = undefined;
    }));
    return sleepUntil(carried, ms, signal);`,
      ],
    ],
    says: /share a promise|hangs/,
  },
  "an answer wakes other requests": {
    files: ["workers/request-context.ts"],
    changes: [
      ["const sleeping: Sleeping = new Set();", "const sleeping: Sleeping = ((sleepUntil as any).all ??= new Set());"],
    ],
    says: /share a promise|hangs/,
  },
  "close() waits for another request": {
    files: ["workers/lease-request-driver.ts"],
    changes: [
      [
        "return sleepUntil(this.#carried(request), ms, signal);",
        "return sleepUntil(((this as any).carried = this.#carried(request)), ms, signal);",
      ],
      ["await this.release(note);", "await (this as any).carried;\n    await this.release(note);"],
    ],
    says: /share a promise|hangs/,
  },
  "every request has the lease renewed": {
    files: ["workers/lease-request-driver.ts"],
    changes: [["if (this.nextMs > 1 || this.#isAsking) return;", "if (this.#isAsking) return;"]],
    says: /renews beside/,
  },
  "a request that was cancelled is waited for by all later ones": {
    files: ["workers/lease-request-driver.ts"],
    changes: [
      [
        "if (this.nextMs > 1 || this.#isAsking) return;",
        "if ((this as any).busy || this.nextMs > 1 || this.#isAsking) return;",
      ],
      [
        "if (request !== undefined) keep(this.#carried(request));",
        `if (request === undefined) return;
      (this as any).busy = true;
      keep(this.#carried(request).then(() => {
        (this as any).busy = false;
      }));`,
      ],
      [
        "const request = this.ask();\n    if (request === undefined) return sleep",
        "const request = (this as any).busy ? undefined : this.ask();\n    if (request === undefined) return sleep",
      ],
    ],
    says: /does not mint again/,
  },
  "a call inside of the first one makes a generator of its own": {
    files: ["workers/leased.ts"],
    changes: [["    known = openEntry(key, scope);\n", ""]],
    says: /two generators/,
  },
  "a call inside of one that asks has the lease renewed too": {
    files: ["workers/lease-request-driver.ts"],
    changes: [["if (this.nextMs > 1 || this.#isAsking) return;", "if (this.nextMs > 1) return;"]],
    says: /renews beside/,
  },
  "a failed attempt is not told to the core": {
    files: ["lease/holder.ts"],
    changes: [["? this.tell(LeaseCall.FAIL, number)", "? LeaseChange.NONE"]],
    says: /asks the store \d+ times|renews beside|does not mint again/,
  },
};
