/**
 * `Snowflake`: the class that callers use. It keeps a block of reserved IDs, waits, and counts. The core decides which
 * IDs may be issued. The block and its cursor are private fields of the class, so `next()` is one chain of comparisons and one array read.
 *
 * One long file: a private field cannot be shared between files, and a third of the lines document the public API.
 */

import { Host, inWorkerThread, load, markProcess } from "#binding";
import { Decoding } from "#decoding";
import { copyIds, Ids, isIdArray, lengthOf } from "../base/arrays.js";
import { checkedClock, isFaked, wallClock } from "../base/clock.js";
import { ConfigError, configError, type ErrorCode, FrazilError, refusal, retryError } from "../base/errors.js";
import { giveArray, listOf, takeArray } from "../base/lists.js";
import { PackageRule } from "../base/package-rules.js";
import { hideName, printOnly } from "../base/printing.js";
import { describedError } from "../base/value-text.js";
import { block, canBlock, retry, sleep, untilAborted } from "../base/wait.js";
import type { Backend } from "../core/boundary.js";
import { distrustText, LONG_WAIT_MS } from "../core/clock-text.js";
import { noAddonError } from "../core/no-addon.js";
import { type Port, releaserOf, sharedPort, unclosed } from "../core/port.js";
import { CODES, First, Frame, MEANINGS, Slot } from "../generated/abi.js";
import { nodeGiven } from "../layout/default-nodes.js";
import {
  type Decoded,
  type IdInput,
  type IdRange,
  Layout,
  type LayoutInput,
  type NodeInput,
  type PartsOf,
} from "../layout/index.js";
import { fillArray } from "./fill-array.js";
import {
  type CoreCounts,
  closedHealth,
  type Health,
  isObstructed,
  readCounts,
  readHealth,
  type Stats,
  staticNodeWarning,
} from "./health.js";
import { checkLocalOptions, LOCAL_OPTIONS, NOT_LOCAL, nativeRequired } from "./local.js";
import { type FillCall, type MintCall, newCall } from "./mint-call.js";
import {
  type AsyncOptions,
  CONSTRUCTOR_OPTIONS,
  checkGenerator,
  checkOptions,
  type LocalAsyncOptions,
  type LocalOptions,
  type SnowflakeOptions,
  signalOf,
} from "./options.js";
import {
  numberOrNaN,
  numberRefusal,
  openRefusal,
  openRequest,
  TOO_LONG,
  writeNewKey,
  writeRequest,
} from "./request.js";
import { SESSION, type Session } from "./session.js";
import { floor, readWindow, type SwapLine, sharedLines, swapLineOf, swapOne } from "./swap-line.js";

/** Tells the constructor to open a state file. */
const OPEN_LOCAL = Symbol();
/** Tells the constructor to start opening a state file on another thread. */
const OPEN_LOCAL_ASYNC = Symbol();

/** Asks for an ID at once: `undefined` instead of a wait or an error of the core. A symbol, because a program may pass `next` to `map`. */
const AT_ONCE = Symbol();
/** The same, but not while another process has the lock of the state file. */
const UNOBSTRUCTED = Host.FILES ? Symbol() : AT_ONCE;

/** The bits that a number holds exactly. */
const NUMBER_BITS = 53;

/** Whether the program was warned about a static node id in several places that share nothing. */
let isWarned = false;

/**
 * Each call schedules `end` for the end of the current turn. It uses `await`, which no fake timers replace. In a vm context of Node it also
 * uses a tick from outside: microtasks of the context may wait for its next script (`microtaskMode: "afterEvaluate"`).
 */
function endOfTurn(end: () => void): () => void {
  const { process } = globalThis;
  const tick = Host.FILES && process && !((process as object) instanceof Object) ? process.nextTick : undefined;
  let isQueued = false;
  const queue = async () => {
    isQueued = true;
    await undefined;
    isQueued = false;
    end();
  };
  // Not in the function with `await`: its caller would not see that the stack overflowed.
  return () => {
    tick?.(end);
    if (!isQueued) queue();
  };
}

/** 2^32. */
const TWO_32 = 0x1_0000_0000;

/** Instead of `Math.min`, which a program may replace: user code must not run in the middle of a call. */
const min = (a: number, b: number): number => (a < b ? a : b);

/**
 * Captured at load: a subclass of `Layout` that overrides them does not change the checked layout or node id. Destructuring would keep
 * `Layout` in every bundle; bundlers drop these calls.
 */
const method = <K extends keyof Layout>(name: K): Layout[K] => Layout.prototype[name];
const joinNode = /* @__PURE__ */ method("joinNode");
const planOf = /* @__PURE__ */ method("plan");
const withChanges = /* @__PURE__ */ method("with");

/**
 * Mints Snowflake IDs.
 *
 * All generators with the same layout and node id in one process share one state, so a new generator for each request
 * is correct. If `layout.plan().ordered` is true, the IDs of one generator strictly increase. Every method can be called detached from the
 * object, so a subclass cannot override one: wrap a generator instead.
 *
 * ```js
 * const ids = new Snowflake({ node: 7 });
 * ids.next(); // 382138004275228672n
 * ```
 */
export class Snowflake<const L extends LayoutInput = "default"> {
  /** Keeps the name when a minifier renames the class. @internal */
  static readonly name: string = "Snowflake";
  // @ts-expect-error: nobody reads it
  // biome-ignore lint/correctness/noUnusedPrivateClassMembers: a call in a field is left out with the class, and one outside is not
  static readonly #printed = Host.ISOLATES
    ? /* @__PURE__ */ hideName(this)
    : /* @__PURE__ */ printOnly(this, ["layout", "node", "backend"]);
  /** The connection to the core, for `frazil/segment`. A method, because a static field would keep the class in every bundle. @internal */
  static port(): Port {
    return sharedPort(load);
  }
  /** The meaning of the bits. */
  readonly layout: Layout<PartsOf<L>>;
  #node: number | undefined;
  /** The lease that the node id comes from. Absent for a static node id and for a state file. */
  readonly #session: Session | undefined;
  readonly #clock: () => number;
  /**
   * The connection to the core. If no backend is available, it is absent, and every minting call throws `#unavailable`.
   */
  readonly #port: Port | undefined;
  readonly #unavailable: unknown;
  #handle = 0;
  /** Whether the generator has its own clock (`now`) and its own state, which no other generator shares. */
  readonly #isPrivate: boolean;
  /** Whether the state is in a file. */
  readonly #isLocal: boolean = false;
  /** Whether only the program keeps others from having the node id. */
  readonly #isStatic: boolean;
  /** The most bits that an ID has. */
  readonly #bits: number;
  /** The wait before the first ID, in milliseconds. */
  #startWaitMs = 0;
  #maxBlock = 1;
  #maxWaitMs = 0;
  #maxAsyncWaitMs = 0;
  /** The ticket of the state file that is opened on another thread. */
  #ticket = 0;
  #closed = false;

  // The block of reserved IDs: `#ids` from `#cursor` to `#end`. Valid while the clock is in `[#fromMs, #untilMs)`.
  #ids = new Ids(0);
  #capacity = 0;
  /** With `freshness: "turn"`: whether the block serves without reading the clock, until a microtask ends that. */
  #isOfThisTurn: boolean | undefined;
  #cursor = 0;
  #end = 0;
  #blockSize = 0;
  // Doubles from the start: V8 discards the compiled code of a class when an integer field becomes a double.
  #fromMs = NaN;
  #untilMs = NaN;
  /** The index of the first line slot, as a slot of the frame; 0 if there are none. See `#nextByLine`. */
  #line = 0;
  /** The line of a generator on the addon; `null` until a call needs it, and `undefined` if there is none. See `swap-line.ts`. */
  #swap: SwapLine | null | undefined;
  /** Whether `#nextByCore` may call the core: not after `close()`, and not if a lease must be asked first. */
  #asksAlone = false;
  /**
   * At this time `next()` reserves a block instead of a single ID, because it has minted a single ID at this time, or a call was refused.
   * NaN if there is no such time.
   */
  #reserveAtMs = NaN;

  // Views of the frame, read before the last reservation. Reading them again after it could run user code.
  #numbers!: Float64Array;
  #frame!: BigUint64Array;

  /**
   * The last error made here from a refusal by the core. A clock of the user may throw an error that looks the same.
   */
  #lastRefusal: FrazilError | undefined;
  #lastRetryMs = Infinity;
  /** The status from the core. */
  #lastStatus = 0;
  /** The time of the call. */
  #lastRefusedAtMs: unknown;
  /** The wait of the call since the clock moved. */
  #lastStoodMs = 0;

  /** IDs that were minted without a block. */
  #alone = 0;
  /** IDs that were reserved in blocks, and how often. */
  #reserved = 0;
  #dropped = 0;
  /** IDs that aborted calls gave back. Later calls issue them, or they are dropped. */
  #returned = 0;
  #reservations = 0;
  #rechecks = 0;
  #stalls = 0;
  #waitedMs = 0;
  #finalCounts!: CoreCounts;

  /**
   * A generator for one machine, without configuration. Its state is in a file that all processes and threads of one user
   * share, or of all users who give one `dir`. So IDs do not repeat after a crash, after a power loss, or when the clock is
   * set back. If an earlier boot may have reserved the current time, opening waits until that time has passed: usually not
   * at all, and at most `startWaitMs`. A new state file takes a second.
   *
   * If IDs of two machines must differ, give each machine its own `node`.
   *
   * ```js
   * const ids = Snowflake.local();
   * ids.next(); // 382138004275228672n
   * ids.close();
   * ```
   *
   * @throws {ConfigError} the errors of the constructor. Also `NODE_REQUIRED` if the process runs under an orchestrator
   * and no `node` is given; `UNSUPPORTED_FILE_SYSTEM`, `STATE_FILE_CORRUPT`, `STATE_FILE_AHEAD` and
   * `STATE_FILE_FAILED`, each with the path and what to do; `STATE_CONFLICT` if the process has a generator with a
   * static node id, or one with another `sequenceStart`; `NATIVE_REQUIRED` without the native addon.
   * @throws {ClockError} `CLOCK_BACKWARD` with `retryAfterMs` if the wait would be longer than `startWaitMs`;
   * `CLOCK_BEFORE_EPOCH`.
   */
  static local<const L extends LayoutInput = "default">(options: LocalOptions<L> = {}): Snowflake<L> {
    if (Host.FILES) {
      const ids = openLocal<L>(options, OPEN_LOCAL);
      if (ids.#startWaitMs > 0) block(ids.#startWaitMs);
      return ids;
    }
    throw nativeRequired();
  }

  /**
   * The same as `local`, but does not block the event loop while it waits. Rejects with the errors of `local`, and with
   * the reason of the signal.
   */
  static async localAsync<const L extends LayoutInput = "default">(
    options: LocalAsyncOptions<L> = {},
  ): Promise<Snowflake<L>> {
    if (Host.FILES) {
      const { signal: given, ...rest } = checkOptions(options, `${LOCAL_OPTIONS}, signal`, NOT_LOCAL);
      const signal = signalOf({ signal: given });
      signal?.throwIfAborted();
      const ids = openLocal<L>(rest, OPEN_LOCAL_ASYNC);
      const opened = ids.#finishOpenAsync(rest);
      try {
        await untilAborted(opened, signal);
        if (ids.#startWaitMs > 0) await sleep(ids.#startWaitMs, signal);
      } catch (error) {
        // An unfinished opening must not hold the event loop. If the file is already open, this closes it.
        (ids.#port as Port).binding.files?.abandon(ids.#ticket);
        opened.then(ids.close, () => {});
        throw error;
      }
      return ids;
    }
    throw nativeRequired();
  }

  /**
   * @throws {ConfigError} `NODE_REQUIRED`, `INVALID_NODE`, `INVALID_LAYOUT`, `INVALID_OPTION`: each names the field,
   * the value and the rule. `STATE_CONFLICT` if a generator with the same layout and node id has another
   * `sequenceStart`, or if another thread or realm of the process uses the other backend. `NATIVE_REQUIRED` on
   * WebAssembly in a Node worker thread without `unshared: true`.
   */
  constructor(options: SnowflakeOptions<L>);
  constructor(options: SnowflakeOptions<L>, kind?: unknown) {
    const local = Boolean(Host.FILES) && (kind === OPEN_LOCAL || kind === OPEN_LOCAL_ASYNC);
    const known = Host.FILES && local ? LOCAL_OPTIONS : CONSTRUCTOR_OPTIONS;
    const check = Host.FILES ? checkGenerator : checkOptions;
    const given = check(options === undefined ? {} : options, known, Host.FILES && local ? NOT_LOCAL : "");
    if (Host.FILES && local) checkLocalOptions(given);
    const { layout = "default", epochMs, node, unshared = false, now, freshness = "call" } = given;
    const plain = Layout.from(layout);
    this.layout = (
      epochMs === undefined ? plain : withChanges.call(plain, { epochMs: epochMs as number | Date })
    ) as Layout<PartsOf<L>>;
    this.#bits = this.layout.fields.reduce((sum, { bits }) => sum + bits, 0);
    if (typeof unshared !== "boolean")
      throw configError("INVALID_OPTION", "unshared", unshared, PackageRule.TRUE_OR_FALSE);
    if (freshness !== "call" && freshness !== "turn")
      throw configError("INVALID_OPTION", "freshness", freshness, PackageRule.KNOWN_FRESHNESS);
    if (Host.MOVING_CLOCK && freshness === "turn") {
      const endTurn = endOfTurn(() => {
        this.#isOfThisTurn = false;
      });
      this.next = () => {
        if (this.#isOfThisTurn && this.#cursor < this.#end) return this.#ids[this.#cursor++] as bigint;
        const id = this.#nextOne() as bigint;
        if (!this.#isOfThisTurn && this.#cursor < this.#end) {
          // First, since hooks of promises may mint.
          this.#isOfThisTurn = true;
          try {
            endTurn();
          } catch (error) {
            this.#isOfThisTurn = false;
            throw error;
          }
        }
        return id;
      };
    }
    if (now !== undefined && typeof now !== "function")
      throw describedError("INVALID_OPTION", "now", now, PackageRule.FUNCTION);
    const session = Object(kind)[SESSION] ? (kind as Session) : undefined;
    this.#session = session;
    this.#isPrivate = now !== undefined;
    if (Host.FILES) this.#isLocal = local;
    this.#isStatic = !(Host.FILES && local) && !session && !unshared && !this.#isPrivate;
    this.#clock = session?.clock ?? (now === undefined ? wallClock : checkedClock(now as () => unknown));
    const joined =
      typeof node === "object" && node !== null ? joinNode.call(this.layout, node as never) : nodeGiven(node);
    this.#node = typeof joined === "number" ? joined : undefined;
    let port: Port;
    try {
      port = sharedPort(load);
    } catch (error) {
      // Where nothing can be minted, no lease is requested.
      if (session || !(error instanceof FrazilError) || error.code !== "WASM_UNAVAILABLE") throw error;
      this.#unavailable = error;
      return;
    }
    this.#port = port;
    const { backend, calls, files, frame, causes } = port.binding;
    if (Host.FILES && local && files === undefined) throw nativeRequired(causes);
    if (Host.THREADS && backend === "wasm" && !unshared && !this.#isPrivate && !session && inWorkerThread()) {
      throw new ConfigError(
        "NATIVE_REQUIRED",
        "WebAssembly in a worker thread shares no state with other threads, so a static node id is refused\nInstall the native addon, or pass unshared: true if no other thread has this node id.",
        { field: "node", value: node, cause: noAddonError(causes) },
      );
    }
    const request = openRequest(this.layout, given, joined, this.#isPrivate);
    // From here until the answers are read, no user code may run: it could use the frame as well.
    const write = () => writeRequest(port, request);
    if (Host.FILES && local && files) {
      files.writeRequest(port, given, write);
      if (kind === OPEN_LOCAL_ASYNC) this.#ticket = files.openAsync(port);
      else this.#finishOpen(files.open(port), given);
      return;
    }
    if (session) {
      this.#finishOpen(session.open(port, write), given);
      const changed = (leased: number | undefined) => {
        this.#node = leased;
        if (Host.FILES && this.#swap) this.#swap = null;
        this.#dropBlock();
      };
      session.opened({ port, handle: this.#handle, changed });
    } else {
      write();
      this.#finishOpen(calls.open(frame), given);
      // Once in a process, an isolate or a frame, because it concerns the program.
      const wrong = this.#isStatic && !isWarned ? staticNodeWarning(this.#node ?? "none") : undefined;
      if (wrong !== undefined) {
        isWarned = true;
        if (Host.FILES) {
          const [fact, detail] = wrong.split("\n") as [string, string];
          process.emitWarning(`frazil: ${fact}`, { code: "FRAZIL_STATIC_NODE", detail });
        } else console.warn(`frazil: ${wrong}`);
      }
    }
    // No other generator has the node id of a lease, whatever the backend.
    if (Host.THREADS && backend === "wasm" && !unshared && !this.#isPrivate && !session) markProcess();
  }

  /** Reads the result of opening from the frame. No user code has run since the frame was written. */
  #finishOpen(status: number, given: Record<string, unknown>): void {
    if (status !== 0) throw openRefusal(this.#port as Port, status, given, this.layout);
    // Read after the call: if opening grows WebAssembly's memory, older views have length 0.
    const { numbers } = this.#port as Port;
    this.#handle = numbers[Slot.HANDLE] as number;
    this.#line = numbers[Slot.LINE] as number;
    if (Host.FILES && this.#line !== 0) {
      const { binding } = this.#port as Port;
      // In this order: WebAssembly has no `lines`, and an inherited one would be user code.
      if (binding.backend === "native" && binding.lines) {
        this.#line = 0;
        this.#swap = (this.#isStatic && sharedLines[this.#handle]) || null;
      } else {
        if (this.next === this.#nextOne) (this as { next: unknown }).next = this.#nextByLine;
        this.#nextOne = this.#nextByLine;
      }
    }
    if (Host.MOVING_CLOCK) this.#asksAlone = !this.#session;
    this.#maxBlock = numbers[Slot.MAX_BLOCK] as number;
    this.#maxWaitMs = numbers[Slot.MAX_WAIT_MS] as number;
    this.#maxAsyncWaitMs = numbers[Slot.MAX_ASYNC_WAIT_MS] as number;
    if (Host.FILES && this.#isLocal) {
      this.#startWaitMs = numbers[Slot.WAIT_MS] as number;
      const node = numbers[Slot.NODE] as number;
      // The core chose the node id if none was given.
      if (this.layout.fields.some(({ kind }) => kind === "node")) this.#node = node;
    }
    if (this.#isPrivate || (Host.FILES && this.#isLocal))
      unclosed?.register(this, releaserOf(this.#port as Port, this.#handle), this);
  }

  /** Waits until the state file is open, and then reads the result. */
  async #finishOpenAsync(given: Record<string, unknown>): Promise<void> {
    if (!Host.FILES) return;
    const { files } = (this.#port as Port).binding;
    if (!files) return;
    await files.whenOpened(this.#ticket);
    this.#finishOpen(files.opened(this.#port as Port, this.#ticket), given);
  }

  /**
   * The node id as one number; `undefined` for a layout without a node field. With a lease it can change, and is `undefined` while no lease
   * is held.
   */
  get node(): number | undefined {
    return this.#node;
  }

  /** Where the core runs: `"native"` or `"wasm"`. */
  get backend(): Backend {
    return this.#port?.binding.backend ?? "wasm";
  }

  /**
   * `next` on the addon, and for a generator without a line. It is small enough to be inlined into the caller's loop; `swapOne` and
   * `#nextByLine` are not.
   */
  readonly #nextByClock = Host.FILES
    ? (how?: unknown): bigint | undefined => {
        const now = this.#clock();
        // `#hasIdAt`, inlined: every ID takes this path. A replaced clock may return an object, and comparing an object
        // runs user code, so the cursor is compared last.
        if (now >= this.#fromMs && now < this.#untilMs) {
          if (this.#cursor < this.#end) return this.#ids[this.#cursor++] as bigint;
        } else if (typeof now === "number" && now !== this.#reserveAtMs) {
          const line = this.#swap;
          const id = line ? swapOne(line, now) : undefined;
          if (id === undefined) return this.#nextByCore(now, how);
          if (this.#untilMs > 0) this.#dropBlock();
          this.#reserveAtMs = now;
          this.#alone++;
          return id;
        }
        return this.#nextByBlock(now, how);
      }
    : (undefined as never);

  /** `next` of a generator that may have a line in the memory of the module. */
  readonly #nextByLine = (how?: unknown): bigint | undefined => {
    const now = this.#clock();
    // The cursor is compared last: see `#nextByClock`.
    if (now < this.#untilMs && now >= this.#fromMs) {
      if (this.#cursor < this.#end) return this.#ids[this.#cursor++] as bigint;
    } else if (typeof now === "number" && (!Host.MOVING_CLOCK || now !== this.#reserveAtMs)) {
      // The first ID of a tick, without a call of the core. The rule is in `crates/core/src/mint/line.rs`, the memory layout in
      // `crates/core/src/abi/line.rs`. No other thread has this memory, and no user code runs here. As a separate function it would be
      // optimised later, after some thousand calls. No bigint comparison and no remainder: V8 calls its runtime for both.
      let id: bigint | undefined;
      const at = this.#line;
      if (at !== 0) {
        const { doubles, words } = this.#port as Port;
        const epochMs = doubles[at] as number;
        const tickMs = doubles[at + 1] as number;
        const tick = floor((now - epochMs) / tickMs);
        const startMs = epochMs + tick * tickMs;
        const endMs = startMs + tickMs;
        const first = tick * (doubles[at + 3] as number);
        // The halves of the word, and after them those of the start and the end of the window.
        const state = doubles[at + 7] as number;
        // False if there is no line, or if the memory has grown. The first comparison is exact, because differences below 2^53 are. Times
        // from 2^53 on are rounded, but remain beyond all ticks. If the clock went back, the core is called and counts it.
        if (
          (words[state] as number) <= first - (words[state + 1] as number) * TWO_32 &&
          (doubles[at + 8] as number) <= now &&
          startMs <= now &&
          endMs <= (doubles[at + 2] as number) &&
          (words[state + 3] as number) * TWO_32 + (words[state + 2] as number) <= startMs &&
          (words[state + 5] as number) * TWO_32 + (words[state + 4] as number) >= endMs
        ) {
          // Stored values are taken modulo 2^32. The first word of a tick is even.
          words[state] = first | 1;
          words[state + 1] = first / TWO_32;
          doubles[at + 8] = now;
          const time = tick * (doubles[at + 4] as number);
          words[0] = time | (doubles[at + 5] as number);
          words[1] = (time / TWO_32) | (doubles[at + 6] as number);
          id = (this.#port as Port).wholes[0] as bigint;
        }
      }
      if (id !== undefined) {
        // Inlined, because code that runs once in a millisecond stays interpreted for a thousand calls.
        if (this.#untilMs > 0) this.#dropBlock();
        if (Host.MOVING_CLOCK) this.#reserveAtMs = now;
        this.#alone++;
        return id;
      }
      if (Host.MOVING_CLOCK) return this.#nextByCore(now, how);
    }
    return this.#nextByBlock(now, how);
  };

  /** `#nextByClock` or `#nextByLine`. */
  #nextOne = Host.FILES ? this.#nextByClock : this.#nextByLine;

  /**
   * The next ID.
   *
   * @throws {ClockError} `SEQUENCE_EXHAUSTED` or `CLOCK_BACKWARD` with `retryAfterMs` if the wait would exceed
   * `maxWaitMs` or the host cannot block; `CLOCK_BEFORE_EPOCH`, `TIME_EXHAUSTED`, `INVALID_CLOCK`.
   * @throws {ConfigError} `CLOSED`, `WASM_UNAVAILABLE`.
   */
  readonly next = this.#nextOne as () => bigint;

  /** One ID by one call of the core, for a program that mints now and then: a block would take views of the frame and a copy. */
  #nextByCore(now: number, how: unknown): bigint | undefined {
    let answered: number | undefined;
    if (Host.MOVING_CLOCK && this.#asksAlone && !(Host.FILES && this.#isLocal && how === UNOBSTRUCTED)) {
      const { binding, wholes } = this.#port as Port;
      answered = binding.calls.reserve(binding.frame, this.#handle, now, 1, false);
      const id = answered === 0 ? wholes[0] : undefined;
      // Also absent if the memory has grown: `#reserve` then finds the memory and the ID.
      if (id !== undefined) {
        if (this.#untilMs > 0) this.#dropBlock();
        this.#reserveAtMs = now;
        this.#alone++;
        if (Host.FILES && this.#swap !== undefined) this.#readLine();
        return id;
      }
    }
    return this.#nextByBlock(now, how, answered);
  }

  /** The first ID of a new block. `answered`: see `MintCall`. */
  #nextByBlock(now: number, how: unknown, answered?: number): bigint | undefined {
    if (Host.FILES && this.#isLocal && how === UNOBSTRUCTED && isObstructed(this.#requirePort(), this.#handle, now)) {
      // As after a refusal that says when to retry: see `tryNext`.
      this.#lastRetryMs = 0;
      return undefined;
    }
    const waits = how !== AT_ONCE && !(Host.FILES && how === UNOBSTRUCTED);
    const id = this.#refill(now, waits ? this.#maxWaitMs : 0, answered);
    if (id !== undefined || !waits) return id;
    throw this.#refusal();
  }

  /**
   * After a call of the core: reads the window of the line again, or finds the line, for later calls. Unless the line is shared, only from
   * the 65th call on: see `docs/internals/design.md`.
   */
  #readLine(): void {
    if (Host.FILES) {
      if (this.#swap) readWindow(this.#swap);
      else if (this.#swap === null && (this.#isStatic || this.#alone + this.#reservations > 64))
        this.#swap = swapLineOf(this.#port as Port, this.#handle, this.#isStatic);
    }
  }

  /** The next ID as decimal text. Throws the errors of `next`. */
  readonly nextString = (): string => `${this.next()}`;

  /**
   * Fills the array with IDs, with one call into the core for every 4096.
   *
   * @throws the errors of `next`. If the call fails midway, the error has `issued`: that many IDs at the start of the
   * array are valid and are never issued again. `SEQUENCE_EXHAUSTED` with `maxCount` if the length exceeds the full lead and the full wait;
   * then no ID is issued. `INVALID_ARGUMENT` if the argument is not a BigUint64Array of at most 1,048,576 elements, or if the clock
   * transfers or shortens the array.
   */
  readonly fill = (target: BigUint64Array): BigUint64Array => {
    this.#checkTarget(target);
    this.#fill(newCall(target, this.#maxWaitMs));
    return target;
  };

  /**
   * An array of `count` IDs, 0 to 1,048,576. Throws the errors of `fill`: with the default layout, lead and wait a static generator
   * makes at most 86,016 in one call. For more use `nextManyAsync`.
   */
  readonly nextMany = (count: number): bigint[] => this.#mintMany(count, false);

  /** An array of `count` IDs as decimal text, with the limit of `nextMany`. Throws the errors of `fill`. */
  readonly nextManyStrings = (count: number): string[] => this.#mintMany(count, true);

  /** The next ID. Waits up to `maxAsyncWaitMs` without blocking the event loop. Rejects with the errors of `next`. */
  readonly nextAsync = async (options?: AsyncOptions): Promise<bigint> => {
    const signal = signalOf(options);
    signal?.throwIfAborted();
    const renewal = this.#session?.renewIfDue?.(signal, this.#maxAsyncWaitMs);
    // Without a closure and a second promise, because most calls do not wait.
    let isRefused = renewal === undefined;
    const first = isRefused ? this.#nextOne(AT_ONCE) : undefined;
    if (first !== undefined) return first;
    const attempt = () => {
      const id = isRefused ? undefined : this.#nextOne(AT_ONCE);
      isRefused = false;
      if (id !== undefined) return id;
      throw this.#refusal();
    };
    return this.#retry(signal, attempt, renewal);
  };

  /**
   * The next ID, or `undefined` if `next` would wait or throw a `retryable` error. It never waits; with a state file it may flush the disk,
   * as any call. Throws the other errors of `next`.
   */
  readonly tryNext = (): bigint | undefined => {
    const id = this.#nextOne(UNOBSTRUCTED);
    // A refusal of the clock with a retry time is retryable, and no lease needs to know (`Session.refused`). Making an error would take
    // most of the time of the call.
    if (id !== undefined || this.#lastRetryMs < Infinity) return id;
    const error = this.#refusal();
    if (error.retryable) return undefined;
    throw error;
  };

  /**
   * The next ID as a number, for a layout of at most 53 bits, such as `safe53`. Throws the errors of `next`.
   *
   * @throws {ConfigError} `INVALID_LAYOUT` for a layout that has more bits. Then no ID is issued.
   */
  readonly nextNumber = (): number => {
    if (this.#bits > NUMBER_BITS)
      throw refusal(
        ConfigError,
        "INVALID_LAYOUT",
        "layout",
        this.#bits,
        PackageRule.NUMBER_WIDTH,
        0,
        NUMBER_BITS,
        undefined,
        `one of ${this.#bits} bits`,
      );
    return Number(this.next());
  };

  /** The next ID as decimal text. Rejects with the errors of `nextAsync`. */
  readonly nextStringAsync = async (options?: AsyncOptions): Promise<string> => `${await this.nextAsync(options)}`;

  /**
   * Fills the array. Waits up to `maxAsyncWaitMs` in all without blocking the event loop. Rejects with the errors of
   * `fill`, and with `INVALID_ARGUMENT` if the array is transferred or shortened in the meantime: the `issued` IDs that it had are never
   * issued again.
   */
  readonly fillAsync = async (target: BigUint64Array, options?: AsyncOptions): Promise<BigUint64Array> => {
    const signal = signalOf(options);
    this.#checkTarget(target, this.#maxAsyncWaitMs);
    await this.#fillWithRetry(newCall(target, 0), signal);
    return target;
  };

  /**
   * An array of `count` IDs, 0 to 1,048,576. Waits as `fillAsync`. If the call is aborted, later calls issue the IDs that it had
   * reserved.
   */
  readonly nextManyAsync = async (count: number, options?: AsyncOptions): Promise<bigint[]> =>
    this.#mintManyAsync(count, options, false);

  /** An array of `count` IDs as decimal text. Waits as `nextManyAsync`. */
  readonly nextManyStringsAsync = async (count: number, options?: AsyncOptions): Promise<string[]> =>
    this.#mintManyAsync(count, options, true);

  /** Decodes an ID: `layout.decode`. */
  readonly decode = (id: IdInput): Decoded<PartsOf<L>> => this.layout.decode(id);

  /** An ID of this layout as a `bigint`: `layout.parse`. */
  readonly parse = (id: IdInput): bigint => this.layout.parse(id);

  /** The IDs of a stretch of time, half open: `layout.range`. */
  readonly range = (
    from: Date | number,
    to: Date | number,
    options?: { readonly node?: NodeInput<PartsOf<L>> },
  ): IdRange => this.layout.range(from, to, options);

  /** Counters of this generator. `next()` counts nothing on its fast path, so the counters cost it no time. */
  readonly stats = (): Stats => ({
    backend: this.backend,
    issued: this.#takenCount() - this.#returned,
    dropped: this.#dropped,
    reservations: this.#alone + this.#reservations,
    rechecks: this.#rechecks,
    stalls: this.#stalls,
    waitedMs: this.#waitedMs,
    ...this.#coreCounts(),
  });

  /**
   * The state of the generator, for a health check. Issues no ID. After `close()` its `refusal` is `CLOSED`.
   *
   * @throws {ConfigError} `WASM_UNAVAILABLE`.
   * @throws {ClockError} `INVALID_CLOCK`.
   */
  readonly health = (): Health => {
    if (this.#closed) return this.#closedHealth();
    const port = this.#requirePort();
    const now = this.#clock();
    this.#session?.read();
    // Checked again: the clock may have closed this generator.
    if (this.#closed) return this.#closedHealth();
    this.#session?.write?.(port.numbers);
    return readHealth(
      port,
      this.#handle,
      now,
      Host.FILES && this.#isLocal,
      this.#isStatic ? (this.#node ?? "none") : undefined,
      this.layout,
      this.#isForgotten(),
    );
  };

  /** True if no file or store remembers these IDs after the process exits. */
  #isForgotten(): boolean {
    return !this.#session && !(Host.FILES && this.#isLocal);
  }

  /**
   * Closes the generator: drops the rest of its block, and makes later minting calls throw `CLOSED`. Other generators
   * that share its state go on.
   */
  readonly close = (): void => {
    if (this.#closed) return;
    // First, because after a stack overflow the stopped module has no counters.
    this.#line = 0;
    if (Host.FILES) this.#swap = undefined;
    const counts = this.#coreCounts();
    if (this.#closed) return;
    this.#finalCounts = counts;
    this.#closed = true;
    if (Host.MOVING_CLOCK) this.#asksAlone = false;
    this.#dropBlock();
    if ((this.#isPrivate || (Host.FILES && this.#isLocal)) && this.#port !== undefined) {
      unclosed?.unregister(this);
      releaserOf(this.#port, this.#handle)();
    }
  };

  /** `close()`, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** An endless iterator of IDs: `for (const id of ids)`. */
  *[Symbol.iterator](): Generator<bigint, never> {
    for (;;) yield this.next();
  }

  /** The counters of the core; after `close()`, their values at that time. */
  #coreCounts(): CoreCounts {
    return this.#closed ? this.#finalCounts : readCounts(this.#port, this.#handle);
  }

  /**
   * Whether the block has an ID left for this time. False for a time that is not a number, which the core refuses: comparing it could run
   * user code.
   */
  #hasIdAt(now: number): boolean {
    return typeof now === "number" && now >= this.#fromMs && now < this.#untilMs && this.#cursor < this.#end;
  }

  /** The number of IDs that all calls have taken from the block or directly from the core. It never decreases. */
  #takenCount(): number {
    return this.#alone + this.#reserved - (this.#end - this.#cursor) - this.#dropped + this.#returned;
  }

  /**
   * Reserves a new block and takes its first ID; `undefined` if the core refuses. If the previous block was used up while valid, the new
   * one is twice as large, up to `#maxBlock`. Otherwise it has two IDs at `#reserveAtMs`, and one at any other time.
   */
  #refill(now: number, waitMs: number, answered?: number): bigint | undefined {
    const usedUp = now >= this.#fromMs && now < this.#untilMs && this.#cursor === this.#end;
    const want =
      Host.MOVING_CLOCK && now === this.#reserveAtMs
        ? min(2, this.#maxBlock)
        : usedUp
          ? min(2 * this.#blockSize, this.#maxBlock)
          : 1;
    const count = this.#reserve(want, now, newCall(undefined, waitMs, answered));
    if (count === 0) return undefined;
    // Only after the reservation: a refused call loses no ID, and the rest of the block is valid again when the clock
    // is back in its tick.
    this.#dropBlock();
    const numbers = this.#numbers;
    const frame = this.#frame;
    this.#blockSize = count;
    this.#fromMs = numbers[Slot.VALID_FROM_MS] as number;
    this.#untilMs = numbers[Slot.VALID_UNTIL_MS] as number;
    const first = frame[0] as bigint;
    if (count > 1) {
      this.#copyBlock(frame, count);
      this.#cursor = 1;
    }
    if (Host.FILES && this.#swap !== undefined) this.#readLine();
    return first;
  }

  /** Copies the first `count` IDs of an array into the block. */
  #copyBlock(ids: BigUint64Array, count: number): void {
    if (this.#capacity < count) {
      this.#ids = new Ids(count);
      this.#capacity = count;
    }
    copyIds(ids, 0, count, this.#ids, 0);
    this.#end = count;
  }

  /** Drops the rest of the block. The next IDs are larger, so issuing these after them would break the order. */
  #dropBlock(): void {
    this.#dropped += this.#end - this.#cursor;
    this.#cursor = 0;
    this.#end = 0;
    this.#blockSize = 0;
    this.#untilMs = NaN;
    if (Host.MOVING_CLOCK) this.#reserveAtMs = NaN;
  }

  /** Makes the IDs of an aborted call the block. It has no time limit: those IDs are issued before any others. */
  #restoreBlock({ target, done }: FillCall): void {
    this.#dropBlock();
    this.#copyBlock(target, done);
    this.#blockSize = 1;
    this.#fromMs = -Infinity;
    this.#untilMs = Infinity;
  }

  #mintMany<T extends bigint | string>(count: number, areTexts: boolean): T[] {
    this.#checkCount(count);
    const target = Decoding.FAST ? takeArray(count) : new Ids(count);
    this.#fill(newCall(target, this.#maxWaitMs));
    const list = listOf<T>(target, areTexts);
    if (Decoding.FAST) giveArray(target);
    return list;
  }

  /**
   * Fills the rest of the target: first from the block, then directly from the core. Every error gets the number of IDs, even one from a
   * clock, which may have the count of another call.
   */
  #fill(call: FillCall): void {
    try {
      while (call.done < call.length) {
        const now = this.#clock();
        this.#requirePort(call);
        if (this.#hasIdAt(now)) {
          const at = this.#cursor;
          const count = min(this.#end - at, call.length - call.done);
          this.#cursor += count;
          this.#copyToTarget(call, this.#ids, at, count);
        } else {
          const count = this.#reserve(min(call.length - call.done, Frame.IDS), now, call);
          // Thrown outside, because throwing twice would take a third of the time of the refusal.
          if (count === 0) break;
          this.#dropBlock();
          // The addon has written them into the target.
          if (Host.FILES && this.#port?.binding.arrays) this.#take(call, count);
          else this.#copyToTarget(call, this.#frame, 0, count);
        }
      }
    } catch (error) {
      // An error of a clock may be frozen.
      if (error instanceof FrazilError) Reflect.set(error, "issued", call.done);
      throw error;
    }
    if (call.done < call.length) {
      const refused: { issued?: number } = this.#refusal();
      refused.issued = call.done;
      throw refused;
    }
  }

  /**
   * Copies taken IDs into the target of a call. Counts them first, so that they are not issued twice if the copy fails.
   */
  #copyToTarget(call: FillCall, ids: BigUint64Array, from: number, count: number): void {
    copyIds(ids, from, count, call.target, this.#take(call, count));
  }

  /** Counts IDs as taken by a call. Returns how many it had. */
  #take(call: FillCall, count: number): number {
    const at = call.done;
    if (at === 0) {
      call.takenBefore = this.#takenCount() - count;
      call.node = this.#node;
    }
    call.done += count;
    return at;
  }

  #retry<T>(signal: AbortSignal | undefined, attempt: () => T, renewal: Promise<number> | undefined): Promise<T> {
    const session = this.#session;
    const retryMsNow = (error: unknown, limitMs: number) => {
      let retryMs = error === this.#lastRefusal ? this.#lastRetryMs : Infinity;
      if (session && error === this.#lastRefusal)
        retryMs = session.retryMs?.(error as FrazilError, retryMs, limitMs) ?? retryMs;
      return retryMs;
    };
    const wait = async (ms: number, signal: AbortSignal | undefined, error: unknown) => {
      const waitedMs = await (session?.wait?.(ms, signal, error as FrazilError) ?? sleep(ms, signal));
      this.#waitedMs += waitedMs;
      return waitedMs;
    };
    const limitMs = this.#maxAsyncWaitMs;
    const go = (waitedMs: number) => {
      this.#waitedMs += waitedMs;
      return retry(attempt, signal, limitMs - waitedMs, retryMsNow, wait);
    };
    return renewal?.then(go) ?? go(0);
  }

  async #fillWithRetry(call: FillCall, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await this.#retry(signal, () => this.#fill(call), this.#session?.renewIfDue?.(signal, this.#maxAsyncWaitMs));
  }

  async #mintManyAsync<T extends bigint | string>(
    count: number,
    options: AsyncOptions | undefined,
    areTexts: boolean,
  ): Promise<T[]> {
    const signal = signalOf(options);
    this.#checkCount(count, this.#maxAsyncWaitMs);
    const call = newCall(new Ids(count), 0);
    try {
      await this.#fillWithRetry(call, signal);
    } catch (error) {
      if (signal?.aborted) this.#giveBack(call);
      throw error;
    }
    return listOf(call.target, areTexts);
  }

  /**
   * Restores the IDs of an aborted call only if no other call took an ID since its first one. Otherwise the order would break. It drops IDs
   * if the lease no longer has their node id, or if no block may be kept.
   */
  #giveBack(call: FillCall): void {
    const { target, done } = call;
    const alone = this.#takenCount() - call.takenBefore === done && call.node === this.#node;
    this.#returned += done;
    // If copying failed (a stack overflow), the last element is 0.
    if (target[done - 1] && alone && this.#maxBlock && !this.#closed) this.#restoreBlock(call);
    else this.#dropped += done;
  }

  /** Throws for a count that is invalid, or that exceeds the full lead and the full wait. */
  #checkCount(count: number, waitMs = Host.BLOCKS && canBlock() ? this.#maxWaitMs : 0, hint?: string): void {
    const port = this.#requirePort();
    const status = port.binding.calls.admit(port.binding.frame, this.#handle, numberOrNaN(count), waitMs);
    if (status !== 0) throw numberRefusal(port.error(status, count), hint);
  }

  #checkTarget(target: BigUint64Array, waitMs?: number): void {
    if (!isIdArray(target, "BigUint64Array"))
      throw describedError("INVALID_ARGUMENT", "target", target, PackageRule.TARGET_ARRAY);
    const hint = Host.FILES ? TOO_LONG : undefined;
    this.#checkCount(lengthOf(target), waitMs, hint);
  }

  /** The state after `close()`. A subclass of `Layout` has no part in it. */
  #closedHealth(): Health {
    return closedHealth(this.#closedError(), planOf.call(this.layout), this.layout.tickMs);
  }

  #closedError(): FrazilError {
    return new ConfigError("CLOSED", `close() was called on this generator${this.#session?.closed ?? ""}`);
  }

  /**
   * The port. Call it again after user code has run: that may have closed this generator, or transferred the target.
   */
  #requirePort(call?: MintCall): Port {
    if (this.#closed) throw this.#closedError();
    if (this.#port === undefined) throw this.#unavailable;
    const target = call?.target;
    if (target !== undefined && lengthOf(target) < (call as MintCall).length)
      throw configError("INVALID_ARGUMENT", "target", target, PackageRule.TARGET_LOST);
    return this.#port;
  }

  /**
   * Reserves IDs and returns how many: at least one. They are in `#frame`, or, if the call has a target and the addon fills arrays, in
   * the target. If the core refuses and the host can block, it waits as long as the call still may. Otherwise it returns 0, and `#refusal`
   * makes the error: V8 leaves a function interpreted if its calls throw, and an error made here would walk over its frame.
   */
  #reserve(want: number, nowMs: number, call: MintCall): number {
    let now = nowMs;
    let confirmed = false;
    /** The wait of this call since the clock moved. */
    let stoodMs = 0;
    for (;;) {
      this.#session?.read(now);
      const port = this.#requirePort(call);
      const { calls, frame } = port.binding;
      this.#numbers = port.numbers;
      this.#frame = port.ids;
      this.#session?.write?.(this.#numbers);
      // A replaced `Date.now` may return any value.
      const status =
        call.answered ??
        (Host.FILES && port.binding.arrays && call.target
          ? fillArray(port, port.binding.arrays, this.#handle, numberOrNaN(now), confirmed, call as FillCall, want)
          : calls.reserve(frame, this.#handle, numberOrNaN(now), want, confirmed));
      call.answered = undefined;
      if (status === 0) {
        // From here until the IDs are counted as taken, no user code may run.
        const count = this.#numbers[Slot.COUNT] as number;
        this.#reservations++;
        this.#reserved += count;
        return count;
      }
      if (status === Frame.KEYLESS) {
        writeNewKey(port);
        continue;
      }
      if (status === Frame.RECHECK) {
        this.#rechecks++;
        confirmed = true;
      } else {
        // The core also refuses for a lease. Then the session waits, and the core knows no time.
        const isOfClock = status >= First.ClockError && status < First.LeaseError;
        const retryMs = (isOfClock && this.#numbers[Slot.RETRY_AFTER_MS]) || Infinity;
        this.#lastRetryMs = retryMs;
        if (retryMs < Infinity) this.#stalls++;
        if (Host.BLOCKS && retryMs <= call.remainingMs && canBlock()) {
          call.remainingMs -= retryMs;
          this.#waitedMs += retryMs;
          block(retryMs);
          confirmed = false;
          const shownMs = now;
          now = this.#clock();
          // No comparison of objects, which could run user code.
          stoodMs = now === shownMs ? stoodMs + retryMs : 0;
          continue;
        }
        if (Host.MOVING_CLOCK) this.#reserveAtMs = now;
        this.#lastStatus = status;
        this.#lastRefusedAtMs = now;
        if (Host.BLOCKS) this.#lastStoodMs = stoodMs;
        return 0;
      }
      const confirmedMs = this.#clock();
      if (Host.BLOCKS && confirmedMs !== now) stoodMs = 0;
      now = confirmedMs;
    }
  }

  /** The error for the last refusal by the core. No user code may have run since. */
  #refusal(): FrazilError {
    const status = this.#lastStatus;
    const retryMs = this.#lastRetryMs;
    const answers = this.#session?.answers;
    let error =
      retryMs < LONG_WAIT_MS && !(Host.BLOCKS && this.#lastStoodMs) && !(this.#clock === wallClock && isFaked())
        ? // The frequent refusal, with only a retry time from the core: it has no rule and no text.
          retryError(CODES[status] as ErrorCode, (answers?.[3] ?? MEANINGS)[status], retryMs)
        : (this.#port as Port).error(
            status,
            this.#lastRefusedAtMs,
            undefined,
            answers,
            this.layout,
            this.#isForgotten(),
            Host.BLOCKS ? this.#lastStoodMs : 0,
          );
    if (Host.FILES && this.#isLocal && error.code === "CLOCK_BACKWARD" && retryMs >= LONG_WAIT_MS) {
      const port = this.#port as Port;
      // Not earlier: this call overwrites the refusal in the frame.
      const aheadMs = port.binding.files?.file(port, this.#handle).distrustedMs ?? 0;
      if (aheadMs > 0) error = retryError(error.code, distrustText(this.#lastRefusedAtMs as number, aheadMs), retryMs);
    }
    this.#lastRefusal = error;
    this.#session?.refused?.(error);
    return error;
  }
}

/** Outside the class: bundlers rename a class that refers to itself, and stack traces would show that name. */
const openLocal = <L extends LayoutInput>(options: unknown, kind: symbol): Snowflake<L> =>
  Reflect.construct(Snowflake, [options, kind]) as Snowflake<L>;
