-- IDs are primary keys: the newest rows are together, and a range of time is a range of keys.
CREATE TABLE links (
  id INTEGER PRIMARY KEY,
  url TEXT NOT NULL,
  alias TEXT UNIQUE,
  expires_at_ms INTEGER
);
CREATE TABLE visits (
  id INTEGER PRIMARY KEY,
  link_id INTEGER NOT NULL
);
CREATE INDEX visits_of_link ON visits (link_id);
-- How many links a client made in a slot of ten minutes.
CREATE TABLE clients (
  client TEXT PRIMARY KEY,
  slot INTEGER NOT NULL,
  made INTEGER NOT NULL
);
