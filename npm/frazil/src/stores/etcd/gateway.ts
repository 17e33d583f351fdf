/**
 * Calls of etcd's v3 HTTP gateway: which endpoint is asked, the token of a user, the clock of the member that answered, and
 * what its errors mean.
 *
 * - **A read is repeated on the next endpoint** if one does not answer.
 * - **A write is sent once.** If its answer is lost, it is unknown whether it took place: `STORE_UNAVAILABLE`. The holder
 *   repeats the whole operation with the same nonce, and its read finds another endpoint.
 */
import { monotonicClock } from "../../base/clock.js";
import { FrazilError, type LeaseError } from "../../base/errors.js";
import type { HostAbortSignal } from "../../base/host-types.js";
import { fromOutside } from "../../base/outside-text.js";
import { withoutValue } from "../../base/value-text.js";
import { onAbort, untilAborted } from "../../base/wait.js";
import { checkGiven } from "../kit/argument-errors.js";
import { storeRefused, storeUnavailable } from "../kit/errors.js";
import { DateClock } from "./date-clock.js";

/** What the store passes to `fetch`. */
export interface EtcdRequestInit {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly redirect: "manual";
  readonly signal: HostAbortSignal;
}

/** What the store reads of a response. */
export interface EtcdResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): PromiseLike<string>;
}

/** The options of an `EtcdStore`. */
export interface EtcdStoreOptions {
  /** The client URLs of the members, or one of a proxy in front of them: `["https://etcd-1:2379"]`. */
  readonly endpoints: readonly string[];
  /** What all keys begin with. Default: `"frazil/"`. */
  readonly prefix?: string;
  /** The user of etcd, and the password. The store asks for a token, and for another one when it has expired. */
  readonly username?: string;
  readonly password?: string;
  /** Instead of a user and a password: returns the token. It is called once more if etcd refuses the token. */
  readonly token?: () => string | PromiseLike<string>;
  /** Further headers of each request, such as a proxy's. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the global `fetch`: one that knows your certificates, for instance. */
  readonly fetch?: (url: string, init: EtcdRequestInit) => PromiseLike<EtcdResponse>;
  /** How long one endpoint may take for one request, in milliseconds. Default: 2000. */
  readonly timeoutMs?: number;
}

/** The header of etcd's answers. 64-bit numbers come as text. @internal */
export interface EtcdHeader {
  readonly cluster_id?: string;
  readonly revision?: string;
  readonly raft_term?: string;
}

/** The JSON of an answer. @internal */
export interface AnswerBody {
  readonly header: EtcdHeader;
  readonly [field: string]: unknown;
}

/** An answer, and the time of the member that gave it. @internal */
export interface EtcdReply {
  readonly body: AnswerBody;
  /** The time, which is later than these: those of writes that the answer shows. */
  now(...pastMs: number[]): number;
}

const KNOWN = "endpoints, prefix, username, password, token, headers, fetch, timeoutMs";
const ENDPOINTS_RULE =
  'must be a list of one or more URLs of http or https without a password\nFor example ["http://127.0.0.1:2379"].';
const PREFIX_RULE = "must be a string of 1 to 200 printable ASCII characters, without quotes, spaces and backslashes";
const USER_RULE = "username and password are given together, and neither beside token";
const FETCH_RULE = "must be a function like the global fetch\nThis runtime may lack it.";
const HEADERS_RULE =
  "must be an object of names and values, both strings that HTTP allows\nNo Headers, no list, no line breaks, no characters beyond U+00FF.";
const TIMEOUT_RULE = "must be a number from 1 to 60000";

/** Codes of gRPC (grpc.io/docs/guides/status-codes), as far as they differ in what to do. */
const Code = {
  INVALID_ARGUMENT: 3,
  PERMISSION_DENIED: 7,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

const AUTHENTICATE = "auth/authenticate";
/** What etcd answers to that, as far as it is shown. */
const KNOWN_TO_AUTHENTICATE = /^(etcdserver|rpc error|context|grpc)\b[^{}]*$/;
/** In place of a text that has a secret. */
const HIDDEN = "what it says is not shown, as it may have a password";
/** The most bytes of an answer: of 100 rows, as many as are asked for, it has a tenth of that. */
const MAX_BYTES = 2 ** 20;

/** A request without a token, or with one that is not good any more. It was not carried out. */
const TOKEN_IS_OLD = /invalid auth token|revision of auth store is old|user name is empty/;

const optionError = (field: string, given: string, rule: string) => withoutValue("INVALID_OPTION", field, given, rule);

/** A URL of the options, as the paths of the gateway are appended to it. Never shown as it was given: it may have a password. */
function endpointOf(given: unknown, at: number): string {
  const url = typeof given === "string" && URL.canParse(given) ? new URL(given) : undefined;
  const isHttp = url !== undefined && /^https?:$/.test(url.protocol);
  if (isHttp && !(url.username || url.password || url.search || url.hash)) return url.href.replace(/\/+$/, "");
  const entry = `a list whose entry ${at}`;
  const fault =
    typeof given !== "string"
      ? `${entry} is ${given === null ? "null" : `a ${typeof given}`}`
      : isHttp
        ? `${entry} has ${url.username || url.password ? "a user or a password, for which there are username and password" : "a ? or a #"}`
        : `${entry} does not begin with http:// or https://, or is no URL`;
  throw optionError("endpoints", fault, ENDPOINTS_RULE);
}

/** Whether HTTP allows a value. `fetch` shows one that it does not in its error, and it may be a secret. */
const isHeaderValue = (value: unknown): boolean => typeof value === "string" && /^[\t -~\x80-\xff]*$/.test(value);

const areHeaders = (headers: unknown): boolean =>
  typeof headers === "object" &&
  headers !== null &&
  !(Symbol.iterator in headers) &&
  Object.entries(headers).every(([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && isHeaderValue(value));

/** A date of HTTP: any other text would be read as one of this machine's time zone, or as a year. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/** A member, or a proxy in front of several. Each has its own clock. */
interface Endpoint {
  readonly url: string;
  readonly clock: DateClock;
}

/** The option `prefix`, checked. @internal */
export function prefixOf(prefix: unknown = "frazil/"): string {
  if (typeof prefix !== "string" || !/^[!-~]{1,200}$/.test(prefix) || /['"\\]/.test(prefix))
    throw optionError("prefix", prefix === null ? "null" : `a ${typeof prefix}`, PREFIX_RULE);
  return prefix;
}

/** The members of a cluster, as they are asked. @internal */
export class EtcdGateway {
  readonly prefix: string;
  readonly #endpoints: readonly Endpoint[];
  readonly #options: EtcdStoreOptions;
  readonly #fetch: NonNullable<EtcdStoreOptions["fetch"]>;
  readonly #timeoutMs: number;
  /** How often an endpoint did not answer: the one that is asked first. */
  #failures = 0;
  /** The token, if it is known, and whether etcd asks for one. No promise: on Workers it must not outlive its request. */
  #token: { readonly text: string | undefined } | undefined;

  constructor(given: EtcdStoreOptions) {
    const options = checkGiven(given, KNOWN) as unknown as EtcdStoreOptions;
    const { endpoints, username, password, token, headers, timeoutMs = 2000 } = options;
    if (!Array.isArray(endpoints) || endpoints.length === 0) {
      const given = Array.isArray(endpoints) ? "an empty list" : `${endpoints === null ? "null" : typeof endpoints}`;
      throw optionError("endpoints", given, ENDPOINTS_RULE);
    }
    this.prefix = prefixOf(options.prefix);
    for (const [field, value, kind] of [
      ["username", username, "string"],
      ["password", password, "string"],
      ["token", token, "function"],
    ] as const)
      if (value !== undefined && typeof value !== kind) throw optionError(field, typeof value, `must be a ${kind}`);
    if ((username === undefined) !== (password === undefined) || (token && username !== undefined))
      throw optionError("username", username === undefined ? "missing" : "given", USER_RULE);
    if (headers !== undefined && !areHeaders(headers)) throw optionError("headers", "something else", HEADERS_RULE);
    if (typeof timeoutMs !== "number" || !(timeoutMs >= 1 && timeoutMs <= 60_000))
      throw optionError("timeoutMs", typeof timeoutMs === "number" ? `${timeoutMs}` : typeof timeoutMs, TIMEOUT_RULE);
    const call = options.fetch ?? globalThis.fetch;
    if (typeof call !== "function") throw optionError("fetch", typeof call, FETCH_RULE);
    // Without `this`: Workers refuse their fetch as a method of something else. Looked up at each call, as other code may wrap it.
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#endpoints = endpoints.map((endpoint, at) => ({ url: endpointOf(endpoint, at), clock: new DateClock() }));
    this.#options = options;
    this.#timeoutMs = timeoutMs;
  }

  /** The URLs that are asked. */
  get urls(): readonly string[] {
    return this.#endpoints.map(({ url }) => url);
  }

  /** Calls a path of the gateway. `isRead`: the next endpoint is asked if one does not answer. */
  async call(path: string, body: object, isRead: boolean, signal: AbortSignal | undefined): Promise<EtcdReply> {
    const count = this.#endpoints.length;
    for (let tries = 1; ; tries++) {
      const before = this.#failures;
      try {
        return await this.#authorised(path, body, before % count, signal);
      } catch (error) {
        const isAborted = signal?.aborted === true;
        const isElsewhere =
          isAborted || (FrazilError.is(error) && (error.code === "STORE_UNAVAILABLE" || isLearner(error)));
        // Another call may have moved on already.
        if (isElsewhere && this.#failures === before) this.#failures++;
        if (isAborted) throw signal?.reason;
        if (!isElsewhere || !isRead || tries >= count) throw error;
      }
    }
  }

  /** Sends a request with a token, and once more with another one if that is refused: the request was not carried out then. */
  async #authorised(path: string, body: object, at: number, signal: AbortSignal | undefined): Promise<EtcdReply> {
    const { token: callback, username } = this.#options;
    for (let isLast = callback === undefined && username === undefined; ; isLast = true) {
      this.#token ??= { text: await this.#newToken(at, signal) };
      const used = this.#token;
      const answer = await this.#send(path, body, at, used.text, signal);
      if ("body" in answer) return answer;
      if (isLast || !TOKEN_IS_OLD.test(answer.message)) throw errorOf(answer);
      if (this.#token === used) this.#token = undefined;
    }
  }

  async #newToken(at: number, signal: AbortSignal | undefined): Promise<string | undefined> {
    const { token, username: name, password } = this.#options;
    if (token) return givenToken(token, this.#timeoutMs, signal);
    if (name === undefined) return undefined;
    const answer = await this.#send(AUTHENTICATE, { name, password }, at, undefined, signal);
    if ("body" in answer) return String(answer.body["token"]);
    // The server asks for no token. If that changes, it refuses requests without one.
    if (answer.code === Code.FAILED_PRECONDITION && /authentication is not enabled/.test(answer.message))
      return undefined;
    throw errorOf(answer);
  }

  async #send(
    path: string,
    body: object,
    at: number,
    token: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<EtcdReply | EtcdFailure> {
    const { url, clock } = this.#endpoints[at] as Endpoint;
    signal?.throwIfAborted();
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    const unwatch = signal && onAbort(signal, abort);
    const late = new Error(`no answer for ${this.#timeoutMs} ms`);
    const limit = setTimeout(() => controller.abort(late), this.#timeoutMs);
    try {
      const sentMs = monotonicClock();
      const response = await untilAborted(
        (async () =>
          this.#fetch(`${url}/v3/${path}`, {
            method: "POST",
            headers: {
              "Content-Type": "application/json",
              ...this.#options.headers,
              ...(token !== undefined && { Authorization: token }),
            },
            body: JSON.stringify(body),
            redirect: "manual",
            signal: controller.signal,
          }))(),
        controller.signal,
      );
      const receivedMs = monotonicClock();
      const date = response.headers.get("date");
      const text = await untilAborted(textOf(url, response), controller.signal);
      const answer = answerOf(url, response.status, text);
      // An echo of this request has the password, in any form.
      const isUnknown = path === AUTHENTICATE && !("header" in answer) && !KNOWN_TO_AUTHENTICATE.test(answer.message);
      if (!("header" in answer)) return { ...answer, shown: isUnknown ? HIDDEN : this.#shown(answer.message, token) };
      const dateMs = HTTP_DATE.test(date ?? "") ? Date.parse(date as string) : Number.NaN;
      if (Number.isNaN(dateMs))
        throw storeRefused(
          `${url} answered without a Date header of HTTP (${date === null ? "none" : this.#shown(date, token)}), which is the clock of the store\nSomething ` +
            "between removes or changes it. Let it pass, or connect to etcd itself.",
        );
      const now = (...pastMs: number[]) =>
        pastMs.reduce(
          (ms, past) => Math.max(ms, clock.after(past, receivedMs)),
          clock.observe(dateMs, sentMs, receivedMs),
        );
      return { body: answer, now };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (FrazilError.is(error)) throw error;
      throw storeUnavailable(`etcd did not answer at ${url}: ${this.#shown(reasonOf(error), token)}`, error);
    } finally {
      clearTimeout(limit);
      unwatch?.();
    }
  }

  /** What an endpoint said, for an error: nothing if it has a secret of the options. */
  #shown(text: string, token: string | undefined): string {
    const { password, headers = {} } = this.#options;
    // A shorter header is no secret, and could be a part of any text.
    const values = Object.values(headers).filter((value) => value.length >= 8);
    const secrets = [password, token, ...values].filter((secret) => secret !== undefined && secret !== "") as string[];
    const shows = (secret: string) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1));
    return secrets.some(shows) ? HIDDEN : fromOutside(text);
  }
}

/** The token of the user's own function, which may take as long as an endpoint. */
async function givenToken(
  token: NonNullable<EtcdStoreOptions["token"]>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  let limit: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => reject(new Error(`no token for ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    const text = String(await untilAborted(Promise.race([(async () => token())(), late]), signal)).trim();
    if (!isHeaderValue(text))
      throw storeRefused(
        "the option token returned a text that no HTTP header may have: a line break, or beyond U+00FF",
      );
    return text;
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (FrazilError.is(error)) throw error;
    throw storeUnavailable(`the option token failed: ${fromOutside(reasonOf(error))}`, error);
  } finally {
    clearTimeout(limit);
  }
}

/** An error of etcd: the code of gRPC, and its message. */
interface EtcdFailure {
  readonly url: string;
  readonly code: number;
  readonly message: string;
  /** The message as an error shows it. */
  readonly shown: string;
}

/** A stream, as the bodies of most responses are. */
interface Body {
  getReader(): { read(): PromiseLike<{ readonly value?: Uint8Array }>; cancel(): PromiseLike<unknown> };
}

/** The text of an answer. One that is longer than any of etcd is refused before it is in memory, if it comes as a stream. */
async function textOf(url: string, response: EtcdResponse): Promise<string> {
  const refused = () => storeRefused(`${url} answered more than ${MAX_BYTES} bytes, which is not of etcd`);
  const { body } = response as { readonly body?: Body | null };
  const { headers } = response;
  // Most answers say how long they are. A stream takes a multiple of the time of a text.
  const isShort = Number(headers.get("content-length") ?? NaN) <= MAX_BYTES && headers.get("content-encoding") === null;
  if (isShort || typeof body?.getReader !== "function") {
    const text = await response.text();
    if (text.length > MAX_BYTES) throw refused();
    return text;
  }
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; ; ) {
    const { value } = await reader.read();
    if (value === undefined) return text + decoder.decode();
    bytes += value.length;
    if (bytes > MAX_BYTES) {
      reader.cancel().then(undefined, () => {});
      throw refused();
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** The answer in a response, or the error. Anything that is not of the gateway is refused. */
function answerOf(url: string, status: number, text: string): AnswerBody | Omit<EtcdFailure, "shown"> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // A proxy that ends in mid-answer: the request may have been carried out.
    if (status === 200 && `${text}`.startsWith("{"))
      throw storeUnavailable(`${url} answered a part of a JSON text only`);
  }
  const object = typeof json === "object" && json !== null ? (json as Record<string, unknown>) : {};
  if (status === 200 && "header" in object) return object as unknown as AnswerBody;
  const { code, message = object["error"] } = object;
  if (status !== 200 && typeof code === "number") return { url, code, message: String(message) };
  // Of a proxy in front of etcd, or of a member that starts.
  if (status >= 500 || status === 429) throw storeUnavailable(`${url} answered ${status}, which is not of etcd`);
  throw storeRefused(
    `${url} answered ${status} and no JSON of etcd's gateway\nendpoints must be the client URLs of etcd 3.4 or newer ` +
      "(not those of peers), with --enable-grpc-gateway as it is by default.",
  );
}

/** The error for an answer of etcd. */
function errorOf({ url, code, message, shown }: EtcdFailure): LeaseError {
  const reported = `etcd at ${url} answered ${code} (${shown})`;
  if (LEARNER.test(message)) return storeRefused(`${reported}\nName the members that vote in the option endpoints.`);
  if (code === Code.PERMISSION_DENIED)
    return storeRefused(
      `${reported}\nThe user's role lacks a right. It needs those of: etcdctl role grant-permission ROLE --prefix=true readwrite ` +
        "PREFIX, where PREFIX is the option prefix (frazil/), and: etcdctl user grant-role USER ROLE.",
    );
  if (TOKEN_IS_OLD.test(message))
    return storeRefused(`${reported}\nAuthentication is on. Pass the options username and password, or token.`);
  if (/invalid user ID or password/.test(message))
    return storeRefused(
      `${reported}\nCheck the options username and password. An administrator sets a password with: etcdctl user passwd USER.`,
    );
  if (/database space exceeded/.test(message))
    return storeRefused(
      `${reported}\netcd takes no writes until its space is freed: etcdctl compact REVISION; etcdctl defrag; etcdctl alarm disarm.`,
    );
  if (code === Code.DATA_LOSS || /corrupt/.test(message))
    return storeRefused(`${reported}\nThe members differ. Replace the corrupt one, then etcdctl alarm disarm.`);
  if (/too many operations/.test(message))
    return storeRefused(`${reported}\nThe store needs --max-txn-ops=128, the default, or more.`);
  if (code === Code.INVALID_ARGUMENT || code === Code.UNAUTHENTICATED || code === Code.UNIMPLEMENTED)
    return storeRefused(reported);
  return storeUnavailable(reported);
}

const LEARNER = /not supported for learner/;
const isLearner = (error: FrazilError) => LEARNER.test(error.message);

/** What `fetch` failed with. Node says why in the cause only. */
function reasonOf(error: unknown): string {
  const { message, cause } = (error ?? {}) as { message?: unknown; cause?: { code?: unknown; message?: unknown } };
  const why = cause?.code ?? cause?.message;
  return `${message ?? error}${why === undefined ? "" : ` (${why})`}`;
}
