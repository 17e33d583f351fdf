// A Worker whose segments run on two instances of the core: `frazil/segment` on that of the generators, `frazil/workers/segment` on one
// that has segments alone.
import { Segment } from "frazil/segment";
import { segmented as ofBoth } from "frazil/workers";
import { DurableObjectStore, FrazilLeases, segmented } from "frazil/workers/segment";

export { FrazilLeases };

/** A store that answers another instance as it answered the first one, if the test wants that. */
function storeOf(env, answers) {
  const store = new DurableObjectStore(env.FRAZIL);
  if (answers === undefined) return store;
  let asked = 0;
  const allocate = async (request) => {
    const at = asked++;
    answers[at] ??= store.allocate(request);
    return { ...(await answers[at]), attempt: request.attempt };
  };
  return { name: "broken", allocate };
}

const calls = {
  /** Numbers of both, taken in turn, in steps so small that each asks again and again. */
  async numbers({ env, ctx, given: { tag, count, isBroken } }) {
    await new DurableObjectStore(env.FRAZIL).initSegment({ tag });
    const answers = isBroken ? [] : undefined;
    const options = { tag, step: 3, maxStep: 3 };
    using own = new Segment(storeOf(env, answers), options);
    const shared = segmented(storeOf(env, answers), ctx, options);
    const numbers = [[], []];
    for (let at = 0; at < count; at++)
      for (const [index, segment] of [own, shared].entries()) numbers[index].push(await segment.nextString());
    return numbers;
  },
  same: ({ env, ctx }) => segmented(env.FRAZIL, ctx, { tag: "same" }) === ofBoth(env.FRAZIL, ctx, { tag: "same" }),
};

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    return Response.json(await calls[pathname.slice(1)]({ env, ctx, given: JSON.parse(searchParams.get("given")) }));
  },
};
