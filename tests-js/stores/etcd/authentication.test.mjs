// Faults with users, roles and tokens of etcd.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { attempt, renewalOf } from "../kit/attempts.mjs";
import { newScope, startServer, storeOf } from "./one-server.mjs";

describe("authentication", () => {
  let own;
  const as = (options) => storeOf(options, own);
  before(async () => {
    own = await startServer();
    await storeOf({}, own).init({ scope: "s", layout: "default" });
    for (const args of [
      ["user", "add", "root:secret"],
      ["user", "grant-role", "root", "root"],
      ["user", "add", "app:pass"],
      ["auth", "enable"],
    ])
      own.etcdctl(args);
  });

  test("without a user, with a wrong password, without a right: STORE_REFUSED that says what to do", async () => {
    await assert.rejects(as({}).acquire(attempt()), told({ code: "STORE_REFUSED", message: /username and password/ }));
    await assert.rejects(as({ username: "app", password: "wrong" }).acquire(attempt()), (error) => {
      assert.equal(error.code, "STORE_REFUSED");
      assert.ok(!wholeText(error).includes("wrong"), wholeText(error));
      assert.match(wholeText(error), /Check the options username and password/);
      return true;
    });
    await assert.rejects(
      as({ username: "app", password: "pass" }).acquire(attempt()),
      told({
        code: "STORE_REFUSED",
        message: /grant-permission/,
      }),
    );
  });

  test("with the rights of the message, and after the token is void", async () => {
    const root = { user: "root:secret" };
    own.etcdctl(["role", "add", "frazil"], root);
    own.etcdctl(["role", "grant-permission", "frazil", "--prefix=true", "readwrite", "frazil/"], root);
    own.etcdctl(["user", "grant-role", "app", "frazil"], root);
    let tokens = 0;
    const counting = (url, init) => {
      if (url.endsWith("authenticate")) tokens++;
      return fetch(url, init);
    };
    const store = as({ username: "app", password: "pass", fetch: counting });
    const held = await store.acquire(attempt());
    assert.ok(held.granted);
    await Promise.all(Array.from({ length: 4 }, () => store.acquire(attempt())));
    assert.equal(tokens, 1);
    // A member keeps tokens in memory.
    await own.stop();
    await own.start();
    assert.ok((await store.renew(renewalOf(held))).granted);
    assert.equal(tokens, 2);
    own.etcdctl(["user", "add", "other:pass"], root);
    assert.ok((await store.acquire(attempt())).granted);
  });

  test("with a token of the user's own, which is asked for once more", async () => {
    const token = async () => (await own.call("auth/authenticate", { name: "root", password: "secret" })).token;
    let asked = 0;
    const store = as({ token: () => (asked++ === 0 ? "void.1" : token()) });
    assert.ok((await store.acquire(attempt())).granted);
    assert.equal(asked, 2);
    await assert.rejects(as({ token: () => "void.1" }).acquire(attempt()), { code: "STORE_REFUSED" });
    const failing = () => Promise.reject(new Error("no vault"));
    await assert.rejects(
      as({ token: failing }).acquire(attempt()),
      told({ code: "STORE_UNAVAILABLE", message: /no vault/ }),
    );
  });

  test("a user where authentication is off", async () => {
    const store = storeOf({ username: "app", password: "pass" });
    const scope = await newScope();
    assert.ok((await store.acquire(attempt({ scope }))).granted);
  });
});
