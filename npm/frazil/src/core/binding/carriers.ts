/** How `frazil/native` hands the packages of the addon to `frazil`, which may be in another file or another bundle. */

/** What became of loading a package of the addon. */
export type Loaded = { readonly addon: unknown } | { readonly error: unknown };

/** Loads a package of the addon by its name; `undefined` if there is no package of that name. */
export type Carriers = (name: string) => Loaded | undefined;

/** The key under which a realm has its carriers: a function, and what that loads any code of the realm can load too. */
const CARRIERS = /* @__PURE__ */ Symbol.for("frazil.native");

const realm = globalThis as { [CARRIERS]?: Carriers | "late" };

/** What `frazil/native` has registered. */
export function registeredCarriers(): Carriers | undefined {
  const carriers = realm[CARRIERS];
  return carriers === "late" ? undefined : carriers;
}

/** Registers the carriers, and returns whether that was in time. Those that are registered stay: others load the same packages. */
export function registerCarriers(carriers: Carriers): boolean {
  realm[CARRIERS] ??= carriers;
  return realm[CARRIERS] !== "late";
}

/** Notes that the realm runs on WebAssembly for want of an addon, so that what is registered from now on is too late. */
export function closeCarriers(): void {
  // If the realm is frozen, nothing can be registered later either.
  if (realm[CARRIERS] === undefined) Reflect.set(realm, CARRIERS, "late");
}
