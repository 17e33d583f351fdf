// The checker of IDs, which the simulations of leases share.

/** All IDs of a run: none may repeat, and each must lie in a window that its holder was granted. */
export class IssuedIds {
  /** Every ID, and who minted it. */
  #ids = new Map();
  /** By node id: the largest time of an ID. */
  lastMs = new Map();

  /** `grants` are those of the store, in order. */
  constructor(layout, grants) {
    const shiftOf = (kind) => {
      const at = layout.fields.findIndex((field) => field.kind === kind);
      return layout.fields.slice(at + 1).reduce((sum, { bits }) => sum + BigInt(bits), 0n);
    };
    this.epochMs = layout.epochMs;
    this.timeShift = shiftOf("time");
    this.nodeShift = shiftOf("node");
    this.nodeMask = (1n << (this.timeShift - this.nodeShift)) - 1n;
    this.grants = grants;
  }

  get size() {
    return this.#ids.size;
  }

  /** Decoded by hand, since there are millions. */
  decode(id) {
    const node = Number((id >> this.nodeShift) & this.nodeMask);
    return { node, timestampMs: this.epochMs + Number(id >> this.timeShift) };
  }

  /** Checks IDs of a holder that asked for these grants. Returns what is wrong, if anything. */
  check(holder, own, ids) {
    let checked = {};
    for (const id of ids) {
      const other = this.#ids.get(id);
      if (other !== undefined) return `${holder} repeats ${id} of ${other}`;
      this.#ids.set(id, holder);
      const { node, timestampMs } = this.decode(id);
      if (timestampMs === checked.timestampMs && node === checked.node) continue;
      checked = { timestampMs, node };
      const isOwn = ({ grant, node: granted, fromMs, untilMs }) =>
        granted === node && timestampMs >= fromMs && timestampMs < untilMs && own.has(grant);
      // The last one: a holder may have had the node id twice, with another one between.
      const at = this.grants.findLastIndex(isOwn);
      if (at < 0) return `${holder}: ${timestampMs} of node ${node} is in no window that it was granted`;
      const isOthers = (other, row) =>
        row > at && other.node === node && other.fromMs <= timestampMs && !own.has(other.grant);
      if (this.grants.some(isOthers)) return `${holder}: ${timestampMs} of node ${node} is in the window of another`;
      this.lastMs.set(node, Math.max(timestampMs, this.lastMs.get(node) ?? 0));
    }
    return undefined;
  }
}
