/** How `frazil/native` hands the packages of the addon to `frazil`, which may be in another file or another bundle. */

/** What became of loading a package of the addon. */
export type Loaded = { readonly addon: unknown } | { readonly error: unknown };

/** Loads a package of the addon by its name; `undefined` if there is no package of that name. */
export type Addons = (name: string) => Loaded | undefined;

/** The key under which a realm has its addons: a function, and what that loads any code of the realm can load too. */
const ADDONS = /* @__PURE__ */ Symbol.for("frazil.native");

const realm = globalThis as { [ADDONS]?: Addons | "late" };

/** What `frazil/native` has registered. */
export function registeredAddons(): Addons | undefined {
  const addons = realm[ADDONS];
  return addons === "late" ? undefined : addons;
}

/** Registers the addons, and returns whether that was in time. Those that are registered stay: others load the same packages. */
export function registerAddons(addons: Addons): boolean {
  realm[ADDONS] ??= addons;
  return realm[ADDONS] !== "late";
}

/** Notes that the realm runs on WebAssembly for want of an addon, so that what is registered from now on is too late. */
export function closeAddons(): void {
  // If the realm is frozen, nothing can be registered later either.
  if (realm[ADDONS] === undefined) Reflect.set(realm, ADDONS, "late");
}
