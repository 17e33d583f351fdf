/**
 * What an object itself has, each value read once: what its class or `Object.prototype` has is nobody's option.
 *
 * @internal
 */
export const ownOf = <T extends object>(given: T): T => ({ __proto__: null, ...given });
