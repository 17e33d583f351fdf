-- IDs are primary keys: the newest rows are together, and a range of time is a range of keys.
CREATE TABLE IF NOT EXISTS links (
  id bigint PRIMARY KEY,
  url text NOT NULL,
  alias text UNIQUE,
  expires_at_ms bigint,
  visits bigint NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS visits (
  id bigint PRIMARY KEY,
  link_id bigint NOT NULL
);
-- Until when a client has used its share of links. An earlier time is as good as no row.
CREATE TABLE IF NOT EXISTS clients (
  client text PRIMARY KEY,
  used_until_ms bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS clients_by_time ON clients (used_until_ms);
