/**
 * Typed arrays by the language's own means, as they were when this was loaded. What a subclass overrides or a program
 * replaces is user code, and user code that runs between taking IDs and counting them can mint the same ones.
 */

/** BigUint64Array, whatever stands under that name later. @internal */
export const Ids = BigUint64Array;
const apply = /* @__PURE__ */ (() => Reflect.apply)();
/** What all typed arrays inherit. */
const shared = /* @__PURE__ */ (() => Object.getPrototypeOf(Uint8Array.prototype))();
const copyInto = /* @__PURE__ */ (() => shared.set)();
const getter = (name: PropertyKey): (() => unknown) => Object.getOwnPropertyDescriptor(shared, name)?.get as never;
const lengthGetter = /* @__PURE__ */ getter("length");
const bufferGetter = /* @__PURE__ */ getter("buffer");
const offsetGetter = /* @__PURE__ */ getter("byteOffset");
const tagGetter = /* @__PURE__ */ (() => getter(Symbol.toStringTag))();

/** Whether a value is a typed array of that name, of whichever realm; not to be deceived by a property. @internal */
export function isIdArray(value: unknown, name: "BigUint64Array" | "BigInt64Array" | "Uint8Array"): boolean {
  return apply(tagGetter, value, []) === name;
}

/** How many elements it has: none once its buffer was transferred. @internal */
export const lengthOf = (array: ArrayBufferView): number => apply(lengthGetter, array, []) as number;

/** What its elements lie in. @internal */
export const bufferOf = (array: ArrayBufferView): ArrayBuffer => apply(bufferGetter, array, []) as ArrayBuffer;

/** Where they begin. @internal */
export const offsetOf = (array: ArrayBufferView): number => apply(offsetGetter, array, []) as number;

/** Copies IDs from one place to another. @internal */
export function copyIds(ids: BigUint64Array, from: number, count: number, target: BigUint64Array, at: number): void {
  // No part of this is taken apart by an iterator, which could be the user's too.
  apply(copyInto, target, [new Ids(bufferOf(ids), offsetOf(ids) + 8 * from, count), at]);
}

/** The IDs one by one, as they are or as something else. @internal */
export function listOf<T>(ids: BigUint64Array, as: (id: bigint) => T): T[] {
  const list: T[] = [];
  const length = lengthOf(ids);
  for (let at = 0; at < length; at++) list[at] = as(ids[at] as bigint);
  return list;
}
