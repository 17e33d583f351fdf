/** FRAZIL_BACKEND, which forces one backend. */

import { mayRead } from "../../base/environment.js";
import { configError } from "../../base/errors.js";
import type { Backend } from "../boundary.js";

const RULE = 'must be "native" or "wasm"';

/**
 * The backend that the environment forces, if it does.
 *
 * @throws {ConfigError} `INVALID_OPTION` for another value.
 */
export function forcedBackend(): Backend | undefined {
  let forced: string | undefined;
  try {
    if (mayRead("FRAZIL_BACKEND")) forced = globalThis.process?.env?.["FRAZIL_BACKEND"];
  } catch {
    return undefined; // no permission
  }
  if (!forced) return undefined;
  if (forced === "native" || forced === "wasm") return forced;
  throw configError("INVALID_OPTION", "FRAZIL_BACKEND", forced, RULE);
}
