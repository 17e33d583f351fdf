// tRPC takes a Standard Schema as the parser of an input.
import assert from "node:assert/strict";
import { test } from "node:test";
import { initTRPC, TRPCError } from "@trpc/server";
import { id, refused, UserId, written } from "./ids.mjs";

const t = initTRPC.create();
const router = t.router({
  user: t.procedure.input(UserId).query(({ input }) => ({ input, id: UserId.format(input) })),
});
const caller = t.createCallerFactory(router)({});

test("a procedure gets the ID, and refuses other inputs as BAD_REQUEST", async () => {
  assert.deepEqual(await caller.user(written), { input: id, id: written });
  for (const input of refused)
    await assert.rejects(caller.user(input), (error) => error instanceof TRPCError && error.code === "BAD_REQUEST");
});
