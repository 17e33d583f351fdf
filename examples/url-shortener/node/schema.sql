-- IDs are primary keys: the newest rows are together, and a range of time is a range of keys.
CREATE TABLE IF NOT EXISTS links (
  id bigint PRIMARY KEY,
  url text NOT NULL,
  alias text UNIQUE,
  expires_at_ms bigint
);
CREATE TABLE IF NOT EXISTS visits (
  id bigint PRIMARY KEY,
  link_id bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS visits_of_link ON visits (link_id);
-- How many links a client made in a slot of ten minutes.
CREATE TABLE IF NOT EXISTS clients (
  client text PRIMARY KEY,
  slot bigint NOT NULL,
  made integer NOT NULL
);
