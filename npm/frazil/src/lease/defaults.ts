/** The defaults of lease options. The core decides the others. */

export const LEASE_DEFAULTS = { scope: "default", time: "wall", windowMs: 30_000, renew: "timer" } as const;

/** The same in a Worker, where requests renew. */
export const WORKER_LEASE_DEFAULTS = { scope: "default", time: "wall", windowMs: 300_000 } as const;
