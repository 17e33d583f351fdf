/** `frazil/native` passes the packages of the addon to `frazil`, which may be in another file or bundle. */

/** The result of loading a package of the addon. */
export type Loaded = { readonly addon: unknown } | { readonly error: unknown };

/** Loads a package of the addon by its name; `undefined` if there is no package of that name. */
export type Addons = (name: string) => Loaded | undefined;

/** The key of a realm's addons: a function that loads only what any code of the realm can load. */
const ADDONS = /* @__PURE__ */ Symbol.for("frazil.native");

const realm = globalThis as { [ADDONS]?: Addons | "late" };

/** The function that `frazil/native` has registered. */
export function registeredAddons(): Addons | undefined {
  const addons = realm[ADDONS];
  return addons === "late" ? undefined : addons;
}

/** Registers the addons, and returns whether that was in time. Earlier ones stay: they load the same packages. */
export function registerAddons(addons: Addons): boolean {
  realm[ADDONS] ??= addons;
  return realm[ADDONS] !== "late";
}

/** Records that the realm runs on WebAssembly without an addon, so any later registration is too late. */
export function closeAddons(): void {
  // If the realm is frozen, nothing can be registered later either.
  if (realm[ADDONS] === undefined) Reflect.set(realm, ADDONS, "late");
}
