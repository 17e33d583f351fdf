/**
 * A copy of an object's own properties, without a prototype. Each value is read once. Inherited properties, from a class or
 * `Object.prototype`, are left out: the caller did not pass them.
 *
 * @internal
 */
export const ownOf = <T extends object>(given: T): T => ({ __proto__: null, ...given });

const lists = /* @__PURE__ */ (() => Array.prototype)();

/**
 * Stores an element of a list. If a program put an accessor on `Array.prototype`, assigning a new element would call its setter and leave a
 * hole.
 *
 * @internal
 */
export function putOwn<T>(list: { [index: number]: T }, at: number, value: T): void {
  if (at in lists)
    Object.defineProperty(list, at, ownOf({ value, writable: true, enumerable: true, configurable: true }));
  else list[at] = value;
}

/** The index of a value in a list, or -1. `indexOf` may be replaced. @internal */
export function placeOf(list: readonly unknown[], value: unknown): number {
  let at = list.length - 1;
  while (at >= 0 && list[at] !== value) at--;
  return at;
}
