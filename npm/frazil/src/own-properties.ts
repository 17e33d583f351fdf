/**
 * A copy of an object's own properties, without a prototype. Each value is read once. Properties that are inherited
 * from a class or from `Object.prototype` are left out: nobody passed them as options.
 *
 * @internal
 */
export const ownOf = <T extends object>(given: T): T => ({ __proto__: null, ...given });
