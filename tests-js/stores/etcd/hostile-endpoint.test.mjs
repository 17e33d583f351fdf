// An endpoint that is not etcd, or is an attacker's: errors are short and contain no secret of the options, and no endless answer is kept
// in memory.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { EtcdStore } from "frazil/stores/etcd";
import { wholeText } from "../../base/rule-texts.mjs";

const PASSWORD = 'a "quoted" pass-word';
const TOKEN = "token-of-somebody";

/** Serves requests while `work` runs. `answer` gets each request, with its body, and its response. */
async function serving(answer, work) {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.on("error", () => {});
    answer({ headers: request.headers, body }, response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await work(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const request = {
  scope: "default",
  grant: "a".repeat(32),
  nonce: "b".repeat(32),
  windowMs: 1000,
  owner: "me",
  layout: "default",
};
/** The error of a request to an endpoint. */
const errorAt = (url, options) =>
  new EtcdStore({ endpoints: [url], timeoutMs: 60_000, ...options }).acquire(request).then(
    () => assert.fail("it was granted"),
    (error) => error,
  );
const failure = (message) => JSON.stringify({ code: 13, message });

/** What printing an error shows. */
const textOf = (error) => `${error.stack} ${JSON.stringify(error)} ${error.cause}`;
const shows = (error, ...secrets) =>
  secrets.some((secret) => [secret, JSON.stringify(secret).slice(1, -1)].some((form) => textOf(error).includes(form)));

test("a message of half a megabyte is cut, and has no control characters", async () => {
  const answer = (_, response) => response.writeHead(400).end(failure(`\u001b[2Jboom ${"x".repeat(500_000)}`));
  const error = await serving(answer, errorAt);
  assert.equal(error.code, "STORE_UNAVAILABLE");
  assert.match(error.message, /answered 13 \(.\[2Jboom x{200,300}…\)/);
  assert.ok(!wholeText(error).includes("\u001b"));
});

test("an answer without an end is refused before it is in memory", async () => {
  let sent = 0;
  const chunk = Buffer.alloc(2 ** 16, "x");
  const endless = (_, response) => {
    const send = () => {
      while (sent < 2 ** 29 && !response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", send);
      }
      response.end();
    };
    send();
  };
  const error = await serving(endless, errorAt);
  assert.deepEqual([error.code, /more than 1048576 bytes/.test(error.message)], ["STORE_REFUSED", true]);
  assert.ok(sent < 2 ** 26, `${sent} bytes were taken`);
});

const echoes = {
  "the body": ({ body }, response) => response.writeHead(400).end(failure(`cannot parse ${body}`)),
  "the body in base64": ({ body }, response) => response.writeHead(400).end(failure(`bad request {${btoa(body)}}`)),
  "the headers": ({ headers }, response) =>
    response.writeHead(400).end(failure(`bad headers ${JSON.stringify(headers)}`)),
  "the token as the date": ({ headers }, response) =>
    response.writeHead(200, { Date: headers.authorization ?? "never" }).end('{"header":{}}'),
};
for (const [name, echo] of Object.entries(echoes)) {
  test(`an endpoint that answers with ${name} puts no secret into an error`, async () => {
    const user = { username: "app", password: PASSWORD };
    const bearer = { token: () => TOKEN, headers: { "X-Proxy-Key": "key-of-the-proxy" } };
    for (const options of [user, bearer]) {
      const error = await serving(echo, (url) => errorAt(url, options));
      assert.match(error.code, /^STORE_/);
      assert.ok(!shows(error, PASSWORD, TOKEN, "key-of-the-proxy", btoa(PASSWORD).slice(4, 16)), textOf(error));
    }
  });
}

test("what etcd itself says is shown", async () => {
  const said = "etcdserver: authentication failed, invalid user ID or password";
  const answer = (_, response) => response.writeHead(400).end(JSON.stringify({ code: 3, message: said }));
  const { message } = await serving(answer, (url) => errorAt(url, { username: "app", password: PASSWORD }));
  assert.ok(message.includes(said), message);
});

test("the checker sees a secret", () => {
  assert.ok(shows(new Error(`it has ${JSON.stringify({ password: PASSWORD })}`), PASSWORD));
});
