/** What the role of a program needs in an SQL database. `init` and `initSegment` need INSERT on the record in addition. */
export const PERMISSIONS = [
  "GRANT SELECT, UPDATE ON {scopes} TO your_role;",
  "GRANT SELECT, INSERT, UPDATE ON {leases} TO your_role;",
  "GRANT SELECT, UPDATE ON {segments} TO your_role;",
];
