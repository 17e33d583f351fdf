// Fastify: the JSON Schema in a route, for what it takes and for what it answers.
import assert from "node:assert/strict";
import { test } from "node:test";
import fastify from "fastify";
import { EitherId, refused, UserId, written } from "./ids.mjs";

const object = (properties) => ({ type: "object", properties, additionalProperties: false });

test("parameters and bodies are checked by the pattern, and the handler parses", async (t) => {
  const app = fastify();
  t.after(() => app.close());
  const schema = {
    params: object({ id: UserId.jsonSchema }),
    body: object({ owner: EitherId.jsonSchema }),
    response: { 200: object({ id: UserId.jsonSchema, number: { type: "string" } }) },
  };
  app.post("/users/:id", { schema }, ({ params }) => {
    const id = UserId.parse(params.id);
    return { id: UserId.format(id), number: `${id}`, secret: "left out" };
  });
  const answerTo = (id, owner) =>
    app.inject({ method: "POST", url: `/users/${encodeURIComponent(id)}`, payload: { owner } });
  const { statusCode, body } = await answerTo(written, "org_1ptWyK4WgZU");
  assert.deepEqual([statusCode, body], [200, `{"id":"${written}","number":"1541815603606036480"}`]);
  for (const text of refused) assert.equal((await answerTo(text, written)).statusCode, 400);
  for (const owner of ["post_1ptWyK4WgZU", `x${written}`, `${written}x`])
    assert.equal((await answerTo(written, owner)).statusCode, 400);
});
