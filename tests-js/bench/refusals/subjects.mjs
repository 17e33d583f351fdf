// The refused calls that `refusals.mjs` compares with a plain `throw`, in any host.
const nowMs = 1_780_000_000_000;
/** More frames than V8 keeps in a stack (10). */
const DEPTH = 12;
/** The two texts of the refusal of `next()`. */
const CODE = "SEQUENCE_EXHAUSTED";
const FACT = "all sequence numbers that the clock and the allowed lead give are used";
const HINT = "Retry after 1 ms.";

class PlainError extends Error {}

function plain() {
  throw new PlainError(`${CODE}: ${FACT}`);
}
/** The floor of `next()`: the error that it throws, with the same fields, without asking the core. */
function coded(ClockError) {
  const error = new ClockError(CODE, `${FACT}\n${HINT}`);
  error.retryable = true;
  error.retryAfterMs = 1;
  throw error;
}
/** The same after what any refusal asks the core: two calls that it refuses at once, since no generator has that handle. */
function asked(ClockError, { calls, frame }) {
  const status = calls.reserve(frame, -1, nowMs, 1, false) && calls.reserve(frame, -1, nowMs, 1, true);
  if (status === 0) throw new Error("the core refused nothing");
  coded(ClockError);
}
const nestedAsked = (ClockError, binding, depth) =>
  depth === 0 ? asked(ClockError, binding) : nestedAsked(ClockError, binding, depth - 1) + 1;
const nestedCoded = (ClockError, depth) => (depth === 0 ? coded(ClockError) : nestedCoded(ClockError, depth - 1) + 1);
/** The depth of `nested(1)` is that at which `next()` throws: in the third function below the caller. */
const nested = (depth) => (depth === 0 ? plain() : nested(depth - 1) + 1);

const caught = (call) => {
  try {
    return call();
  } catch (error) {
    return error;
  }
};

/**
 * The calls by name; the word after the comma is the code of the error. The first call is what the others are compared with. Each has
 * a `try` of its own, one frame above the call.
 */
export function subjectsOf({ ClockError, Snowflake, Layout }) {
  let clockMs = nowMs;
  const options = { node: 7, maxLeadMs: 0, maxWaitMs: 0 };
  // The first generator of a process looks for another backend in it. That is no part of a refusal.
  new Snowflake({ node: 7 });
  const full = new Snowflake({ ...options, now: () => nowMs });
  full.nextMany(4096);
  const behind = new Snowflake({ ...options, now: () => clockMs });
  behind.next();
  clockMs -= 5;
  const target = new BigUint64Array(16);
  const layout = Layout.named("default");
  const { binding } = Snowflake.port();
  const calls = {
    "a plain throw": () => nested(1),
    "a plain throw by the caller itself": () => plain(),
    "the error of next(), made and thrown without the core, SEQUENCE_EXHAUSTED": () => nestedCoded(ClockError, 1),
    "that after two refused calls of the core, SEQUENCE_EXHAUSTED": () => nestedAsked(ClockError, binding, 0),
    "next(), SEQUENCE_EXHAUSTED": () => full.next(),
    "next(), CLOCK_BACKWARD": () => behind.next(),
    "fill(16), SEQUENCE_EXHAUSTED": () => full.fill(target),
    "tryNext(), which makes no error": () => full.tryNext() ?? "none",
    'decode("x"), INVALID_ID': () => layout.decode("x"),
    "new Snowflake({ node: 70000 }), INVALID_NODE": () => new Snowflake({ node: 70000 }),
    "new Snowflake({ node: 7 }), which succeeds": () => new Snowflake({ node: 7 }),
  };
  const { message, hint } = caught(() => full.next());
  if (message !== `${CODE}: ${FACT}` || hint !== HINT)
    throw new Error(`the refusal has another text: ${message}. ${hint}`);
  for (const [name, call] of Object.entries(calls)) {
    const code = name.match(/, ([A-Z_]+)$/)?.[1];
    const got = caught(call).code;
    if (got !== code) throw new Error(`${name}: ${got}`);
  }
  return Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, () => caught(call)]));
}

let kept;
function repeat(call, count) {
  for (let at = 0; at < count; at++) kept = call();
}
function below(depth, call, count) {
  if (depth === 0) repeat(call, count);
  else below(depth - 1, call, count);
}

/** Calls a subject `count` times, with a full stack or from a short one. */
export function run(call, count, stack) {
  below(stack === "full" ? DEPTH : 0, call, count);
  if (kept === undefined) throw new Error("nothing was called");
}
