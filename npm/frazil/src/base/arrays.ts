/**
 * Calls on typed arrays by intrinsics that are captured at load. A method that a subclass overrides or a program
 * replaces is user code. If user code runs after IDs are taken and before they are counted, it can mint the same IDs.
 */

// The constructors, captured at load: a program may replace the globals.
/** @internal */
export const Ids = BigUint64Array;
/** @internal */
export const Doubles = Float64Array;
/** @internal */
export const Halves = Uint32Array;
const apply = /* @__PURE__ */ (() => Reflect.apply)();
/** The prototype that all typed arrays inherit from. */
const shared = /* @__PURE__ */ (() => Object.getPrototypeOf(Uint8Array.prototype))();
const copyInto = /* @__PURE__ */ (() => shared.set)();
const copyWithin = /* @__PURE__ */ (() => shared.copyWithin)();
const getter = (name: PropertyKey): (() => unknown) => Object.getOwnPropertyDescriptor(shared, name)?.get as never;
const lengthGetter = /* @__PURE__ */ getter("length");
const bufferGetter = /* @__PURE__ */ getter("buffer");
const offsetGetter = /* @__PURE__ */ getter("byteOffset");
const bytesGetter = /* @__PURE__ */ getter("byteLength");
const tagGetter = /* @__PURE__ */ (() => getter(Symbol.toStringTag))();

/**
 * Whether a value is a typed array with this name, of any realm. Properties of the value do not affect the answer.
 *
 * @internal
 */
export function isIdArray(
  value: unknown,
  name: "BigUint64Array" | "BigInt64Array" | "Uint8Array" | "Float64Array" | "Uint32Array",
): boolean {
  return apply(tagGetter, value, []) === name;
}

/** The length of an array: 0 if its buffer was transferred. @internal */
export const lengthOf = (array: ArrayBufferView): number => apply(lengthGetter, array, []) as number;

/** The buffer of an array. @internal */
export const bufferOf = (array: ArrayBufferView): ArrayBuffer => apply(bufferGetter, array, []) as ArrayBuffer;

/** The byte offset of an array in its buffer. @internal */
export const offsetOf = (array: ArrayBufferView): number => apply(offsetGetter, array, []) as number;

/** The length of an array in bytes. */
const bytesOf = (array: ArrayBufferView): number => apply(bytesGetter, array, []) as number;

/** Whether two arrays have bytes in common. Sharing with arrays of another realm or thread may be undetectable. @internal */
export const overlap = (one: ArrayBufferView, other: ArrayBufferView): boolean =>
  bufferOf(one) === bufferOf(other) &&
  offsetOf(one) < offsetOf(other) + bytesOf(other) &&
  offsetOf(other) < offsetOf(one) + bytesOf(one);

/** Copies `count` IDs from position `from` of one array to position `at` of another. @internal */
export function copyIds(ids: BigUint64Array, from: number, count: number, target: BigUint64Array, at: number): void {
  // No destructuring or spread of arrays: a program can replace the iterator.
  apply(copyInto, target, [new Ids(bufferOf(ids), offsetOf(ids) + 8 * from, count), at]);
}

/** Repeats the bytes from `from` to `to` until `until`. @internal */
export function repeat(bytes: Uint8Array, from: number, to: number, until: number): void {
  // Each call copies everything so far, so the copies double in length.
  for (let at = to; at < until; at += at - from) {
    apply(copyWithin, bytes, [at, from, Math.min(at, from + until - at)]);
  }
}
