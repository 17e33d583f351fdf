/** What a role of an SQL database must be allowed, as statements: for the DDL that is printed, and for errors of a server that refused. */

const SCOPES = "GRANT SELECT, UPDATE ON {scopes} TO your_role;";
const LEASES = "GRANT SELECT, INSERT, UPDATE ON {leases} TO your_role;";
const SEGMENTS = "GRANT SELECT, UPDATE ON {segments} TO your_role;";

/** What the role of a program needs in an SQL database. `init` and `initSegment` need INSERT on the record in addition. */
export const PERMISSIONS = [SCOPES, LEASES, SEGMENTS];

/** What a role needs for a statement that the server has refused. `more`: further rights of leases. */
export function rightsFor(statement: string, more: readonly string[] = []): string {
  const segments = `${SEGMENTS} initSegment() needs INSERT in addition`;
  const leases = `${[SCOPES, LEASES, ...more].join(" ")} init() needs INSERT on the first in addition`;
  if (/frazil_segments/i.test(statement)) return segments;
  return /frazil_(scopes|leases)/i.test(statement) ? leases : `for leases: ${leases}. For segments: ${segments}`;
}
