/** FRAZIL_BACKEND, which forces one backend. */

import type { Backend } from "../boundary.js";
import { ConfigError } from "../errors.js";

const RULE = "must be native or wasm";

/**
 * The backend that the environment forces, if it does. Deno asks its user before it shows a variable that the program may not read, so
 * there it is not read without the permission.
 *
 * @throws {ConfigError} `INVALID_OPTION` for another value.
 */
export function forcedBackend(): Backend | undefined {
  let forced: string | undefined;
  try {
    const deno = (globalThis as { Deno?: { permissions: { querySync(permission: object): { state: string } } } }).Deno;
    const permission = { name: "env", variable: "FRAZIL_BACKEND" };
    if (deno && deno.permissions.querySync(permission).state !== "granted") return undefined;
    forced = globalThis.process?.env?.["FRAZIL_BACKEND"];
  } catch {
    return undefined; // no permission
  }
  if (!forced) return undefined;
  if (forced === "native" || forced === "wasm") return forced;
  throw new ConfigError("INVALID_OPTION", `FRAZIL_BACKEND is ${JSON.stringify(forced)}: ${RULE}`, {
    field: "FRAZIL_BACKEND",
    value: forced,
    rule: RULE,
  });
}
