export declare const LOCATION_HINTS: readonly ["wnam", "enam", "sam", "weur", "eeur", "apac", "oc", "afr", "me"];
export type LocationHint = (typeof LOCATION_HINTS)[number];
export interface RequestPlace {
    readonly continent?: unknown;
    readonly country?: unknown;
    readonly longitude?: unknown;
}
export declare function locationHintOf(cf: RequestPlace | null | undefined): LocationHint | undefined;
