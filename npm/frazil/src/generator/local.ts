/** The parts of `Snowflake.local()` alone: its options, their checks, and the error where it is not available. */
import { Host, wrongEntry } from "#binding";
import { ConfigError, configError } from "../base/errors.js";
import { unknownKey } from "../base/option-keys.js";
import { PackageRule } from "../base/package-rules.js";
import { unshownError } from "../base/value-text.js";
import { noAddonError, reasonsOf, remedyOf } from "../core/no-addon.js";

export function nativeRequired(causes: readonly unknown[] = []): ConfigError {
  let why = wrongEntry();
  if (Host.FILES) {
    const reasons = reasonsOf(causes);
    why = reasons
      ? `The addon could not be loaded (${reasons}). ${remedyOf(causes)}`
      : "FRAZIL_BACKEND=wasm forbids the addon. Unset it.";
  }
  const cure = Host.ISOLATES
    ? "Call await leased(env.FRAZIL, ctx)."
    : "Elsewhere: await lease(store), or new Snowflake({ node }) with a different node id in each process. Workers: await leased(env.FRAZIL, ctx).";
  return new ConfigError(
    "NATIVE_REQUIRED",
    `Snowflake.local() keeps its state in a file, which needs Node and the native addon\n${why} ${cure}`,
    Host.FILES && causes.length > 0 ? { cause: noAddonError(causes) } : undefined,
  );
}

export const LOCAL_OPTIONS =
  "dir, node, scope, layout, epochMs, maxLeadMs, maxWaitMs, maxAsyncWaitMs, sequenceStart, freshness, startWaitMs, fileSystem, acceptUnprovenPlatform";
/** Options that other calls take, and `Snowflake.local()` does not. */
export const NOT_LOCAL = "now, unshared, signal";

/**
 * Throws for options that belong to other calls, for a non-boolean `acceptUnprovenPlatform`, and for a `node` that is `undefined`. If
 * `node` is left out, it has a default, but `undefined` means that the caller read it from a place where it is missing.
 */
export function checkLocalOptions(given: Record<string, unknown>): void {
  for (const name of NOT_LOCAL.split(", ")) {
    const owner = name === "signal" ? "Snowflake.localAsync()" : "new Snowflake()";
    if (name in given)
      throw unshownError(
        "INVALID_OPTION",
        name,
        given[name],
        unknownKey("INVALID_OPTION", name, `It belongs to ${owner}.`),
      );
  }
  if ("node" in given && given["node"] === undefined) {
    throw configError("NODE_REQUIRED", "node", undefined, PackageRule.NODE_LEFT_OUT);
  }
  const { acceptUnprovenPlatform = false } = given;
  if (typeof acceptUnprovenPlatform !== "boolean") {
    throw configError("INVALID_OPTION", "acceptUnprovenPlatform", acceptUnprovenPlatform, PackageRule.TRUE_OR_FALSE);
  }
}
