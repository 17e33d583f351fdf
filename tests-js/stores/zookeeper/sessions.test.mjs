// Sessions of ZooKeeper that end, that never begin, and that keep a program alive; and the ACL of a program's znodes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { test } from "node:test";
import { lease } from "frazil/lease";
import { ZooKeeperStore, zookeeperDdl } from "frazil/stores/zookeeper";
import zookeeper from "node-zookeeper-client";
import { told, wholeText } from "../../base/rule-texts.mjs";
import { attempt, releaseOf, renewalOf } from "../kit/attempts.mjs";
import { call, closeClient, connectStore, startServer } from "./server.mjs";
import { client, connected, newScope, open, server } from "./shared-server.mjs";

/** Lets the session of a client expire: it is without a connection for longer than the session lasts. */
async function expire(one) {
  const expired = new Promise((resolve) => one.once("expired", resolve));
  const manager = one.connectionManager;
  const connect = manager.connect.bind(manager);
  manager.connect = () => setTimeout(connect, 3000);
  manager.socket.destroy();
  await expired;
}

test("after its session has ended a store makes another client by its function, and holders go on", async () => {
  const opened = await connectStore(server.port, { client: { sessionTimeout: 1000 } });
  open.push(opened);
  const { store, clients } = opened;
  const scope = await newScope(3, { store });
  const held = await store.acquire(attempt({ scope }));
  await expire(clients[0]);
  const renewed = await store.renew(renewalOf(held, { scope }));
  assert.ok(renewed.granted, "the end of a session does not end a lease");
  assert.equal(clients.length, 2);
});

test("after its session has ended a store with one client is refused, and says what to do", async () => {
  const one = await client({ sessionTimeout: 1000 });
  const store = new ZooKeeperStore(one);
  const scope = await newScope(3, { store });
  await expire(one);
  await assert.rejects(
    store.acquire(attempt({ scope })),
    told({
      code: "STORE_REFUSED",
      message: /never connects again.*a function that returns a connected client/,
    }),
  );
});

test("a function that returns a client that was given up is refused, and not called again and again", async () => {
  const one = await client({ sessionTimeout: 1000 });
  let calls = 0;
  const store = new ZooKeeperStore(() => {
    // Otherwise the event loop of the test would stand still.
    if (++calls > 100) throw new Error("called without end");
    return one;
  });
  const scope = await newScope(3, { store });
  await expire(one);
  await assert.rejects(
    store.acquire(attempt({ scope })),
    told({
      code: "STORE_REFUSED",
      message: /must make another client at each call/,
    }),
  );
  assert.equal(calls, 2);
});

test("a function that makes no client is unavailable, with its error as the cause; one that returns something else is refused", async () => {
  const cause = new Error("no address");
  const failing = new ZooKeeperStore(async () => {
    throw cause;
  });
  await assert.rejects(
    failing.acquire(attempt()),
    (error) => error.code === "STORE_UNAVAILABLE" && error.cause === cause,
  );
  await assert.rejects(new ZooKeeperStore(() => ({})).acquire(attempt()), {
    code: "INVALID_ARGUMENT",
    field: "client",
  });
});

test("a server that accepts connections and never answers: another client is made by the function", async () => {
  const mute = createServer();
  await new Promise((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const ports = [mute.address().port, server.port];
  const made = [];
  const store = new ZooKeeperStore(() => {
    const one = zookeeper.createClient(`127.0.0.1:${ports.shift()}`);
    made.push(one);
    one.connect();
    return one;
  });
  assert.equal((await store.acquire(attempt({ scope: "nowhere" }))).reason, "missing");
  assert.equal(made.length, 2);
  // A store with one client waits, and says what may be wrong.
  const only = zookeeper.createClient(`127.0.0.1:${mute.address().port}`);
  only.connect();
  const message = /no session for 5000 ms/;
  await assert.rejects(new ZooKeeperStore(only).acquire(attempt()), told({ code: "STORE_UNAVAILABLE", message }));
  for (const one of [...made, only]) closeClient(one);
  mute.close();
});

test("a function that does not return is unavailable, and called again", async () => {
  const made = [new Promise(() => {}), client()];
  const store = new ZooKeeperStore(() => made.shift());
  await assert.rejects(
    store.acquire(attempt()),
    told({ code: "STORE_UNAVAILABLE", message: /has not returned one for/ }),
  );
  assert.equal((await store.acquire(attempt({ scope: "nowhere" }))).reason, "missing");
});

// docs/internals/claims.md: 22
test("a server that is paused is unavailable without a signal, and grants nothing twice when it goes on", async () => {
  const paused = await startServer();
  const opened = await connectStore(paused.port);
  const { store } = opened;
  await store.init({ scope: "p", layout: "default", nodes: { from: 0, to: 0 } });
  const held = await store.acquire(attempt({ scope: "p" }));
  assert.ok(await store.release(releaseOf(held, { scope: "p" })));
  paused.signal("SIGSTOP");
  const request = attempt({ scope: "p" });
  await assert.rejects(store.acquire(request), { code: "STORE_UNAVAILABLE", retryable: true });
  const signal = AbortSignal.timeout(20);
  await assert.rejects(store.acquire(attempt({ scope: "p", signal })), (error) => error === signal.reason);
  paused.signal("SIGCONT");
  const answers = [];
  for (let tries = 0; answers.length < 4 && tries < 40; tries++) {
    const answer = await store.acquire(attempt({ scope: "p" })).catch(() => undefined);
    if (answer) answers.push(answer);
  }
  const granted = answers.filter((answer) => answer.granted);
  assert.equal(answers.length, 4);
  assert.ok(granted.length <= 1 && answers.at(-1).reason === "exhausted", JSON.stringify(answers));
  await opened.close();
  await paused.stop();
});

/** Runs a program that has `make`, a function that makes a client of a server, and waits until it ends by itself. */
function ended(program, port = server.port) {
  const text = `
    import { lease } from "frazil/lease";
    import { LeafStore, ZooKeeperStore } from "frazil/stores/zookeeper";
    import zookeeper from "node-zookeeper-client";
    const make = () => {
      const client = zookeeper.createClient("127.0.0.1:${port}", { sessionTimeout: 10_000 });
      client.connect();
      return client;
    };
    ${program}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", text], { cwd: import.meta.dirname });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const ends = new Promise((resolve) => child.once("exit", (code) => resolve({ code, output })));
  return { child, ends };
}

test("a program ends by itself after close() of the store, also where lease() was rejected and while the client connects", async () => {
  await (await connected()).init({ scope: "ends", layout: "default" });
  const programs = [
    `const store = new ZooKeeperStore(make);
     const ids = await lease(store, { scope: "ends" });
     ids.next();
     await ids.close();
     await store.close();
     await store.close();
     const after = await store.fence({ scope: "ends" }).catch((error) => error);
     console.log(after.code, after.message);`,
    `const store = new ZooKeeperStore(make);
     await lease(store, { scope: "nowhere" }).catch(({ code }) => console.log(code));
     await store[Symbol.asyncDispose]();`,
    `const store = new ZooKeeperStore(make);
     const asked = store.fence({ scope: "ends" }).catch(({ code }) => console.log(code));
     await new Promise((resolve) => setTimeout(resolve));
     await store.close();
     await asked;`,
    `const store = new LeafStore(make, { leafName: "none" });
     await store.fence().catch(({ code }) => console.log(code));
     await store.close();`,
  ];
  const expected = [
    "STORE_REFUSED STORE_REFUSED: close\\(\\)",
    "STORE_NOT_INITIALISED",
    "STORE_REFUSED",
    "STORE_NOT_INITIALISED",
  ];
  for (const [at, program] of programs.entries()) {
    const { code, output } = await ended(program).ends;
    assert.equal(code, 0, output);
    assert.match(output, new RegExp(`^${expected[at]}`));
  }
});

test("the same check catches a program that does not close its store, and a client that was passed stays open", async () => {
  const { child, ends } = ended(`const store = new ZooKeeperStore(make);
    await store.fence({ scope: "none" }).catch(({ code }) => console.log(code));`);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const isOpen = new Promise((resolve) => setTimeout(resolve, 1000, "open"));
  assert.equal(await Promise.race([ends, isOpen]), "open");
  child.kill("SIGKILL");
  const one = await client();
  const store = new ZooKeeperStore(one);
  await store.close();
  await assert.rejects(store.acquire(attempt()), { code: "STORE_REFUSED" });
  assert.ok(await call(one, "exists", "/"));
});

/** The ACL of a znode, as text. */
async function aclOf(one, path) {
  const [acls] = await call(one, "getACL", path);
  return acls.map(({ permission, id }) => `${id.scheme}:${id.id} ${permission}`).join();
}

test("a program without the option acl makes its znodes with the ACL of the record, and never open ones", async () => {
  const auth = "ids:secret";
  const options = { prefix: "/secured", client: { auth } };
  const ours = await connected({ ...options, acl: zookeeper.ACL.CREATOR_ALL_ACL });
  await ours.init({ scope: "a", layout: "default" });
  const forgetful = await connected(options);
  const held = await forgetful.acquire(attempt({ scope: "a" }));
  assert.ok(held.granted);
  const one = await client({ auth });
  const record = await aclOf(one, "/secured/a");
  assert.match(record, /^digest:ids:.{20,} 31$/);
  const [ends] = await call(one, "getChildren", "/secured/a/ends");
  for (const path of ["leases/0", "leases/63", `grants/${held.grant}`, ...ends.map((end) => `ends/${end}`)])
    assert.equal(await aclOf(one, `/secured/a/${path}`), record, path);
  // Without the permission to administer, the hash of the password is hidden: nothing is made with what stands in its place.
  const [[{ id }]] = await call(one, "getACL", "/secured/a");
  await call(one, "setACL", "/secured/a", [new zookeeper.ACL(15, id)], -1);
  await assert.rejects(
    forgetful.acquire(attempt({ scope: "a" })),
    told({
      code: "STORE_REFUSED",
      message: /Pass the option acl/,
    }),
  );
  assert.ok((await ours.acquire(attempt({ scope: "a" }))).granted);
});

test("without a session the error of lease() says so, and what may be wrong", async () => {
  const options = { windowMs: 3000, maxAsyncWaitMs: 500 };
  const expected = (error) => {
    assert.equal(error.code, "STORE_UNAVAILABLE");
    assert.match(
      wholeText(error),
      /no answer within 300 ms .*: the ZooKeeper client has no session\. Check its address.*connect\(\) was called/,
    );
    return true;
  };
  // Never connected.
  const forgotten = new ZooKeeperStore(zookeeper.createClient(`127.0.0.1:${server.port}`));
  await assert.rejects(lease(forgotten, options), expected);
  // No server.
  const made = [];
  const store = new ZooKeeperStore(() => {
    made.push(zookeeper.createClient("127.0.0.1:1"));
    made.at(-1).connect();
    return made.at(-1);
  });
  await assert.rejects(lease(store, options), expected);
  const late = await lease(store, { windowMs: 3000, maxAsyncWaitMs: 0 }).catch((error) => error);
  assert.doesNotMatch(wholeText(late), /within 0 ms/);
  await store.close();
  for (const one of made) closeClient(one);
});

test("a chroot that does not exist is refused, with what to make", async () => {
  const store = await connected({ client: { chroot: "/nowhere" } });
  await assert.rejects(
    store.init({ layout: "default" }),
    told({
      code: "STORE_REFUSED",
      message:
        /\/frazil or one above it is missing\. If the address of the client has a chroot, create that znode first/,
    }),
  );
});

test("zookeeperDdl refuses a prefix that the constructor refuses", () => {
  assert.throws(() => zookeeperDdl({ layout: "default" }, { prefix: "a b/" }), {
    code: "INVALID_OPTION",
    field: "prefix",
  });
});

test("a client that says that its session is for reading only is refused; node-zookeeper-client takes no such session", async () => {
  const state = zookeeper.State.CONNECTED_READ_ONLY;
  const reader = Object.assign(Object.create(await client()), { getState: () => state });
  await assert.rejects(
    new ZooKeeperStore(reader).acquire(attempt()),
    told({
      code: "STORE_REFUSED",
      message: /ZooKeeper is read-only: its server has lost the others/,
    }),
  );
});
