// A Worker that calls a store for the tests: each request is one call, with its own store object.
import { FrazilError } from "frazil";
import { D1Store } from "frazil/stores/d1";
import { DurableObjectStore, FrazilLeases } from "frazil/workers";
import { brokenDatabase, brokenState } from "./broken.mjs";
import { decode, encode } from "./values.mjs";

const { now } = Date;
let offsetMs = 0;
/** Set while the clock of the isolate, which is that of its objects, is another. */
Date.now = () => now() + offsetMs;

let kept;

/** The class that is shipped, with calls for tests. */
export class TestLeases extends FrazilLeases {
  /** Stops the object, as the runtime does. */
  abortNow() {
    this.ctx.abort("aborted by a test");
  }

  /** Writes and stops the object in the same event, before the write is durable. */
  writeAndAbort(request) {
    this.acquire(request);
    this.ctx.abort("aborted by a test");
  }

  sql(statement) {
    return this.ctx.storage.sql.exec(statement).toArray();
  }

  deleteAll() {
    return this.ctx.storage.deleteAll();
  }
}

/** The class with a defect. */
export class BrokenLeases extends FrazilLeases {
  constructor(ctx, env) {
    super(brokenState(ctx, env.DEFECT), env);
  }
}

/** The same under `new_classes`. */
export class OldLeases extends FrazilLeases {}

/** A class that is no other's. */
export { OtherClass } from "./other-class.mjs";

function storeOf(env, { binding, options }) {
  if (binding.startsWith("D1")) return new D1Store(brokenDatabase(env[binding], env.DEFECT));
  return new DurableObjectStore(env[binding], options);
}

const stubOf = ({ OBJECTS }, name) => OBJECTS.get(OBJECTS.idFromName(name));

const CALLS = {
  store(env, { binding, options, verb, request, aborted }) {
    const signal = aborted && AbortSignal.abort(new Error("aborted"));
    return storeOf(env, { binding, options })[verb](aborted ? { ...request, signal } : request);
  },
  object: (env, { name, verb, request }) => stubOf(env, name)[verb](request),
  database: (env, { binding, statements }) =>
    env[binding].batch(
      statements.map(({ sql, values }) => {
        const statement = env[binding].prepare(sql);
        return values.length > 0 ? statement.bind(...values) : statement;
      }),
    ),
  jump: (_, { ms }) => {
    offsetMs += ms;
  },
  session(env) {
    new D1Store(env.D1.withSession("first-unconstrained"));
  },
  identity: (env, { binding }) => storeOf(env, { binding }).identity === env[binding],
  // A store object of an earlier request, as a module keeps it.
  kept(env, { verb, request }) {
    kept ??= new DurableObjectStore(env.OBJECTS);
    return kept[verb](request);
  },
};

function dataOf(error) {
  const { name, message, hint, code, retryable, field, cause } = error;
  const reported = cause && { message: cause.message, durableObjectReset: cause.durableObjectReset };
  return { ours: FrazilError.is(error), name, message, hint, code, retryable, field, cause: reported };
}

export default {
  async fetch(request, env) {
    const { call, ...given } = decode(await request.text());
    const reply = await Promise.resolve()
      .then(() => CALLS[call](env, given))
      .then(
        (value) => ({ value }),
        (error) => ({ error: dataOf(error) }),
      );
    return new Response(encode(reply));
  },
};
