/**
 * The arguments of a store's operations, checked before the store is asked: a value that a statement would silently round, cut off or store
 * is refused here, with its name and the rule.
 */

import { Layout } from "frazil";
import { wallClock } from "../../../base/clock.js";
import { configError, isWhole, whole } from "../../../base/errors.js";
import { checkKeys } from "../../../base/option-keys.js";
import { PackageRule } from "../../../base/package-rules.js";
import { minWindowMs } from "../../../generated/lease.js";
import { Rule } from "../../../generated/rules.js";
import { leasedNodes } from "../../../layout/default-nodes.js";
import type {
  AcquireRequest,
  EnsureRequest,
  InitOptions,
  ReleaseRequest,
  RenewRequest,
  WindowRequest,
} from "../../lease-store.js";
import { isScope, MAX_NODE, MAX_OWNER_LENGTH } from "../limits.js";
import { layoutText } from "./layout-text.js";

/** The longest window that a scope may allow: a day. A fence lasts as long, and no one can acquire meanwhile. */
const LONGEST_WINDOW_MS = 24 * 60 * 60 * 1000;
/** The latest time of a `Date`: every later one is a mistake of units. */
const MAX_DATE_MS = 8.64e15;

const HEX_RULE = "must be 32 hexadecimal digits in lower case (128 random bits)";
const LAYOUT_RULE = "must be the text of a layout, as layoutText writes it";
/** Longer than any layout: an epoch, a tick, and 64 fields of a bit each. */
const MAX_LAYOUT_LENGTH = 1000;
const OVER_RULE =
  "Pass the layout of your IDs with its own epoch, such as Layout.named(name).with({ epochMs }), or one with more bits of time, whose IDs go to another column.";
const OWNER_RULE = `must be a string of at most ${MAX_OWNER_LENGTH} characters, without U+0000`;

/** The node ids of a scope, and what else its record begins with. */
export interface ScopeRecord {
  readonly scope: string;
  /** As `layoutText` writes it. */
  readonly layout: string;
  readonly nodeFrom: number;
  readonly nodeTo: number;
  readonly windowMaxMs: number;
}

/** 128 random bits as text, checked. */
export function hex(field: string, value: unknown): string {
  if (typeof value !== "string" || !/^[0-9a-f]{32}$/.test(value))
    throw configError("INVALID_ARGUMENT", field, value, HEX_RULE);
  return value;
}

/** The name of a scope, checked. */
export function scopeOf(value: unknown): string {
  if (!isScope(value)) throw configError("INVALID_ARGUMENT", "scope", value, Rule.NAME_SYNTAX);
  return value;
}

/** @throws {ConfigError} `INVALID_ARGUMENT` */
export function checkRequest(request: unknown): void {
  if (typeof request !== "object" || request === null)
    throw configError("INVALID_ARGUMENT", "request", request, PackageRule.AN_OBJECT);
}

function checkWindow(request: WindowRequest): void {
  checkRequest(request);
  scopeOf(request.scope);
  hex("grant", request.grant);
  hex("nonce", request.nonce);
  whole("INVALID_ARGUMENT", "windowMs", request.windowMs, 1, MAX_DATE_MS);
  checkLayoutText(request.layout);
}

function checkLayoutText(layout: unknown): void {
  if (typeof layout !== "string" || layout === "" || layout.length > MAX_LAYOUT_LENGTH || layout.includes("\0"))
    throw configError("INVALID_ARGUMENT", "layout", layout, LAYOUT_RULE);
}

/** What `init` sends to an object. */
export function checkRecord(record: ScopeRecord): void {
  checkRequest(record);
  const { scope, layout, nodeFrom, nodeTo, windowMaxMs } = record;
  scopeOf(scope);
  checkLayoutText(layout);
  whole("INVALID_ARGUMENT", "nodeFrom", nodeFrom, 0, MAX_NODE);
  whole("INVALID_ARGUMENT", "nodeTo", nodeTo, nodeFrom, MAX_NODE);
  whole("INVALID_ARGUMENT", "windowMaxMs", windowMaxMs, 1, LONGEST_WINDOW_MS);
}

export function checkAcquire(request: AcquireRequest): void {
  checkWindow(request);
  const { node, owner } = request;
  if (node !== undefined) whole("INVALID_ARGUMENT", "node", node, 0, MAX_NODE);
  // Postgres stores no U+0000.
  if (typeof owner !== "string" || owner.length > MAX_OWNER_LENGTH || owner.includes("\0"))
    throw configError("INVALID_ARGUMENT", "owner", owner, OWNER_RULE);
}

export function checkRenew(request: RenewRequest): void {
  checkWindow(request);
  whole("INVALID_ARGUMENT", "node", request.node, 0, MAX_NODE);
  whole("INVALID_ARGUMENT", "untilMs", request.untilMs, 0, MAX_DATE_MS);
}

export function checkRelease(request: ReleaseRequest): void {
  checkRequest(request);
  scopeOf(request.scope);
  hex("grant", request.grant);
  whole("INVALID_ARGUMENT", "node", request.node, 0, MAX_NODE);
  whole("INVALID_ARGUMENT", "untilMs", request.untilMs, 0, MAX_DATE_MS);
  whole("INVALID_ARGUMENT", "heldUntilMs", request.heldUntilMs, 0, MAX_DATE_MS);
}

export function checkEnsure(request: EnsureRequest): void {
  checkRequest(request);
  scopeOf(request.scope);
  if (typeof request.behind !== "boolean")
    throw configError("INVALID_ARGUMENT", "behind", request.behind, PackageRule.TRUE_OR_FALSE);
}

/** The record that `init` writes for its options. `nodesByDefault`: its default node ids, of that many. */
export function recordOf(options: InitOptions, nodesByDefault = leasedNodes): ScopeRecord {
  const known = "scope, layout, nodes, windowMaxMs";
  const {
    scope = "default",
    layout: given,
    nodes,
    windowMaxMs = 60_000,
  } = checkKeys("INVALID_OPTION", "options", options, known);
  const layout = Layout.from(given);
  const { nodes: count, lastDate } = layout.plan();
  const last = count - 1;
  if (lastDate.getTime() < wallClock()) {
    const value = typeof given === "string" ? given : layoutText(layout);
    const rule = `the time of the layout "${value}" ended on ${lastDate.toISOString()}\n${OVER_RULE}`;
    throw configError("INVALID_OPTION", "layout", value, rule);
  }
  const all = nodesByDefault(count);
  const { from = all.from, to = all.to } =
    nodes === undefined ? {} : checkKeys("INVALID_OPTION", "nodes", nodes, "from, to");
  const option = (field: string, value: unknown, min: number, max: number) =>
    whole("INVALID_OPTION", field, value, min, max);
  // No lease has a shorter window.
  const windowMinMs = minWindowMs(layout.tickMs);
  if (!isWhole(windowMaxMs, windowMinMs, LONGEST_WINDOW_MS))
    throw configError("INVALID_OPTION", "windowMaxMs", windowMaxMs, Rule.WINDOW_LENGTH, windowMinMs, LONGEST_WINDOW_MS);
  return {
    scope: scopeOf(scope),
    layout: layoutText(layout),
    nodeFrom: option("nodes.from", from, 0, last),
    nodeTo: option("nodes.to", to, from, last),
    windowMaxMs,
  };
}

/** The scope in the options of `fence`. */
export function fencedScope(options: { readonly scope?: string } = {}): string {
  return scopeOf(checkKeys("INVALID_OPTION", "options", options, "scope").scope ?? "default");
}
