/**
 * The node id that a process asks for first, by its place in a cluster or the name of its machine. Only a preference: if the node id is
 * taken, another one is granted, and nothing depends on it.
 */

import { configError, whole } from "../base/errors.js";
import { checkKeys } from "../base/option-keys.js";
import { PackageRule } from "../base/package-rules.js";
import { leasedNodes } from "../layout/default-nodes.js";
import { MAX_NODE } from "../stores/kit/limits.js";

/** The node ids of a scope of the layout `"default"`. */
const USUAL = leasedNodes(1024);

/** The options of `preferredNode()`. */
export interface PreferredNodeOptions {
  /** The node ids of the scope, as `init()` was given them. Default: those of the layout `"default"`, 0 to 1022. */
  readonly nodes?: { readonly from?: number; readonly to?: number };
  /** The name of the machine or pod. Default: the host name. */
  readonly hostname?: string;
  /** The environment variables. Default: those of the process. */
  readonly env?: { readonly [name: string]: string | undefined };
}

/**
 * The node id to prefer: `NOMAD_ALLOC_INDEX`, else the ordinal of a pod of a StatefulSet or an indexed Job (`web-3`), else a hash of the
 * host name, each modulo the number of node ids. `undefined` where there is none of these.
 *
 * ```js
 * const ids = await lease(store, { node: preferredNode() });
 * ```
 *
 * @throws {ConfigError} `INVALID_OPTION`.
 */
export function preferredNode(options: PreferredNodeOptions = {}): number | undefined {
  const {
    nodes = {},
    hostname = hostName(),
    env = ownEnv(),
  } = checkKeys("INVALID_OPTION", "options", options, "nodes, hostname, env");
  const { from = USUAL.from, to = USUAL.to } = checkKeys("INVALID_OPTION", "nodes", nodes, "from, to");
  for (const [field, value, min] of [
    ["nodes.from", from, 0],
    ["nodes.to", to, from],
  ] as const) {
    whole("INVALID_OPTION", field, value, min, MAX_NODE);
  }
  if (hostname !== undefined && typeof hostname !== "string")
    throw configError("INVALID_OPTION", "hostname", hostname, PackageRule.TEXT_STRING);
  if (Object(env) !== env) throw configError("INVALID_OPTION", "env", env, PackageRule.AN_OBJECT);
  const index = indexOf(env) ?? ordinalOf(env, hostname) ?? hashOf(hostname);
  return index === undefined ? undefined : from + (index % (to - from + 1));
}

/** Anything unreadable counts as missing: Deno without permissions throws. */
function unlessDenied<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The host name, if there is one that may be read. @internal */
export const hostName = (): string | undefined =>
  unlessDenied(() => globalThis.process?.getBuiltinModule?.("node:os")?.hostname());

/** The variables that are read, from the environment of the process. */
function ownEnv(): Env {
  const read = (name: string) => unlessDenied(() => globalThis.process?.env[name]);
  return {
    NOMAD_ALLOC_INDEX: read("NOMAD_ALLOC_INDEX"),
    KUBERNETES_SERVICE_HOST: read("KUBERNETES_SERVICE_HOST"),
  };
}

type Env = NonNullable<PreferredNodeOptions["env"]>;

function indexOf({ NOMAD_ALLOC_INDEX }: Env): number | undefined {
  if (NOMAD_ALLOC_INDEX !== undefined && typeof NOMAD_ALLOC_INDEX !== "string")
    throw configError("INVALID_OPTION", "env.NOMAD_ALLOC_INDEX", NOMAD_ALLOC_INDEX, PackageRule.TEXT_STRING);
  return /^\d{1,9}$/.test(NOMAD_ALLOC_INDEX ?? "") ? Number(NOMAD_ALLOC_INDEX) : undefined;
}

/** The number at the end of a pod's name. A Deployment's pods end in five random letters, which may all be digits. */
function ordinalOf({ KUBERNETES_SERVICE_HOST }: Env, hostname = ""): number | undefined {
  const [, ordinal] = /^[^.]*-(\d{1,4})(?:\.|$)/.exec(hostname) ?? [];
  return KUBERNETES_SERVICE_HOST && ordinal ? Number(ordinal) : undefined;
}

function hashOf(hostname = ""): number | undefined {
  const crypto = globalThis.process?.getBuiltinModule?.("node:crypto");
  // The name that a machine without a name has, as on Cloud Run.
  if (crypto === undefined || hostname === "" || hostname === "localhost") return undefined;
  return crypto.createHash("sha256").update(hostname).digest().readUInt32BE();
}
