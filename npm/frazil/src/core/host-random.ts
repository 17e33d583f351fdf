/** Random numbers of the host. */
import { Host } from "#binding";
import { configError } from "../base/errors.js";

/** `count` random numbers of 32 bits. */
export function hostRandom(count: number): Uint32Array {
  const { crypto } = globalThis;
  // Some realms have none, such as a context of `node:vm`. Isolates of Cloudflare Workers have one.
  if (!Host.ISOLATES && typeof crypto?.getRandomValues !== "function")
    throw configError("INVALID_OPTION", "globalThis.crypto", crypto, "must have getRandomValues");
  return crypto.getRandomValues(new Uint32Array(count));
}
