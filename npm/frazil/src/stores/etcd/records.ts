/** What etcd keeps: the keys, and records and rows as JSON. */

import { saidOf } from "../../base/errors.js";
import { wholeOf } from "../kit/answer-rows.js";
import { storeRefused } from "../kit/errors.js";
import { DRAWN_FROM, type ScopeView } from "../kit/lease/compare-and-set.js";
import type { LeaseRow } from "../kit/lease/rules.js";
import { type StoredScope, storedFields, TEXT_FIELDS, WHOLE_FIELDS } from "../kit/lease/scope-record.js";
import type { EtcdHeader } from "./gateway.js";

/** A record as it was read. */
export interface EtcdScope extends StoredScope {
  /** The revision of the last write, which the next one compares. */
  readonly version: string;
  /** The epoch in the incarnation of the record. */
  readonly epoch: number;
  /** The cluster that gave the answer, its revision and its Raft term then. */
  readonly cluster: string;
  readonly revision: bigint;
  readonly term: number;
}

/** A row as it was read. */
export interface EtcdRow extends LeaseRow {
  readonly version: string;
  /** The time at which it was written, and the epoch and the Raft term of the record then. */
  readonly writtenMs: number;
  readonly epoch: number;
  readonly term: number;
}

/** A key and its value, in base64, as the gateway has them. Zeros and empty fields are left out. */
export interface KeyValue {
  readonly key: string;
  readonly mod_revision: string;
  readonly value?: string;
}

/** How many rows with the oldest ends are read: one of them may be the preferred one. */
export const OLDEST = DRAWN_FROM + 1;

/** The end of a range of keys that begin with a text that ends with `/`. In ASCII, `0` follows. */
export const endOf = (keys: string): string => `${keys.slice(0, -1)}0`;

const encoder = new TextEncoder();

const decoder = new TextDecoder();

const base64 = (text: string): string => btoa(String.fromCharCode(...encoder.encode(text)));

export const textOf = (value = ""): string =>
  decoder.decode(Uint8Array.from(atob(value), (letter) => letter.charCodeAt(0)));

/** The keys of a scope. */
export class Keys {
  readonly scope: string;
  readonly leases: string;
  readonly #grants: string;
  constructor(prefix: string, scope: string) {
    this.scope = `${prefix}${scope}/scope`;
    this.leases = `${prefix}${scope}/leases/`;
    this.#grants = `${prefix}${scope}/grants/`;
  }
  lease(node: number): string {
    return `${this.leases}${String(node).padStart(10, "0")}`;
  }
  grant(grant: string): string {
    return `${this.#grants}${grant}`;
  }
}

/** Reads of a transaction. */
export const get = (key: string) => ({ request_range: { key: base64(key) } });

export const oldest = (leases: string, limit: number) => ({
  request_range: {
    key: base64(leases),
    range_end: base64(endOf(leases)),
    sort_target: "VALUE",
    sort_order: "ASCEND",
    limit: String(limit),
  },
});

/** Writes of a transaction. */
export const put = (key: string, value: object) => ({
  request_put: { key: base64(key), value: base64(JSON.stringify(value)) },
});

export const remove = (key: string) => ({ request_delete_range: { key: base64(key) } });

/** Conditions of a transaction: a key is as it was read, and a key or all keys of a range do not exist. */
export const isAt = (key: string, version: string) => ({
  key: base64(key),
  target: "MOD",
  result: "EQUAL",
  mod_revision: version,
});

export const isMissing = (key: string, end?: string) => ({
  key: base64(key),
  ...(end !== undefined && { range_end: base64(end) }),
  target: "CREATE",
  result: "EQUAL",
  create_revision: "0",
});

/** The value of a record: its fields, and the Raft term in which it was written. */
export const recordValue = (record: StoredScope, term: number) => ({ ...storedFields(record), term });

/**
 * The value of a row. The end comes first, with as many digits as the last time of a `Date` has: etcd sorts by it. The time of
 * the write makes the next one later, also by another process: a renewal then moves the end, which shows a clone.
 */
export const rowValue = (
  { fromMs, untilMs, grant, nonce, owner }: LeaseRow,
  { scope: { epoch, term }, moment: { nowMs: writtenMs } }: ScopeView<EtcdScope>,
) => ({
  untilMs: String(untilMs).padStart(16, "0"),
  fromMs,
  grant,
  nonce,
  owner,
  writtenMs,
  epoch,
  term,
});

/** The JSON of a value. */
export function jsonOf({ key, value }: KeyValue): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(textOf(value));
    if (typeof json === "object" && json !== null) return json as Record<string, unknown>;
  } catch {
    // refused below
  }
  throw storeRefused(`the key ${textOf(key)} has a value that is not of this store\nKeys must not be edited.`);
}

/** A text or null in a value. */
function labelOf(key: string, field: string, value: unknown): string | null {
  if (value !== null && typeof value !== "string")
    throw storeRefused(saidOf(`${field} in the key ${key}`, "must be a string or null", JSON.stringify(value)));
  return value;
}

const isPair = (pair: unknown): pair is KeyValue => {
  try {
    const { key, mod_revision: version } = pair as KeyValue;
    return textOf(key) !== "" && typeof version === "string" && /^\d+$/.test(version);
  } catch {
    return false;
  }
};

/** What the reads of a transaction found. */
export function foundOf(responses: unknown): readonly (readonly KeyValue[])[] {
  const lists = Array.isArray(responses)
    ? responses.map((response: { response_range?: { kvs?: unknown } } | null) => response?.response_range?.kvs ?? [])
    : [responses];
  if (!lists.every((list) => Array.isArray(list) && list.every(isPair)))
    throw storeRefused("the answer has responses that are not of etcd's gateway");
  return lists as KeyValue[][];
}

/** The parts of an incarnation. */
export function partsOf(incarnation: string): { readonly cluster: string; readonly epoch: number } {
  const [cluster = "", epoch = "0"] = incarnation.split("/");
  return { cluster, epoch: wholeOf("the epoch in incarnation", epoch) };
}

export function scopeOf(pair: KeyValue, header: Result["header"]): EtcdScope & { readonly writtenTerm: number } {
  const value = jsonOf(pair);
  const whole = (field: string) => wholeOf(`${field} of ${textOf(pair.key)}`, value[field]);
  if (TEXT_FIELDS.some((field) => typeof value[field] !== "string"))
    throw storeRefused(`the key ${textOf(pair.key)} has no layout or no incarnation\nKeys must not be edited.`);
  const numbers = Object.fromEntries(WHOLE_FIELDS.map((field) => [field, whole(field)]));
  const fields = storedFields({ ...value, ...numbers } as unknown as StoredScope);
  return {
    ...fields,
    version: pair.mod_revision,
    epoch: partsOf(fields.incarnation).epoch,
    ...header,
    writtenTerm: whole("term"),
  };
}

export function rowOf(pair: KeyValue): EtcdRow {
  const value = jsonOf(pair);
  const key = textOf(pair.key);
  const whole = (field: string) => wholeOf(`${field} of ${key}`, value[field]);
  const label = (field: string) => labelOf(key, field, value[field]);
  return {
    node: wholeOf(`the node id in ${key}`, key.slice(key.lastIndexOf("/") + 1)),
    fromMs: whole("fromMs"),
    untilMs: whole("untilMs"),
    grant: label("grant"),
    nonce: label("nonce"),
    owner: label("owner"),
    writtenMs: whole("writtenMs"),
    epoch: whole("epoch"),
    term: whole("term"),
    version: pair.mod_revision,
  };
}

/** An answer of a transaction. */
export interface Result {
  readonly succeeded: boolean;
  /** What each read found. */
  readonly found: readonly (readonly KeyValue[])[];
  readonly header: { readonly cluster: string; readonly revision: bigint; readonly term: number };
  now(...pastMs: number[]): number;
}

export function headerOf(header: EtcdHeader | undefined): Result["header"] {
  const { cluster_id: cluster, revision, raft_term: term } = header ?? {};
  for (const [field, value] of Object.entries({ cluster_id: cluster, revision, raft_term: term }))
    if (typeof value !== "string" || !/^\d+$/.test(value))
      throw storeRefused(saidOf(`${field} in the header of the answer`, "must be digits", JSON.stringify(value)));
  return {
    // As etcdctl shows it.
    cluster: BigInt(cluster as string).toString(16),
    revision: BigInt(revision as string),
    term: wholeOf("raft_term", term),
  };
}
