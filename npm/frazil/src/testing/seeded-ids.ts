/** A generator whose IDs are the same in each run. */
import { Layout, type LayoutInput, type NodeOption, Snowflake, type SnowflakeOptions } from "frazil";
import { whole } from "../base/errors.js";
import { checkOptions } from "../generator/options.js";
import { START_MS } from "./manual-clock.js";
import { refuseProduction } from "./production.js";

/** The options of `seededIds()`. Each has a default. */
export interface SeededIdsOptions<L extends LayoutInput = LayoutInput> {
  /**
   * Selects the IDs, which are the same in each run. Each seed starts a day after the one before (in whole ticks, so a week with ticks of a
   * week). Within a day of their time, two seeds share no ID: 86,400 calls with the default step. Default: 0.
   */
  readonly seed?: number;
  /** The meaning of the bits. Default: `"default"`. */
  readonly layout?: L;
  /** Another epoch for the layout, in Unix milliseconds or as a `Date`. */
  readonly epochMs?: number | Date;
  /** The node id. Default: 1, or `"none"` for a layout without a node field. */
  readonly node?: NodeOption<L>;
  /** How far the time moves with each reading by the generator, in milliseconds. With 0 it stands still. Default: 1000. */
  readonly stepMs?: number;
}

const DAY_MS = 86_400_000;

/** The start of a seed's time: always within the time field of the layout, and the start of a tick. */
function startMsOf(layout: Layout, seed: unknown): number {
  const { epochMs, tickMs } = layout;
  const lastMs = layout.plan().lastDate.getTime();
  const startMs = epochMs <= START_MS && START_MS <= lastMs ? START_MS : epochMs;
  const firstMs = startMs - ((startMs - epochMs) % tickMs);
  // A day, in whole ticks: a week if a tick is a week.
  const apartMs = Math.ceil(DAY_MS / tickMs) * tickMs;
  return firstMs + apartMs * whole("INVALID_OPTION", "seed", seed, 0, Math.floor((lastMs - firstMs) / apartMs));
}

/**
 * A generator for tests: the same IDs in each run, in each runtime. They increase, the layout decodes them like any other ID, and their
 * times are round. The first one has the time 2025-01-01T00:00:00.000Z, or the epoch if the layout does not have that time. Each further
 * call is a second later. The IDs of one call have one time, and the sequence counts them from 0.
 *
 * ```js
 * const ids = seededIds();
 * ids.decode(ids.next()); // 2025-01-01T00:00:00.000Z, node 1, sequence 0
 * ids.decode(ids.next()); // 2025-01-01T00:00:01.000Z, node 1, sequence 0
 * ```
 *
 * It is a `Snowflake` with its own clock, so it can be passed where one is expected, and faked `Date`s or timers do not affect it. It never
 * waits.
 *
 * @throws {ConfigError} `INVALID_OPTION` if `NODE_ENV` is `"production"`, for an unknown option, and for a seed whose time the layout does
 * not have; the errors of `new Snowflake()`.
 */
export function seededIds<const L extends LayoutInput = "default">(options: SeededIdsOptions<L> = {}): Snowflake<L> {
  refuseProduction("seededIds()");
  const given = checkOptions(options, "seed, layout, epochMs, node, stepMs");
  const { seed = 0, layout: of = "default", epochMs, node, stepMs: step = 1000 } = given;
  const named = Layout.from(of);
  const layout = epochMs === undefined ? named : named.with({ epochMs: epochMs as number | Date });
  const stepMs = whole("INVALID_OPTION", "stepMs", step, 0, Number.MAX_SAFE_INTEGER);
  let nextMs = startMsOf(layout, seed);
  const now = () => {
    const nowMs = nextMs;
    nextMs += stepMs;
    return nowMs;
  };
  const hasNode = layout.fields.some(({ kind }) => kind === "node");
  const made = {
    layout,
    node: node === undefined ? (hasNode ? 1 : "none") : node,
    now,
    // If the time stands still, as many IDs as possible, and then the error at once: a wait would not move the time.
    maxLeadMs: 1000,
    maxWaitMs: 0,
    maxAsyncWaitMs: 0,
  };
  return new Snowflake<L>(made as unknown as SnowflakeOptions<L>);
}
