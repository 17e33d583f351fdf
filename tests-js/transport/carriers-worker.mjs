// A Worker that sends an ID over each carrier. The path of a request names the case; the response says what arrived, or the error.
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import { base32, bytes } from "frazil/text";
import { jsonReplacer } from "frazil/transport";

const ID = 1489237498237411329n;

/** A value, so that JSON shows its type. */
const shown = (value) => (typeof value === "bigint" ? `${value}n` : value);
const untyped = ({ bigint, number, text }) => (bigint ? BigInt(bigint) : number ? Number(number) : text);

async function outcomeOf(call) {
  try {
    return { is: shown(await call()) };
  } catch ({ name, message }) {
    return { throws: `${name}: ${message}` };
  }
}

export class Obj extends DurableObject {
  echo(id) {
    return id;
  }
  query(text, values) {
    return this.ctx.storage.sql.exec(text, ...values).toArray();
  }
  async stored(id) {
    await this.ctx.storage.put("id", id);
    return this.ctx.storage.get("id");
  }
  storedInKv(id) {
    this.ctx.storage.kv.put("id", id);
    return this.ctx.storage.kv.get("id");
  }
}

export class Service extends WorkerEntrypoint {
  echo(id) {
    return id;
  }
}

const objectOf = (env) => env.OBJ.get(env.OBJ.idFromName("one"));

/** Each runs a statement, and resolves to its rows. */
const ENGINES = {
  async d1(env, text, values) {
    const { results, meta } = await env.DB.prepare(text)
      .bind(...values)
      .all();
    return meta.changes && !results.length ? [{ last_row_id: meta.last_row_id }] : results;
  },
  object: (env, text, values) => objectOf(env).query(text, values),
};

const received = [];

const CASES = {
  stringify: () => JSON.stringify({ id: ID }),
  "stringify with jsonReplacer": () => JSON.stringify({ id: ID }, jsonReplacer),
  parse: () => JSON.parse(`{"id":${ID}}`).id,
  "Response.json": () => Response.json({ id: ID }).text(),
  structuredClone: () => structuredClone({ id: ID }).id,
  postMessage() {
    const { port1, port2 } = new MessageChannel();
    return new Promise((resolve) => {
      port2.onmessage = ({ data }) => resolve(data.id);
      port1.postMessage({ id: ID });
    });
  },
  "RPC of a service": (env) => env.SERVICE.echo(ID),
  "RPC of an object": (env) => objectOf(env).echo(ID),
  "storage.put": (env) => objectOf(env).stored(ID),
  "storage.kv": (env) => objectOf(env).storedInKv(ID),
  "a value in KV": async (env) => {
    await env.KV.put("value", ID);
    return env.KV.get("value");
  },
  "a key in KV": async (env) => {
    await env.KV.put(ID, "found");
    return env.KV.get(`${ID}`);
  },
  "metadata in KV": (env) => env.KV.put("metadata", "", { metadata: { id: ID } }),
  "metadata in KV as text": async (env) => {
    await env.KV.put("metadata", "", { metadata: { id: `${ID}` } });
    return (await env.KV.getWithMetadata("metadata")).metadata.id;
  },
  "metadata in KV as a number": async (env) => {
    await env.KV.put("metadata", "", { metadata: { id: Number(ID) } });
    return (await env.KV.getWithMetadata("metadata")).metadata.id;
  },
  "the order of keys in KV": async (env) => {
    const order = async (prefix, textOf) => {
      for (const id of [9n, 10n, ID]) await env.KV.put(prefix + textOf(id), "", { metadata: `${id}` });
      return (await env.KV.list({ prefix })).keys.map(({ metadata }) => metadata);
    };
    return [await order("decimal:", String), await order("base32:", base32.encode)];
  },
  "a key in R2": async (env) => {
    await env.R2.put(ID, "found");
    return (await env.R2.get(`${ID}`)).text();
  },
  "metadata in R2": async (env) => {
    await env.R2.put("metadata", "", { customMetadata: { id: ID } });
    return (await env.R2.head("metadata")).customMetadata.id;
  },
  "send by default": (env) => env.QUEUE.send({ id: ID }),
  "send as json": (env) => env.QUEUE.send({ id: ID }, { contentType: "json" }),
  "send as text": (env) => env.QUEUE.send(ID, { contentType: "text" }),
  "send as bytes": (env) => env.QUEUE.send(ID, { contentType: "bytes" }),
  "what the queue delivers": async (env) => {
    await env.QUEUE.send({ id: ID }, { contentType: "v8" });
    await env.QUEUE.send({ id: `${ID}` }, { contentType: "json" });
    await env.QUEUE.send(`${ID}`, { contentType: "text" });
    await env.QUEUE.send(bytes.encode(ID), { contentType: "bytes" });
    while (received.length < 4) await scheduler.wait(20);
    return received.map(shown).sort();
  },
  WebSocket() {
    const { 0: here, 1: there } = new WebSocketPair();
    here.accept();
    there.accept();
    const arrived = new Promise((resolve) => there.addEventListener("message", ({ data }) => resolve(data)));
    here.send(ID);
    return arrived;
  },
  "a body": () => new Response(ID).text(),
  "a header": () => new Headers({ "x-id": ID }).get("x-id"),
  "a cookie": () => new Headers({ "set-cookie": `id=${ID}` }).get("set-cookie"),
  "a query": () => `${new URLSearchParams({ id: ID })}`,
};

export default {
  async queue(batch) {
    for (const { body } of batch.messages) {
      received.push(body instanceof ArrayBuffer ? bytes.decode(new Uint8Array(body)) : (body.id ?? body));
    }
  },

  async fetch(request, env) {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
    const engine = ENGINES[name];
    if (engine === undefined) return Response.json(await outcomeOf(() => CASES[name](env)));
    const { text, values } = await request.json();
    return Response.json(await outcomeOf(() => engine(env, text, values.map(untyped))));
  },
};
