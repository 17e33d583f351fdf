/** Refuses test tools in production, where their IDs would repeat. */
import { mayRead } from "../base/environment.js";
import { configError } from "../base/errors.js";

/**
 * Whether `NODE_ENV` says that this is production. It is written out in full because bundlers replace exactly these words with the value.
 * So the check also works in a page, which has no environment.
 */
function isProduction(): boolean {
  try {
    return mayRead("NODE_ENV") && process.env["NODE_ENV"] === "production";
  } catch {
    return false; // no environment, or no permission to read it
  }
}

/**
 * Refuses a call in production.
 *
 * @throws {ConfigError} `INVALID_OPTION` with the field `NODE_ENV`.
 */
export function refuseProduction(call: string): void {
  if (!isProduction()) return;
  const isStore = call.startsWith("new ");
  const why = isStore ? "no other process sees what it keeps" : "each run has the same IDs";
  const remedy = isStore ? "a store in a database" : "new Snowflake(), Snowflake.local() or lease()";
  const rule = `${call} of frazil/testing is refused if NODE_ENV is "production"\nIt is for tests: ${why}. Use ${remedy}.`;
  throw configError("INVALID_OPTION", "NODE_ENV", "production", rule);
}
