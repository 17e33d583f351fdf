/** What the role of a program needs in an SQL database. `init` needs INSERT on the record in addition. */
export const PERMISSIONS = [
  "GRANT SELECT, UPDATE ON {scopes} TO your_role;",
  "GRANT SELECT, INSERT, UPDATE ON {leases} TO your_role;",
];
