// Typed IDs in better-auth, whose IDs are strings: the text in columns of text, or decimal text in columns of 64 bits.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { Snowflake } from "frazil";
import { defineId } from "frazil/typed";
import { PostgresServer, poolTo } from "../../stores/postgres/server.mjs";

const ids = new Snowflake({ node: 7 });
const TYPES = {
  user: defineId("usr", { ids }),
  session: defineId("ses", { ids }),
  account: defineId("acc", { ids }),
  verification: defineId("ver", { ids }),
};
const CREDENTIALS = { email: "ada@example.com", password: "a long password" };

/** `generateId`: the ID of a model as better-auth keeps it. `inColumns`: changes the statements that make the tables. */
const KINDS = {
  "text, in the tables that better-auth makes": {
    generateId: ({ model }) => TYPES[model].format(TYPES[model].next()),
    inColumns: (sql) => sql,
    read: (type, id) => type.parse(id),
  },
  "decimal text, in columns of 64 bits": {
    generateId: ({ model }) => TYPES[model].toDriver(TYPES[model].next()),
    inColumns: (sql) => sql.replaceAll(/("id"|"userId") text/g, "$1 bigint"),
    read: (type, id) => type.fromDriver(id),
  },
};

for (const [name, { generateId, inColumns, read }] of Object.entries(KINDS))
  describe(name, () => {
    let server;
    let pool;
    let auth;
    before(async () => {
      server = await PostgresServer.start();
      pool = poolTo(server.url);
      auth = betterAuth({
        database: pool,
        secret: crypto.randomUUID() + crypto.randomUUID(),
        baseURL: "http://127.0.0.1",
        emailAndPassword: { enabled: true },
        telemetry: { enabled: false },
        advanced: { database: { generateId } },
      });
      await pool.query(inColumns(await (await getMigrations(auth.options)).compileMigrations()));
    });
    after(() => pool?.end().then(() => server.stop()));

    test("a user signs up, signs in and has a session", async () => {
      const made = await auth.api.signUpEmail({ body: { ...CREDENTIALS, name: "Ada" } });
      const id = read(TYPES.user, made.user.id);
      const { headers } = await auth.api.signInEmail({ body: CREDENTIALS, returnHeaders: true });
      const cookie = headers.getSetCookie().map((each) => each.split(";")[0]);
      const { session, user } = await auth.api.getSession({ headers: new Headers({ cookie: cookie.join("; ") }) });
      assert.deepEqual([read(TYPES.user, user.id), read(TYPES.user, session.userId)], [id, id]);

      const { rows } = await pool.query('SELECT id, "userId" FROM session ORDER BY id');
      assert.equal(rows.length, 2);
      for (const row of rows) assert.equal(read(TYPES.user, row.userId), id);
      assert.ok(read(TYPES.session, rows[1].id) > read(TYPES.session, rows[0].id));
    });
  });
