/** The carriers that `frazil/native` registers, for the loader of Node. */
import { ownOf } from "../own-properties.js";
import { builtin } from "./builtin.js";

/** What loading a carrier gives: its addon, or why there is none. */
export type Loaded = { readonly addon: unknown } | { readonly error: unknown };
/** The packages that carry the addon, each with the call that loads it. */
export type Carriers = { readonly [addonPackage: string]: () => Loaded };

/** The key on `process`, which the realms of a thread share. */
const CARRIERS = /* @__PURE__ */ Symbol.for("frazil.carriers");
const holder = () => builtin("node:process") as { [CARRIERS]?: Carriers };

export const registeredCarriers = (): Carriers | undefined => holder()[CARRIERS];

/** The first registration counts: a program that is bundled into several files has several copies of the same. */
export function registerCarriers(carriers: Carriers): void {
  if (registeredCarriers() === undefined) Object.defineProperty(holder(), CARRIERS, ownOf({ value: carriers }));
}
