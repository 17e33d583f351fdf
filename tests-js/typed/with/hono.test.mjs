// Hono: its validator, and that of Standard Schema.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sValidator } from "@hono/standard-validator";
import { Hono } from "hono";
import { validator } from "hono/validator";
import { EitherId, refused, UserId, written } from "./ids.mjs";

const app = new Hono();
const param = validator("param", ({ id }, context) => {
  const { success, data } = UserId.safeParse(id);
  return success ? { id: data } : context.text("no such user", 404);
});
app.get("/users/:id", param, (context) => context.text(`${context.req.valid("param").id}`));
app.post("/users", sValidator("json", UserId), (context) => context.text(`${context.req.valid("json")}`));
app.post("/any", sValidator("json", EitherId), (context) => context.text(context.req.valid("json").prefix));
const post = (path, value) => app.request(path, { method: "POST", ...jsonOf(value) });
const jsonOf = (value) => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(value) });

test("a parameter becomes an ID, and others are answered with 404", async () => {
  const answer = await app.request(`/users/${written}`);
  assert.equal(await answer.text(), "1541815603606036480");
  for (const text of refused) assert.equal((await app.request(`/users/${encodeURIComponent(text)}`)).status, 404);
});

test("a body is validated by the Standard Schema, and others are answered with 400", async () => {
  assert.equal(await (await post("/users", written)).text(), "1541815603606036480");
  assert.equal(await (await post("/any", written)).text(), "usr");
  for (const value of refused) assert.equal((await post("/users", value)).status, 400);
});
