/**
 * Which node ids each object grants. Objects know nothing of each other, so no two of one scope may have a node id in common: the
 * node field is split in 16 equal parts, one for the object of each location hint, and those that are left for the object without a
 * hint, but for the last one, which is that of a state file. So hints can be turned on and off, and programs with and without them be
 * mixed.
 */
/** Location hints, in the order of their parts. Never change it: two objects would grant the same node ids. */
export declare const LOCATION_HINTS: readonly ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"];
/** Where an object is made: Cloudflare's location hints. */
export type LocationHint = (typeof LOCATION_HINTS)[number];
/** What a request to a Worker has in `request.cf`, as far as it tells where the Worker runs. */
export interface RequestPlace {
    readonly continent?: unknown;
    readonly country?: unknown;
    readonly longitude?: unknown;
}
/**
 * The location hint that is nearest to where a request comes from, by `request.cf`: `continent`, and within it `country` and
 * `longitude`. Undefined if the continent is unknown, and for Antarctica.
 */
export declare function locationHintOf(cf: RequestPlace | null | undefined): LocationHint | undefined;
