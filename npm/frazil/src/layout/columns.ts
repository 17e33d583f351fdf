/** The fields of many IDs, read into one typed array for each field. */
import { Decoding, firstWith, readColumns } from "#decoding";
import { bufferOf, isIdArray, lengthOf, offsetOf, overlap } from "../base/arrays.js";
import { checkKeys } from "../base/option-keys.js";
import { PackageRule } from "../base/package-rules.js";
import { describedError } from "../base/value-text.js";
import { type Span, spanOf } from "./bits.js";
import { parseId } from "./id.js";
import { msOf, type Shape } from "./shape.js";

/** The numbers in an ID. @internal */
export const NUMBERS = "timestampMs, node, clock, sequence";

/** The fields of many IDs, one array for each field. */
export interface Columns {
  readonly timestampMs: Float64Array;
  readonly node: Uint32Array | undefined;
  readonly clock: Uint32Array | undefined;
  readonly sequence: Float64Array;
}

/** `Layout.decodeMany`. @internal */
export function columnsOf(shape: Shape, ids: BigUint64Array | BigInt64Array, into: Columns | undefined): Columns {
  const { bits, time, node, clock, sequence } = shape;
  if (!isIdArray(ids, "BigUint64Array") && !(bits < 64 && isIdArray(ids, "BigInt64Array"))) {
    throw describedError("INVALID_ARGUMENT", "ids", ids, PackageRule.ID_COLUMN);
  }
  // Read first and only once: a getter is user code, and may transfer the IDs.
  const given = into === undefined ? into : checkKeys("INVALID_ARGUMENT", "into", into, NUMBERS);
  const length = lengthOf(ids);
  let used: ArrayBufferView[] = [ids];
  const check = (name: keyof Columns, kind: "Float64Array" | "Uint32Array", span: unknown) => {
    const column = given?.[name] as ArrayBufferView;
    const fits = span
      ? isIdArray(column, kind) && lengthOf(column) === length && !used.some((other) => overlap(other, column))
      : column === undefined;
    if (!fits) throw describedError("INVALID_ARGUMENT", `into.${name}`, column, PackageRule.COLUMNS, length);
    if (span) used = [...used, column];
  };
  if (given) {
    check("timestampMs", "Float64Array", time);
    check("sequence", "Float64Array", sequence);
    check("node", "Uint32Array", node);
    check("clock", "Uint32Array", clock);
  }
  // Transferred IDs have no memory, so there are none.
  const halves = length ? new Uint32Array(bufferOf(ids), offsetOf(ids), 2 * length) : new Uint32Array(0);
  const unused = spanOf(bits, 64 - bits);
  if (Decoding.FAST) {
    const invalid = firstWith(unused, halves);
    if (invalid >= 0) parseId(shape, ids[invalid] as bigint, { index: invalid });
  } else
    for (let at = 0; at < length; at++) if (unused.of(halves, 2 * at)) parseId(shape, ids[at] as bigint, { index: at });
  const columns = given ?? {
    timestampMs: new Float64Array(length),
    node: node && new Uint32Array(length),
    clock: clock && new Uint32Array(length),
    sequence: new Float64Array(length),
  };
  if (Decoding.FAST) readColumns(shape, halves, columns);
  else
    for (let at = 0; at < length; at++) {
      columns.timestampMs[at] = msOf(shape, time.of(halves, 2 * at));
      columns.sequence[at] = sequence.of(halves, 2 * at);
      if (columns.node) columns.node[at] = (node as Span).of(halves, 2 * at);
      if (columns.clock) columns.clock[at] = (clock as Span).of(halves, 2 * at);
    }
  return into ?? columns;
}
