/** A store of segments in memory. */
import { checkAllocate, newTagOf } from "../stores/kit/segment/requests.js";
import { decideAllocate } from "../stores/kit/segment/rules.js";
import { tagMissing } from "../stores/kit/segment/tag-table.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../stores/segment-store.js";
import { refuseProduction } from "./production.js";

/** The state of a tag. */
export interface SavedTag {
  /** Numbers below are allocated. */
  readonly next: bigint;
  /** The server that wrote the record. */
  readonly incarnation: string;
  /** The last allocation of each process, so that a retry gets the same range. */
  readonly recent: readonly {
    readonly holder: string;
    readonly attempt: string;
    readonly first: bigint;
    readonly count: number;
  }[];
}

/** Everything that a `MemorySegmentStore` keeps, by tag. */
export type SavedSegments = ReadonlyMap<string, SavedTag>;

/**
 * A store of segments for tests, in the memory of this process. It keeps the contract of every store, by the rules of the database stores.
 *
 * ```js
 * import assert from "node:assert/strict";
 * import { Segment } from "frazil/segment";
 * import { MemorySegmentStore } from "frazil/testing";
 *
 * const store = new MemorySegmentStore();
 * await store.initSegment({ tag: "orders" });
 * const orders = new Segment(store, { tag: "orders" });
 * assert.equal(await orders.next(), 1n);
 * ```
 *
 * - **One step**: an allocation has taken place when its call returns. Its promise has the answer.
 * - **One process**: no other process sees what is allocated here, so it is refused in production.
 */
export class MemorySegmentStore implements ManagedSegmentStore {
  readonly name = "memory";
  #records: SavedSegments = new Map();
  /** The number of servers so far. */
  #server = 1;

  /** @throws {ConfigError} `INVALID_OPTION` if `NODE_ENV` is `"production"`. */
  constructor() {
    refuseProduction("new MemorySegmentStore()");
  }

  async initSegment(options: TagOptions): Promise<boolean> {
    const { tag, first } = newTagOf(options);
    if (this.#records.has(tag)) return false;
    this.#write(tag, { next: first, incarnation: this.#incarnation, recent: [] });
    return true;
  }

  async allocate(request: AllocateRequest): Promise<Allocation> {
    checkAllocate(request);
    const { tag, above, signal } = request;
    signal?.throwIfAborted();
    const seen = this.#records.get(tag);
    if (seen === undefined) throw tagMissing(this, tag, "the memory of this process", above);
    const { allocation, record } = decideAllocate(seen, request, this.#incarnation);
    this.#write(tag, record);
    return allocation;
  }

  /** Its whole state now, for `restore()`. */
  save(): SavedSegments {
    return this.#records;
  }

  /** Goes back to a saved state, like a server that lost its last writes. If it is another server, also call `failOver()`. */
  restore(saved: SavedSegments): void {
    this.#records = saved;
  }

  /** Another server takes over. The next range of each tag skips the numbers that the last server may have allocated. */
  failOver(): void {
    this.#server++;
  }

  get #incarnation(): string {
    return `server ${this.#server}`;
  }

  #write(tag: string, record: SavedTag): void {
    this.#records = new Map(this.#records).set(tag, record);
  }
}
