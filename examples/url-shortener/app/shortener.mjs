// The program: HTTP requests in, HTTP answers out. It is the same on both hosts, which give it a generator and a database.
import { Layout } from "frazil";
import { base62 } from "frazil/text";
import { checkAlias, checkExpiry, checkUrl, Invalid, isCode } from "./checks.mjs";

const HOUR_MS = 60 * 60 * 1000;
/** How many links one client may make in each ten minutes. */
const LINKS_PER_SLOT = 30;
const SLOT_MS = 10 * 60 * 1000;
/** The longest body of a request, in bytes. */
const MAX_BODY = 8192;
/** How many bars the chart has. */
const BARS = 48;
/** What the bits of the IDs mean. Reading them needs no generator. */
const layout = Layout.named("edge");

const json = (body, status = 200, headers = {}) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "x-content-type-options": "nosniff", ...headers },
  });
const refused = (status, error, field) => json({ error, ...(field && { field }) }, status);
const plain = (status, text) =>
  new Response(`${text}\n`, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });

/**
 * Makes the handler of requests.
 *
 * - `page`: the HTML of the page.
 * - `links`: the database (`links.mjs`).
 * - `ids`: the generator. It is asked for in each request, and only where a link or a visit is stored.
 * - `later`: has a promise finished after the answer.
 * - `client`: who asks, for the limit.
 */
export async function handle(request, { page, links, ids, later, client }) {
  const url = new URL(request.url);
  const { pathname } = url;
  try {
    if (pathname === "/api/links") {
      if (request.method === "POST") return await create(request, { links, ids, later, client, origin: url.origin });
      if (request.method === "GET")
        return json({ links: (await links.recent(12)).map((link) => shown(link, url.origin)) });
      return refused(405, "use GET or POST");
    }
    if (request.method !== "GET" && request.method !== "HEAD") return refused(405, "use GET");
    if (pathname === "/") return html(page);
    if (pathname === "/api/statistics") return await statistics(url, links);
    return await redirect(request, pathname.slice(1), { links, ids, later });
  } catch (error) {
    if (error instanceof Invalid) return refused(400, error.message, error.field);
    throw error;
  }
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

async function create(request, { links, ids, later, client, origin }) {
  const text = await bodyOf(request);
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Invalid("body", "must be JSON");
  }
  const target = checkUrl(given?.url, origin);
  const alias = checkAlias(given?.alias);
  const nowMs = Date.now();
  const expiresAtMs = checkExpiry(given?.expiresInDays, nowMs);

  const slot = Math.floor(nowMs / SLOT_MS);
  const used = await links.count(client, slot);
  if (used > LINKS_PER_SLOT) {
    const retryAfter = Math.ceil(((slot + 1) * SLOT_MS - nowMs) / 1000);
    return json({ error: `at most ${LINKS_PER_SLOT} links in ten minutes` }, 429, {
      "retry-after": String(retryAfter),
    });
  }
  if (used === 1) later(links.forget(slot));

  // A held lease answers without asking anybody. If the synchronous call finds no number, this one waits.
  const generator = await ids();
  const id = await generator.nextAsync();
  const isMade = await links.add({ id, url: target, alias, expiresAtMs });
  if (!isMade) return refused(409, "the alias is taken", "alias");
  const { timestampMs, node, sequence } = layout.decode(id);
  return json(
    { ...shown({ id, url: target, alias, expiresAtMs, visits: 0 }, origin), parts: { timestampMs, node, sequence } },
    201,
  );
}

/** The body as text, of which no more is read than a link can need. */
async function bodyOf(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > MAX_BODY) throw new Invalid("body", `must be at most ${MAX_BODY} bytes`);
    chunks.push(chunk);
  }
  return new Blob(chunks).text();
}

/** A link as the API shows it. An ID is text: JSON has no 64-bit numbers. */
function shown({ id, url, alias, expiresAtMs, visits }, origin) {
  const code = base62.short.encode(id);
  return { id: String(id), code, alias, shortUrl: `${origin}/${alias ?? code}`, url, expiresAtMs, visits };
}

async function redirect(request, name, { links, ids, later }) {
  const id = isCode(name) ? base62.short.tryDecode(name) : undefined;
  const link = await (id === undefined ? links.byAlias(name) : links.byId(id));
  if (link === undefined) return plain(404, "There is no such link.");
  if (link.expiresAtMs !== null && link.expiresAtMs <= Date.now()) return plain(410, "This link has expired.");
  // A visit is a row with an ID, which has the time of the visit in it. The answer does not wait for it.
  if (request.method === "GET")
    later(ids().then(async (generator) => links.addVisit(await generator.nextAsync(), link.id)));
  return new Response(null, { status: 302, headers: { location: link.url, "cache-control": "no-store" } });
}

/** Links and visits by time: ranges of IDs, since each ID begins with its time. No column has a date, and none has an index. */
async function statistics(url, links) {
  const hours = Number(url.searchParams.get("hours") ?? 24);
  if (!Number.isInteger(hours) || hours < 1 || hours > 24 * 365)
    throw new Invalid("hours", "must be a whole number from 1 to 8760");
  // IDs may run a second ahead of the clock.
  const untilMs = Date.now() + 1000;
  const fromMs = Math.max(untilMs - hours * HOUR_MS, layout.epochMs);
  const [first, last] = [layout.minIdAt(fromMs), layout.maxIdAt(untilMs)];
  const span = (last - first) / BigInt(BARS) + 1n;
  const { links: made, visits } = await links.perSpan(first, last, span);
  const bars = Array.from({ length: BARS }, (_, at) => ({
    fromMs: layout.timestampOf(first + BigInt(at) * span),
    links: made.get(at) ?? 0,
    visits: visits.get(at) ?? 0,
  }));
  return json({ fromMs, untilMs, firstId: String(first), lastId: String(last), bars });
}
