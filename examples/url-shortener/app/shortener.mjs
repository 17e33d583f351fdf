// The program: HTTP requests in, HTTP answers out. It is the same on both hosts, which give it a generator and a database.
import { Layout } from "frazil";
import { base62 } from "frazil/text";
import { json } from "frazil/transport";
import { checkAlias, checkExpiry, checkUrl, Invalid, isCode } from "./checks.mjs";
import { MOST_ROWS } from "./links.mjs";

const HOUR_MS = 60 * 60 * 1000;
/** The links that one client may make: a burst at once, and one more every twenty seconds. */
const SHARE = { burst: 30, eachMs: 20_000 };
/** The longest body of a request, in bytes. */
const MAX_BODY = 8192;
/** The bars of the chart. */
const BARS = 48;
/** The meaning of the bits of the IDs. Reading them needs no generator. */
const layout = Layout.named("edge");

// `json` of frazil/transport writes IDs as text, where Response.json throws: JSON has no 64-bit numbers.
const answer = (body, status = 200, headers = {}) =>
  json(body, { status, headers: { "cache-control": "no-store", "x-content-type-options": "nosniff", ...headers } });
const refused = (status, error, field) => answer({ error, ...(field && { field }) }, status);
const notAllowed = (allow) => answer({ error: `use ${allow}` }, 405, { allow });
const plain = (status, text) =>
  new Response(`${text}\n`, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });

/**
 * Answers a request: its `method`, `url` and `headers`, and its `body`, whose chunks can be iterated. It never throws.
 *
 * - `page`: the HTML of the page.
 * - `origin`: the address of this program.
 * - `links`: the database (`links.mjs`).
 * - `ids`: the generator, requested only where a link or a visit is stored.
 * - `later`: lets a promise finish after the answer.
 * - `client`: the client, for the limit.
 */
export async function handle(request, host) {
  try {
    return await route(request, host);
  } catch (error) {
    if (error instanceof Invalid) return refused(400, error.message, error.field);
    console.error(error);
    return plain(500, "Something went wrong.");
  }
}

async function route(request, host) {
  if (!URL.canParse(request.url)) throw new Invalid("host", "must be the name or the address of a host");
  const url = new URL(request.url);
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (url.pathname === "/api/links") {
    if (request.method === "POST") return create(request, host);
    return isRead ? newest(host) : notAllowed("GET, HEAD, POST");
  }
  if (!isRead) return notAllowed("GET, HEAD");
  if (url.pathname === "/") return html(host.page);
  if (url.pathname === "/api/statistics") return statistics(url, host.links);
  return redirect(request, url.pathname.slice(1), host);
}

/** The page, whose one script and one style run because the policy names them. */
function html(page) {
  const nonce = crypto.randomUUID();
  const policy = `default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return new Response(page.replaceAll("{{nonce}}", nonce), {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `${policy}; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'`,
      "referrer-policy": "no-referrer",
    },
  });
}

const newest = async ({ links, origin }) =>
  answer({ links: (await links.recent(12)).map((link) => shown(link, origin())) });

async function create(request, { links, ids, later, client, origin }) {
  // Another site can make a browser send text or a form, but this type only if the answer to OPTIONS allows it.
  if (!/^application\/json *(;|$)/i.test(request.headers.get("content-type") ?? ""))
    return refused(415, "content-type must be application/json", "content-type");
  const text = await textOf(request.body);
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Invalid("body", "must be JSON");
  }
  const target = checkUrl(given?.url, origin());
  const alias = checkAlias(given?.alias);
  const expiresAtMs = checkExpiry(given?.expiresInDays, Date.now());

  if (!(await links.take(client, SHARE))) {
    const seconds = SHARE.eachMs / 1000;
    const error = `at most ${SHARE.burst} links at once, and one more each ${seconds} seconds`;
    return answer({ error }, 429, { "retry-after": String(seconds) });
  }
  later(links.forget());

  // A held lease answers without a network call. If the synchronous call finds no number, this one waits.
  const generator = await ids();
  const id = await generator.nextAsync();
  const link = { id, url: target, alias, expiresAtMs, visits: 0 };
  if (!(await links.add(link))) return refused(409, "the alias is taken", "alias");
  const { timestampMs, node, sequence } = layout.decode(id);
  return answer({ ...shown(link, origin()), parts: { timestampMs, node, sequence } }, 201);
}

/**
 * The text of a body. It is read to its end, because some clients read no answer before that, but only as much as a link can need is kept.
 */
async function textOf(body) {
  const chunks = [];
  let length = 0;
  try {
    for await (const chunk of body ?? []) {
      length += chunk.length;
      if (length <= MAX_BODY) chunks.push(chunk);
    }
  } catch {
    throw new Invalid("body", "must be sent to its end");
  }
  if (length > MAX_BODY) throw new Invalid("body", `must be at most ${MAX_BODY} bytes`);
  return new Blob(chunks).text();
}

/** A link as the API shows it. */
function shown({ id, url, alias, expiresAtMs, visits }, origin) {
  const code = base62.short.encode(id);
  return { id, code, alias, shortUrl: `${origin}/${alias ?? code}`, url, expiresAtMs, visits };
}

async function redirect(request, name, { links, ids, later }) {
  // A code may stand for any 64-bit number. IDs of this layout end earlier, as does a signed 64-bit column.
  const id = isCode(name) ? layout.tryParse(base62.short.tryDecode(name)) : undefined;
  const link = await (id === undefined ? links.byAlias(name) : links.byId(id));
  if (link === undefined) return plain(404, "There is no such link.");
  if (link.expiresAtMs !== null && link.expiresAtMs <= Date.now()) return plain(410, "This link has expired.");
  // A visit is a row with an ID, which has the time of the visit in it. The answer does not wait for it.
  if (request.method === "GET")
    later(ids().then(async (generator) => links.addVisit(await generator.nextAsync(), link.id)));
  return new Response(null, { status: 302, headers: { location: link.url, "cache-control": "no-store" } });
}

/** Links and visits by time: ranges of IDs, because each ID begins with its time. It needs no date column and no index. */
async function statistics(url, links) {
  const hours = Number(url.searchParams.get("hours") ?? 24);
  if (!Number.isInteger(hours) || hours < 1 || hours > 24 * 365)
    throw new Invalid("hours", "must be a whole number from 1 to 8760");
  // IDs may run a second ahead of the clock.
  const untilMs = Date.now() + 1000;
  const fromMs = untilMs - hours * HOUR_MS;
  const { fromId, untilId } = layout.range(fromMs, untilMs);
  const span = (untilId - fromId) / BigInt(BARS) + 1n;
  const { links: made, visits } = await links.perSpan(fromId, untilId, span);
  const bars = Array.from({ length: BARS }, (_, at) => ({
    fromMs: layout.timestampOf(fromId + BigInt(at) * span),
    links: made.get(at) ?? 0,
    visits: visits.get(at) ?? 0,
  }));
  const isWhole = [made, visits].every(
    (counts) => [...counts.values()].reduce((sum, rows) => sum + rows, 0) < MOST_ROWS,
  );
  return answer({ fromMs, untilMs, fromId, untilId, isWhole, bars });
}
