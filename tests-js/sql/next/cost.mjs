// What a call of `frazil.next()` takes in one session, beside others: node cost.mjs. Prints microseconds, the least of several rounds.
import { nextSql } from "frazil/sql";
import { PostgresServer } from "../../stores/postgres/server.mjs";

const ROUNDS = 7;
const CALLS = 100_000;

/** Each in a variable of its type, less a loop that does nothing. */
const RIVALS = {
  nothing: ["bigint", "1"],
  "nextval()": ["bigint", "nextval('plain')"],
  "frazil.next()": ["bigint", "frazil.next()"],
  "gen_random_uuid()": ["uuid", "gen_random_uuid()"],
  Instagram: ["bigint", "instagram()"],
};

// As in "Sharding & IDs at Instagram" (2012).
const INSTAGRAM = `CREATE SEQUENCE plain; CREATE FUNCTION instagram(OUT result bigint) LANGUAGE plpgsql AS $$
DECLARE
  our_epoch bigint := 1314220021721; seq_id bigint; now_millis bigint; shard_id int := 5;
BEGIN
  SELECT nextval('plain') % 1024 INTO seq_id;
  SELECT FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) INTO now_millis;
  result := (now_millis - our_epoch) << 23;
  result := result | (shard_id << 10);
  result := result | (seq_id);
END $$`;

const server = await PostgresServer.start();
try {
  await server.query(INSTAGRAM);
  await server.query(nextSql("default", { node: 5 }));
  const least = new Map();
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, [type, call]] of Object.entries(RIVALS)) {
      const [{ us }] = await server.query(`CREATE OR REPLACE FUNCTION cost() RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE value ${type}; start timestamptz;
BEGIN
  value := ${call};
  start := clock_timestamp();
  FOR i IN 1..${CALLS} LOOP value := ${call}; END LOOP;
  RETURN extract(epoch FROM clock_timestamp() - start) * 1e6 / ${CALLS};
END $$; SELECT cost() AS us`);
      least.set(name, Math.min(us, least.get(name) ?? Number.POSITIVE_INFINITY));
    }
  for (const [name, us] of least) console.log(name.padEnd(20), (us - least.get("nothing")).toFixed(2));
} finally {
  await server.stop();
}
