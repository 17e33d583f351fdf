/**
 * Calls on typed arrays by intrinsics that are captured at load. A method that a subclass overrides or a program
 * replaces is user code. If user code runs after IDs are taken and before they are counted, it can mint the same IDs.
 */

/** BigUint64Array, also if a program replaces the global later. @internal */
export const Ids = BigUint64Array;
const apply = /* @__PURE__ */ (() => Reflect.apply)();
/** The prototype that all typed arrays inherit from. */
const shared = /* @__PURE__ */ (() => Object.getPrototypeOf(Uint8Array.prototype))();
const copyInto = /* @__PURE__ */ (() => shared.set)();
const getter = (name: PropertyKey): (() => unknown) => Object.getOwnPropertyDescriptor(shared, name)?.get as never;
const lengthGetter = /* @__PURE__ */ getter("length");
const bufferGetter = /* @__PURE__ */ getter("buffer");
const offsetGetter = /* @__PURE__ */ getter("byteOffset");
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

/** Copies `count` IDs from position `from` of one array to position `at` of another. @internal */
export function copyIds(ids: BigUint64Array, from: number, count: number, target: BigUint64Array, at: number): void {
  // No destructuring or spread of arrays, which would call an iterator that a program can replace.
  apply(copyInto, target, [new Ids(bufferOf(ids), offsetOf(ids) + 8 * from, count), at]);
}

/** Array, also if a program replaces the global later. */
const List = Array;

/**
 * A list of the IDs, or of their decimal texts. Of its full length from the start, which takes a third of the time of one that grows.
 *
 * @internal
 */
export function listOf<T extends bigint | string>(ids: BigUint64Array, areTexts: boolean): T[] {
  const length = lengthOf(ids);
  const list = new List<bigint | string>(length);
  // Two loops: one that asks at each ID takes a tenth more.
  if (areTexts) for (let at = 0; at < length; at++) list[at] = `${ids[at]}`;
  else for (let at = 0; at < length; at++) list[at] = ids[at] as bigint;
  return list as T[];
}
