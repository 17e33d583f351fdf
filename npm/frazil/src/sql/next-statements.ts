/** The statements of `nextSql`. `next.ts` says what they keep, and completes what is in braces. */

/**
 * What a copy does not have: a database that was cloned by TEMPLATE has another OID, one that was loaded elsewhere also another system
 * identifier, and one that was loaded in its place another sequence.
 */
export const HERE = `(SELECT system_identifier FROM pg_control_system())::text || '/' ||
    (SELECT oid FROM pg_database WHERE datname = current_database())::text || '/' || {checked}`;

/** Moves the word beyond all that can have been issued unseen. */
export const BEYOND = `PERFORM setval('{schema}.next_word', greatest({schema}.next_tick() + {lost}, {following}) << {counterBits}, false)
      FROM {schema}.next_word`;

export const UP = `-- {schema}.next(): an ID of the layout "{layout}" as the default of a column:
--   id bigint PRIMARY KEY DEFAULT {schema}.next()
-- For Postgres 13 or later, without a superuser or an extension. It may run again. Printed by frazil: see the page "IDs made by Postgres".
-- One statement: if it fails, all stays as it was.
DO $install$
DECLARE
  path text := current_setting('search_path');
  here text;
  home record;
  other text;
BEGIN
  -- Operators and functions of others, as in public, would run with the rights of who installs it.
  PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
  -- One after the other, in all schemas.
  PERFORM pg_advisory_xact_lock({installLock});
  IF to_regnamespace('{schema}') IS NULL THEN CREATE SCHEMA {schema}; END IF;
  -- The word: the tick above {counterBits} bits of a counter. Nobody else may change it.
  CREATE SEQUENCE IF NOT EXISTS {schema}.next_word AS bigint MINVALUE 0 START 0 CACHE 1 NO CYCLE;
  -- Which database this is, and what its IDs have in common.
  CREATE TABLE IF NOT EXISTS {schema}.next_home (database text NOT NULL, layout text NOT NULL, node bigint NOT NULL);
  -- Has no page after a crash or a promotion, and one as soon as a row was written, even if that was rolled back.
  CREATE UNLOGGED TABLE IF NOT EXISTS {schema}.next_incarnation (since timestamptz NOT NULL);

  here := {here};
  SELECT min(nspname::text) INTO other FROM pg_proc JOIN pg_namespace spaces ON spaces.oid = pronamespace
  WHERE proname = 'next' AND pronamespace <> '{schema}'::regnamespace AND strpos(prosrc, 'RETURN {id};') > 0;
  IF other IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = format('the schema "%s" has a next() with this node id', other),
      HINT = 'Use that one, remove it with down, or reserve another node id.';
  END IF;
  -- What another role put there before might have triggers, and its owner could set the word.
  SELECT min(owner::regrole::text) INTO other FROM (
    SELECT relowner AS owner FROM pg_class
    WHERE oid IN ('{schema}.next_word'::regclass, '{schema}.next_home'::regclass, '{schema}.next_incarnation'::regclass)
    UNION SELECT proowner FROM pg_proc WHERE oid IN (to_regprocedure('{schema}.next()'),
      to_regprocedure('{schema}.next_moved(bigint)'), to_regprocedure('{schema}.next_check()'), to_regprocedure('{schema}.next_tick()'))
  ) AS owners WHERE owner <> current_user::regrole;
  IF other IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = '42501', MESSAGE = format('{schema}.next() or a part of it belongs to another role, %s', other),
      HINT = format('If that made it from this SQL, run it as that role: SET ROLE %s;', other);
  END IF;
  -- Default privileges may let others write.
  FOR other IN SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END
    FROM pg_class, aclexplode(relacl) AS given WHERE relnamespace = '{schema}'::regnamespace
      AND relname IN ('next_word', 'next_home', 'next_incarnation') AND grantee <> relowner
  LOOP
    EXECUTE format('REVOKE USAGE, UPDATE ON SEQUENCE {schema}.next_word FROM %s', other);
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER ON {schema}.next_home, {schema}.next_incarnation FROM %s', other);
  END LOOP;
  SELECT * INTO home FROM {schema}.next_home;
  IF home.layout IS NULL THEN
    INSERT INTO {schema}.next_home VALUES (here, '{layout}', {node});
  ELSIF home.layout <> '{layout}' THEN
    RAISE EXCEPTION USING ERRCODE = '55000',
      MESSAGE = format('{schema}.next() was made with another layout, "%s"', home.layout),
      HINT = 'Remove it first, with down, or choose another schema.';
  ELSIF home.database <> here AND home.node = {node} THEN
    RAISE EXCEPTION USING ERRCODE = '55000',
      MESSAGE = 'this is a copy of the database that issues IDs with this node id',
      HINT = 'Reserve another node id for the copy. If the other database is gone for ever, first DELETE FROM {schema}.next_home.';
  ELSE
    UPDATE {schema}.next_home SET database = here, node = {node};
  END IF;

-- The tick of the clock. One expression, which the planner puts into its callers.
CREATE OR REPLACE FUNCTION {schema}.next_tick() RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL UNSAFE AS $frazil$
  SELECT pg_catalog.floor({ticks})::bigint
$frazil$;

-- Once in each session: is this the database, and was the word moved since a crash or a promotion?
CREATE OR REPLACE FUNCTION {schema}.next_check() RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $frazil$
BEGIN
  IF NOT EXISTS (SELECT FROM {schema}.next_home WHERE database = {here} AND node = {node}) THEN
    RAISE EXCEPTION USING ERRCODE = '55000',
      MESSAGE = 'this database is a copy, and another one may issue the IDs of its node id',
      HINT = 'Reserve another node id, and run the SQL of frazil for that.';
  END IF;
  IF NOT EXISTS (SELECT FROM pg_sequence WHERE seqrelid = '{schema}.next_word'::regclass AND seqtypid = 'bigint'::regtype
      AND seqcache = 1 AND seqincrement = 1 AND seqmin = 0 AND seqmax = {maxWord} AND NOT seqcycle) THEN
    RAISE EXCEPTION USING ERRCODE = '55000',
      MESSAGE = 'the sequence {schema}.next_word was altered',
      HINT = 'ALTER SEQUENCE {schema}.next_word AS bigint MINVALUE 0 MAXVALUE {maxWord} INCREMENT 1 CACHE 1 NO CYCLE;';
  END IF;
  IF {schema}.next_tick() + {lost} > {maxTick} THEN
    RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = 'the time field of the layout has ended';
  END IF;
  -- By its size: a call that is cancelled while it waits for the clock must not leave the same wait to the next one.
  IF pg_relation_size('{schema}.next_incarnation') = 0 THEN
    BEGIN
      PERFORM pg_advisory_xact_lock({lock});
      {beyond};
      RAISE EXCEPTION SQLSTATE '{leave}';
    EXCEPTION WHEN SQLSTATE '{leave}' THEN NULL;
    END;
  END IF;
  -- A row that is committed keeps the page.
  IF NOT EXISTS (SELECT FROM {schema}.next_incarnation) THEN
    INSERT INTO {schema}.next_incarnation VALUES (clock_timestamp());
  END IF;
  PERFORM set_config('{flag}', {checked}, false);
END $frazil$;

-- The word to issue, where the one that was taken may not be: unchecked, full, behind, or too far ahead.
CREATE OR REPLACE FUNCTION {schema}.next_moved(word bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $frazil$
DECLARE
  taken bigint; -- the tick of the word
  tick bigint; -- of the clock
  is_full boolean;
  lag bigint := 0; -- how far the ID may be behind: not at all before a move
  wait_ms bigint;
  waited_ms bigint := 0;
BEGIN
  IF current_setting('{flag}', true) IS DISTINCT FROM {checked} THEN
    PERFORM {schema}.next_check();
    word := nextval('{schema}.next_word');
  END IF;
  LOOP
    taken := word >> {counterBits};
    is_full := {counter} >= {sequences};
    tick := {schema}.next_tick();
    wait_ms := (taken + is_full::int - tick - {maxLead}) * {tickMs};
    IF wait_ms > 0 THEN
      IF waited_ms + wait_ms > {maxWaitMs} THEN
        RAISE EXCEPTION USING ERRCODE = '55000',
          MESSAGE = format('IDs are %s ms further ahead of the clock than they may be', wait_ms),
          HINT = 'Retry when the clock has reached them. Did it go back?';
      END IF;
      wait_ms := least(wait_ms, {pauseMs});
      PERFORM pg_sleep(wait_ms / 1000.0);
      waited_ms := waited_ms + wait_ms;
      CONTINUE;
    END IF;
    IF NOT is_full AND taken >= tick - lag THEN RETURN word; END IF;
    IF greatest(tick, taken + is_full::int) > {maxTick} THEN
      RAISE EXCEPTION USING ERRCODE = '55000', MESSAGE = 'the time field of the layout has ended';
    END IF;
    -- The exception releases the lock, and setval stays.
    BEGIN
      IF is_full OR taken < tick - {maxLag} THEN
        PERFORM pg_advisory_xact_lock({lock});
      ELSIF NOT pg_try_advisory_xact_lock({lock}) THEN
        RETURN word;
      END IF;
      -- Only from the tick of this word, and only to a later one.
      PERFORM setval('{schema}.next_word', greatest({schema}.next_tick(), {following}) << {counterBits}, false)
      FROM {schema}.next_word WHERE last_value >> {counterBits} = taken;
      RAISE EXCEPTION SQLSTATE '{leave}';
    EXCEPTION WHEN SQLSTATE '{leave}' THEN NULL;
    END;
    lag := {maxLag};
    word := nextval('{schema}.next_word');
  END LOOP;
END $frazil$;

CREATE OR REPLACE FUNCTION {schema}.next() RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $frazil$
DECLARE
  word bigint := nextval('{schema}.next_word');
BEGIN
  -- Twice the lead less its limit, because next_tick() stands only once so: it is within 0 and the limit.
  IF current_setting('{flag}', true) IS DISTINCT FROM {checked} OR {counter} >= {sequences}
    OR abs(2 * ((word >> {counterBits}) - {schema}.next_tick()) - {maxLead}) > {maxLead} THEN
    word := {schema}.next_moved(word);
  END IF;
  RETURN {id};
END $frazil$;

-- Who may call it.
REVOKE ALL ON FUNCTION {schema}.next(), {schema}.next_moved(bigint), {schema}.next_check(), {schema}.next_tick() FROM PUBLIC;
{grant}

  -- Another sequence may have issued IDs with this node id until now, and another one may be given the old node id.
  IF home.database IS DISTINCT FROM here OR home.node <> {node} THEN
    ALTER SEQUENCE {schema}.next_word CACHE 1; -- waits for transactions that have called it, and keeps others waiting
    {beyond} WHERE last_value > 0;
  END IF;
  PERFORM set_config('search_path', path, true);
END $install$;
`;

export const DOWN = `-- Removes {schema}.next(), unless a column still has it as its default. The schema stays.
DO $down$ BEGIN
  DROP FUNCTION IF EXISTS {schema}.next();
  -- Before the tables, as calls take them.
  DROP SEQUENCE IF EXISTS {schema}.next_word;
  DROP TABLE IF EXISTS {schema}.next_incarnation, {schema}.next_home;
  DROP FUNCTION IF EXISTS {schema}.next_moved(bigint), {schema}.next_check(), {schema}.next_tick();
END $down$;
`;
