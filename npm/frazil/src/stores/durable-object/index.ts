/**
 * Leases and segments in Durable Objects of Cloudflare, from a Worker that has a binding to them.
 *
 * ```js
 * import { DurableObjectStore } from "frazil/workers";
 *
 * export { FrazilLeases } from "frazil/workers"; // the class of the objects
 *
 * const store = new DurableObjectStore(env.FRAZIL); // in a request; it is cheap
 * ```
 *
 * - **One object for each scope, and one for each tag**, which the runtime runs once in the world. No table is made, and no
 *   `init()` is needed: a new, empty object begins by itself.
 * - **Nothing is kept between requests** but the namespace: a stub belongs to one request, and is dead after an abort. Each call
 *   makes its own.
 * - **A location hint** shards the node ids, so that the object is near.
 */

import { Layout } from "frazil";
import { type ConfigError, configError, FrazilError, LeaseError } from "../../base/errors.js";
import { fromOutside } from "../../base/outside-text.js";
import { withoutValue } from "../../base/value-text.js";
import { untilAborted } from "../../base/wait.js";
import type { NodeRange } from "../../layout/default-nodes.js";
import { checkGiven, described, optionError } from "../kit/argument-errors.js";
import { hintFor, isStub } from "../kit/clients.js";
import { storeRefused } from "../kit/errors.js";
import { layoutText, nodeCountOf } from "../kit/lease/layout-text.js";
import { checkAcquire, checkEnsure, checkRelease, checkRenew, fencedScope, recordOf } from "../kit/lease/requests.js";
import { WORKERS_WINDOW_MAX_MS } from "../kit/limits.js";
import { checkAllocate, newTagOf } from "../kit/segment/requests.js";
import type {
  AcquireRequest,
  Answer,
  EnsureRequest,
  InitOptions,
  ManagedStore,
  ReleaseRequest,
  RenewRequest,
  ScopeRequest,
} from "../lease-store.js";
import type { AllocateRequest, Allocation, ManagedSegmentStore, TagOptions } from "../segment-store.js";
import { errorOfData, isErrorData, type Reply } from "./error-data.js";
import { isNodeRange, type LocationHint, locationHintIn, NODES_RULE, newNodesOf, nodesOf } from "./nodes.js";

export type { NodeRange } from "../../layout/default-nodes.js";
export type * from "../lease-store.js";
export type * from "../segment-store.js";
export { LOCATION_HINTS, type LocationHint, locationHintOf, type RequestPlace } from "./nodes.js";

/**
 * The binding to the objects: `env.FRAZIL`, a `DurableObjectNamespace<FrazilLeases>` of `wrangler types` or of
 * `@cloudflare/workers-types`.
 */
export interface LeasesNamespace {
  idFromName(name: string): object;
  get(id: never, options?: never): object;
}

/**
 * A store or namespace, unless its type says that it is the namespace of another class. That of `DurableObjectNamespace` without a
 * parameter says nothing.
 */
export type OfLeases<S> = S extends { get(id: never, options?: never): infer Stub }
  ? "__DURABLE_OBJECT_BRAND" extends keyof Stub
    ? Stub extends { acquire: unknown; allocate: unknown }
      ? S
      : { get(id: never, options?: never): { acquire: unknown; allocate: unknown } }
    : S
  : S;

/** The options of the store. Each has a default. */
export interface DurableObjectStoreOptions {
  /**
   * Where the object of the scope is made: `locationHintOf(request.cf)`. Each hint has its own object and its own sixteenth of the node
   * ids. Default: one object, near the Worker that asks first, with seven sixteenths of them.
   */
  readonly locationHint?: LocationHint | undefined;
  /**
   * The node ids to grant, both ends included, instead of those above: all of them in the layout. No two objects of one scope may have one
   * in common: that of another hint, of no hint, or of another namespace. `leased()` asks the store of its first call.
   */
  readonly nodes?: NodeRange;
}

/** What a stub has. */
type Stub = { readonly [verb: string]: (request: unknown) => Promise<Reply<unknown>> };

/** What the runtime says of a call that failed, besides its message. */
interface RuntimeError extends Error {
  readonly retryable?: boolean;
  readonly overloaded?: boolean;
  readonly durableObjectReset?: boolean;
}

const NAMESPACE_RULE =
  "must be a namespace of Durable Objects\nPass env.FRAZIL, if the wrangler configuration has the binding " +
  '"durable_objects": { "bindings": [{ "name": "FRAZIL", "class_name": "FrazilLeases" }] } and ' +
  '"migrations": [{ "tag": "v1", "new_sqlite_classes": ["FrazilLeases"] }].';
const CLASS_RULE =
  'The class of the namespace must be FrazilLeases of frazil/workers: write export { FrazilLeases } from "frazil/workers" in the ' +
  "main module of the Worker that the binding names, and deploy that first.";
const DATE_RULE =
  "The compatibility_date of this Worker must be 2024-04-03 or later: before it there are no calls of objects.";

/** Leases and segments in objects of the class `FrazilLeases`. */
export class DurableObjectStore implements ManagedStore, ManagedSegmentStore {
  readonly name = "durable-object";
  /** The namespace. */
  readonly identity: object;
  readonly #namespace: LeasesNamespace;
  readonly #hint: LocationHint | undefined;
  readonly #nodes: NodeRange | undefined;

  /**
   * Checks what it is given. It asks no object.
   *
   * @throws {ConfigError} `INVALID_ARGUMENT` for something that is no namespace, `INVALID_OPTION`.
   */
  constructor(namespace: LeasesNamespace, options: DurableObjectStoreOptions = {}) {
    const { idFromName, get } = (namespace ?? {}) as Partial<LeasesNamespace>;
    if (isStub(namespace)) throw configError("INVALID_ARGUMENT", "namespace", namespace, STUB_RULE);
    if (typeof idFromName !== "function" || typeof get !== "function") throw noNamespace(namespace);
    const { locationHint, nodes } = checkGiven(options, "locationHint, nodes");
    if (nodes !== undefined && !isNodeRange(nodes)) throw optionError("nodes", nodes, NODES_RULE);
    this.identity = namespace;
    this.#namespace = namespace;
    this.#hint = locationHintIn(locationHint);
    this.#nodes = nodes && { from: nodes.from, to: nodes.to };
  }

  async acquire(request: AcquireRequest): Promise<Answer> {
    checkAcquire(request);
    const { signal, ...sent } = request;
    return this.#leases("acquire", Object.assign(sent, this.#nodesOf(request.layout)), signal);
  }

  async renew(request: RenewRequest): Promise<Answer> {
    checkRenew(request);
    const { signal, ...sent } = request;
    return this.#leases("renew", sent, signal);
  }

  async release(request: ReleaseRequest): Promise<boolean> {
    checkRelease(request);
    const { signal, ...sent } = request;
    return this.#leases("release", sent, signal);
  }

  async ensure(request: EnsureRequest): Promise<void> {
    checkEnsure(request);
    const { signal, ...sent } = request;
    return this.#leases("ensure", sent, signal);
  }

  /**
   * Writes the record of a scope, for a range of node ids or a longest window other than those that the object would choose. It is
   * not needed: the first `acquire` makes the record, with all node ids of this store and a longest window of 10 minutes.
   */
  async init(options: InitOptions): Promise<boolean> {
    const { nodes, newNodes } = this.#nodesOf(layoutText(Layout.from(options?.layout)));
    const record = recordOf({ windowMaxMs: WORKERS_WINDOW_MAX_MS, ...options, nodes: options?.nodes ?? newNodes });
    if (record.nodeFrom < nodes.from || record.nodeTo > nodes.to)
      throw optionError(
        "nodes",
        options.nodes,
        `must be within ${nodes.from} to ${nodes.to}, the node ids of this store: pass the range as its option nodes too`,
      );
    return this.#leases("init", record, undefined);
  }

  /**
   * Raises the fence, also of an object that is empty: after a restore to a point in time, and after the class was deleted and made again.
   * With location hints, every object has its own fence.
   */
  async fence(options?: { readonly scope?: string }): Promise<number> {
    return this.#leases("fence", { scope: fencedScope(options) }, undefined);
  }

  async allocate(request: AllocateRequest): Promise<Allocation> {
    checkAllocate(request);
    const { signal, ...sent } = request;
    return this.#call(`segment/${request.tag}`, "allocate", sent, signal);
  }

  async initSegment(options: TagOptions): Promise<boolean> {
    const record = newTagOf(options);
    return this.#call(`segment/${record.tag}`, "initSegment", record, undefined);
  }

  /** The node ids that the object may have, and those that it begins with if it is new. */
  #nodesOf(layout: string): { readonly nodes: NodeRange; readonly newNodes: NodeRange } {
    const count = nodeCountOf(layout);
    if (this.#nodes && this.#nodes.to >= count) {
      const { from, to } = this.#nodes;
      const rule = `must be within 0 to ${count - 1}, the node ids of the layout`;
      throw withoutValue("INVALID_OPTION", "nodes", `{ from: ${from}, to: ${to} }`, rule);
    }
    const nodes = this.#nodes ?? nodesOf(this.#hint, count);
    return { nodes, newNodes: this.#nodes ?? newNodesOf(nodes, count) };
  }

  #leases<T>(verb: string, request: ScopeRequest, signal: AbortSignal | undefined): Promise<T> {
    const name = `lease/${request.scope}`;
    return this.#call(this.#hint === undefined ? name : `${name}/${this.#hint}`, verb, request, signal);
  }

  async #call<T>(name: string, verb: string, request: object, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    const call = async () => {
      const id = this.#namespace.idFromName(name);
      const options = this.#hint && { locationHint: this.#hint };
      const stub = this.#namespace.get(id as never, options as never) as Stub;
      if (typeof stub[verb] !== "function")
        throw storeRefused(`the stub of the object has no call "${verb}"\n${DATE_RULE}`);
      return replyIn<T>(await stub[verb](request));
    };
    let reply: Reply<T>;
    try {
      reply = await untilAborted(call(), signal);
    } catch (error) {
      if (signal?.aborted && error === signal.reason) throw error;
      throw errorOf(error, name);
    }
    if ("error" in reply) throw errorOfData(reply.error);
    return reply.value;
  }
}

/** The kind of a binding, by its class in the runtime. */
function bindingOf(given: unknown): string | undefined {
  const { name } = ((given ?? {}) as object).constructor ?? {};
  switch (name) {
    case "KvNamespace":
      return "a KV namespace";
    case "R2Bucket":
      return "an R2 bucket";
    case "WorkerQueue":
      return "a Queue";
    case "Fetcher":
      return "a service binding";
    default:
      return undefined;
  }
}

const STUB_RULE =
  "must be the namespace itself, env.FRAZIL\nThis is a stub of one object, or a binding to another Worker, and an object is chosen by " +
  "the scope or the tag.";

function noNamespace(given: unknown): ConfigError {
  const rule = NAMESPACE_RULE + hintFor("durable-object", given);
  const what = bindingOf(given) ?? described(given);
  return withoutValue("INVALID_ARGUMENT", "namespace", what, rule);
}

/** What an object of the right class replies with. Another class may have a method of the same name. */
function replyIn<T>(given: unknown): Reply<T> {
  const reply = (Object(given) === given ? given : {}) as { value?: unknown; error?: unknown };
  if ("error" in reply ? isErrorData(reply.error) : "value" in reply) return reply as Reply<T>;
  throw storeRefused(`the object answered ${described(given)}, which is no reply\n${CLASS_RULE}`);
}

/** The error for a call that had no reply, with the runtime's as its cause. */
function errorOf(error: unknown, name: string): FrazilError {
  if (FrazilError.is(error)) return error;
  const { message, durableObjectReset, overloaded } = error as RuntimeError;
  if (/does not implement the method|does not support RPC|not a function/.test(message))
    return storeRefused(`the object answered: ${fromOutside(message).replace(/\.+$/, "")}\n${CLASS_RULE}`, error);
  const state = durableObjectReset ? " was reset" : overloaded ? " is overloaded" : " did not answer";
  return new LeaseError("STORE_UNAVAILABLE", `the Durable Object "${name}"${state}: ${fromOutside(message)}`, {
    retryable: true,
    cause: error,
  });
}
