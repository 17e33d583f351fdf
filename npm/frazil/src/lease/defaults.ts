/** What options of leases are unless they are given. What is absent here is decided in the core. */

export const LEASE_DEFAULTS = { scope: "default", time: "wall", windowMs: 30_000, renew: "timer" } as const;

/** The same in a Worker, where requests renew. */
export const WORKER_LEASE_DEFAULTS = { scope: "default", time: "wall", windowMs: 300_000 } as const;
