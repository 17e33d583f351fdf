/** References that do not keep an object, where the host has them. */

/** A reference that does not keep an object. @internal */
export interface Weak<T> {
  deref(): T | undefined;
}

/** Workers with a compatibility date before 2025-05-05 have no weak references: there it is a strong one. @internal */
export const weakly = <T extends object>(target: T): Weak<T> =>
  typeof WeakRef === "undefined" ? { deref: () => target } : new WeakRef(target);
