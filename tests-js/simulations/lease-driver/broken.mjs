// Lease drivers that are wrong on purpose: the shipped sources with a line changed. The checker of the simulation must find each.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bundleChanged, sources } from "../changed-sources.mjs";

/** By what is wrong: the files, what stands there, what stands there instead, and what the checker says. */
export const BROKEN = {
  "a node id is released from the start of its window": {
    files: ["lease/core-calls.ts"],
    changes: [["untilMs: numbers[Slot.UNTIL_MS] as number,\n    heldUntilMs", "untilMs: 0,\n    heldUntilMs"]],
    says: /repeats|window/,
  },
  "the store is told before the generator is closed": {
    files: ["lease/holder.ts", "lease/timer-driver.ts", "lease/leased-snowflake.ts"],
    changes: [
      [
        "const grant = digitsAt(numbers, Slot.GRANT);",
        "const grant = digitsAt(numbers, Slot.GRANT);\n    (this as any).latest = grant;",
      ],
      [
        'import { LeaseCall } from "../generated/lease.js";',
        'import { LeaseCall } from "../generated/lease.js";\nimport { Slot } from "../generated/abi.js";',
      ],
      [
        "await this.release(releaseNoteIn(this.call(LeaseCall.CLOSE)));",
        `const held = this.call(LeaseCall.STATUS);
        const [node, heldUntilMs] = [held[Slot.HELD_NODE] as number, held[Slot.HELD_UNTIL_MS] as number];
        const early = { grant: (this as any).latest, node, untilMs: this.wallMs + 1, heldUntilMs };
        await this.release(heldUntilMs > 0 ? early : undefined);
        this.call(LeaseCall.CLOSE);`,
      ],
      ["closeNow();\n      const generator", "const generator"],
      [
        "generator.minting.changed(undefined);\n      return driver.close(generator);",
        "return driver.close(generator).then(closeNow).then(() => generator.minting.changed(undefined));",
      ],
    ],
    says: /repeats|window/,
  },
  "an attempt has no time-out": {
    files: ["asking/attempt.ts"],
    changes: [["setTimeout(() => controller.abort(timeOut()), limitMs);", "setTimeout(() => {}, limitMs);"]],
    says: /nothing has happened since|does not mint again|takes too long/,
  },
  "two attempts at a time": {
    files: ["lease/timer-driver.ts"],
    changes: [
      ["if (this.#attempt !== undefined) {\n      // Its", "if (false) {\n      // Its"],
      ["const isIdle = (byCalls || this.#attempt === undefined) && ", "const isIdle = "],
    ],
    says: /two attempts at a time|asks too often/,
  },
  "the end of a window is taken for later than it is": {
    files: ["lease/core-calls.ts"],
    changes: [
      ["numbers[Slot.UNTIL_MS] = numberOrNaN(untilMs);", "numbers[Slot.UNTIL_MS] = numberOrNaN(untilMs) + 1000;"],
    ],
    says: /repeats|window|does not mint again/,
  },
  "the start of a window is ignored": {
    files: ["lease/core-calls.ts"],
    changes: [["numbers[Slot.FROM_MS] = numberOrNaN(fromMs);", "numbers[Slot.FROM_MS] = 0;"]],
    says: /repeats|window/,
  },
  "what is asked for again sooner is not": {
    files: ["lease/timer-driver.ts"],
    changes: [["if (isExpired) this.call(LeaseCall.HURRY);", ""]],
    says: /nothing has happened since/,
  },
  "the generator does not hear of a change": {
    files: ["lease/holder.ts"],
    changes: [["this.generator?.minting.changed(node);", ";"]],
    says: /but node is undefined/,
  },
  "a failed attempt is not told to the core": {
    files: ["lease/holder.ts"],
    changes: [["? this.tell(LeaseCall.FAIL, number)", "? LeaseChange.NONE"]],
    says: /asks too often|nothing has happened since|does not mint again/,
  },
  "a call waits for an attempt whose time is over": {
    files: ["lease/timer-driver.ts"],
    changes: [["if (this.nextMs <= 1) this.#giveUp();", ""]],
    says: /nothing has happened since|does not mint again/,
  },
  "a timer is left when a call that renews ends": {
    files: ["lease/timer-driver.ts"],
    changes: [["if (!this.options.byCalls) this.#timer = ", "this.#timer = "]],
    says: /timers of \w outlive a call/,
  },
  "close() leaves its timer": {
    files: ["lease/timer-driver.ts"],
    changes: [["this.#closing = (async () => {\n      clearTimeout(this.#timer);", "this.#closing = (async () => {"]],
    says: /timers are left/,
  },
};

/** The call of a driver that is broken. It is built in this folder, so that `frazil` resolves to the same package. */
export async function load(broken) {
  if (broken === undefined) return {};
  const folder = mkdtempSync(join(import.meta.dirname, ".broken-"));
  try {
    const outfile = join(folder, "lease.mjs");
    await bundleChanged(broken, {
      entryPoints: [join(sources, "lease/index.ts")],
      outfile,
      format: "esm",
      loader: { ".wasm": "empty" },
      external: ["frazil"],
    });
    const { lease } = await import(outfile);
    return { lease };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
