-- IDs are primary keys: the newest rows are together, and a range of time is a range of keys.
CREATE TABLE links (
  id INTEGER PRIMARY KEY,
  url TEXT NOT NULL,
  alias TEXT UNIQUE,
  expires_at_ms INTEGER,
  visits INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE visits (
  id INTEGER PRIMARY KEY,
  link_id INTEGER NOT NULL
);
-- Until when a client has used its share of links. An earlier time is as good as no row.
CREATE TABLE clients (
  client TEXT PRIMARY KEY,
  used_until_ms INTEGER NOT NULL
);
CREATE INDEX clients_by_time ON clients (used_until_ms);
