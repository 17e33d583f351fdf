/** How Node prints the classes of the package and their objects. */

/** The method by which an object tells Node how to print it. */
export const INSPECT: unique symbol = /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom") as never;

const hidden = <T extends object>(descriptor: T): T => ({ __proto__: null, configurable: true, ...descriptor });

/** Makes the name of a class not enumerable, as in most classes: otherwise printing the class shows it twice. */
export function hideName(Class: object): void {
  Object.defineProperty(Class, "name", hidden({ enumerable: false }));
}

/** Prints the objects of a class with these properties, and without their own methods. */
export function printOnly(Class: { readonly prototype: object }, names: readonly string[]): void {
  hideName(Class);
  type Printed = Record<string, unknown>;
  function value(
    this: Printed,
    depth: number | null,
    options: object,
    inspect?: (value: object, options: unknown) => string,
  ) {
    let shown: Printed;
    try {
      shown = Object.fromEntries(names.map((name) => [name, this[name]]));
    } catch {
      // A Proxy, or an object that inherits from an instance: it has no private fields, and is printed as it is.
      return { ...this };
    }
    // If the host passes no function, the class has no name. One level deeper than Node's default (2), for the fields of a layout.
    return inspect ? `${this.constructor.name} ${inspect(shown, { ...options, depth: depth && depth + 1 })}` : shown;
  }
  Object.defineProperty(Class.prototype, INSPECT, hidden({ value, writable: true }));
}
