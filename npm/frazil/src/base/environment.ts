/** Environment variables, where the host has them and the program may read them. */

/**
 * Whether a variable may be read. Deno asks its user before it shows one that the program may not read, so there the permission is asked
 * for first.
 */
export function mayRead(variable: string): boolean {
  const { Deno: deno } = globalThis as { Deno?: { permissions: { querySync(permission: object): { state: string } } } };
  return deno === undefined || deno.permissions.querySync({ name: "env", variable }).state === "granted";
}
