/** Environment variables, where the host has them and the program may read them. */

/**
 * Whether a variable may be read. Without permission, Deno would prompt its user, so there the permission is checked first.
 */
export function mayRead(variable: string): boolean {
  const { Deno: deno } = globalThis as { Deno?: { permissions: { querySync(permission: object): { state: string } } } };
  return deno === undefined || deno.permissions.querySync({ name: "env", variable }).state === "granted";
}
