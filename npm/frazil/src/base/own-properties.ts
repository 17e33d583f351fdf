/**
 * A copy of an object's own properties, without a prototype. Each value is read once. Properties that are inherited
 * from a class or from `Object.prototype` are left out: nobody passed them as options.
 *
 * @internal
 */
export const ownOf = <T extends object>(given: T): T => ({ __proto__: null, ...given });

const lists = /* @__PURE__ */ (() => Array.prototype)();

/**
 * Stores an element of a list. Where a program put an accessor on `Array.prototype`, an assignment to an element that
 * a list does not have would call its setter, and leave a hole.
 *
 * @internal
 */
export function putOwn<T>(list: { [index: number]: T }, at: number, value: T): void {
  if (at in lists)
    Object.defineProperty(list, at, ownOf({ value, writable: true, enumerable: true, configurable: true }));
  else list[at] = value;
}

/** Where a list has a value; -1 if it does not. `indexOf` may be replaced. @internal */
export function placeOf(list: readonly unknown[], value: unknown): number {
  let at = list.length - 1;
  while (at >= 0 && list[at] !== value) at--;
  return at;
}
