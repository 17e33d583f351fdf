/**
 * Which node ids each object grants. Objects know nothing of each other, so no two of one scope may have a node id in common: the
 * node field is split in 16 equal parts, one for the object of each location hint, and those that are left for the object without a
 * hint. So hints can be turned on and off, and programs with and without them be mixed.
 */

import { configError, LeaseError, refusal } from "../../base/errors.js";
import { allNodes, leasedNodes, type NodeRange } from "../../layout/default-nodes.js";
import { MAX_NODE } from "../kit/limits.js";

/** Location hints, in the order of their parts. Never change it: two objects would grant the same node ids. */
export const LOCATION_HINTS = ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"] as const;

/** Where an object is made: Cloudflare's location hints. */
export type LocationHint = (typeof LOCATION_HINTS)[number];

/** @internal */
export const NODES_RULE = "must be { from, to }, two node ids in their order";

/** @internal */
export function isNodeRange(given: unknown): given is NodeRange {
  const { from, to } = (given ?? {}) as { from?: unknown; to?: unknown };
  const isNode = (value: unknown): value is number =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_NODE;
  return isNode(from) && isNode(to) && from <= to;
}

const PARTS = 16;

/** The location hint in an option. @throws {ConfigError} `INVALID_OPTION` @internal */
export function locationHintIn(value: unknown): LocationHint | undefined {
  if (value === undefined || LOCATION_HINTS.includes(value as LocationHint)) return value as LocationHint | undefined;
  throw configError("INVALID_OPTION", "locationHint", value, `must be one of ${LOCATION_HINTS.join(", ")}`);
}

/**
 * The node ids that an object may have, of the layout's `count`.
 *
 * @throws {LeaseError} `STORE_REFUSED` for a hint and a layout that is too small.
 * @internal
 */
export function nodesOf(hint: LocationHint | undefined, count: number): NodeRange {
  if (count < PARTS) {
    if (hint === undefined) return allNodes(count);
    throw refusal(
      LeaseError,
      "STORE_REFUSED",
      "locationHint",
      hint,
      `must be absent for a layout with ${count} node ids\nEach hint has a sixteenth of them.`,
    );
  }
  const part = count / PARTS;
  if (hint === undefined) return { ...allNodes(count), from: LOCATION_HINTS.length * part };
  const from = LOCATION_HINTS.indexOf(hint) * part;
  return { from, to: from + part - 1 };
}

/**
 * Those that a new object begins with, of those that it may have: without the last one of the layout, which a state file uses. Objects of
 * versions that gave it to leases have it, and go on.
 *
 * @internal
 */
export const newNodesOf = ({ from, to }: NodeRange, count: number): NodeRange => ({
  from,
  to: Math.min(to, leasedNodes(count).to),
});

/** What a request to a Worker has in `request.cf`, as far as it tells where the Worker runs. */
export interface RequestPlace {
  readonly continent?: unknown;
  readonly country?: unknown;
  readonly longitude?: unknown;
}

/** The countries of Asia and Africa whose nearest hint is `me`. */
const MIDDLE_EAST = "AE BH EG IL IQ IR JO KW LB OM PS QA SA SY TR YE";
/** The hint of each continent, if nothing else is known. */
const CONTINENTS: { readonly [continent: string]: LocationHint } = {
  AF: "afr",
  AS: "apac",
  EU: "weur",
  NA: "enam",
  OC: "oc",
  SA: "sam",
};
/** West of it is the western half of North America, and east of the second one the eastern half of Europe. */
const MID_AMERICA = -100;
const MID_EUROPE = 17;

/**
 * The location hint that is nearest to where a request comes from, by `request.cf`: `continent`, and within it `country` and
 * `longitude`. Undefined if the continent is unknown, and for Antarctica.
 */
export function locationHintOf(cf: RequestPlace | null | undefined): LocationHint | undefined {
  const { continent, country, longitude } = cf ?? {};
  if (typeof country === "string" && MIDDLE_EAST.split(" ").includes(country)) return "me";
  const hint = typeof continent === "string" ? CONTINENTS[continent] : undefined;
  const east = typeof longitude === "string" && longitude !== "" ? Number(longitude) : Number.NaN;
  if (hint === "enam" && east < MID_AMERICA) return "wnam";
  if (hint === "weur" && east > MID_EUROPE) return "eeur";
  return hint;
}
