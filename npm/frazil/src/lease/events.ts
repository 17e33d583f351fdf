/** The events of a leased generator. */
import { configError, type FrazilError } from "../base/errors.js";
import { hintOf } from "../base/option-keys.js";
import { PackageRule } from "../base/package-rules.js";

/** A lease that is held. */
export interface LeaseWindow {
  /** The node id; 0 for a layout without a node field. */
  readonly node: number;
  /** The start of the window, in Unix milliseconds of the store's clock. No ID has an earlier time. */
  readonly fromMs: number;
  /** The end of the window. No ID has this time or a later one. */
  readonly untilMs: number;
}

/** The events of a leased generator. */
export interface LeaseEvents {
  /** A lease began: IDs have this node id from now on. */
  readonly acquired: (lease: LeaseWindow) => void;
  /** The window was extended. */
  readonly renewed: (lease: LeaseWindow) => void;
  /** The lease ended, and another one is asked for. */
  readonly lost: (error: FrazilError) => void;
  /** An attempt failed or was refused. The next one follows by itself. */
  readonly refused: (error: FrazilError) => void;
}

/** The listeners of each event. @internal */
export type Listeners = { [E in keyof LeaseEvents]: Set<LeaseEvents[E]> };

/** No listeners. @internal */
export const noListeners = (): Listeners => ({
  acquired: new Set(),
  renewed: new Set(),
  lost: new Set(),
  refused: new Set(),
});

/** The listeners of an event. Refuses a name that is none, and what is no function. @internal */
export function listenersOf(listeners: Listeners, event: string, listener: unknown): Set<unknown> {
  const names = Object.keys(listeners);
  if (!names.includes(event)) {
    const known = names.join(", ");
    const hint = typeof event === "string" ? hintOf(event, known) : `Use one of ${known}.`;
    throw configError("INVALID_ARGUMENT", "event", event, `must be the name of an event\n${hint}`);
  }
  if (typeof listener !== "function") throw configError("INVALID_ARGUMENT", "listener", listener, PackageRule.FUNCTION);
  return listeners[event as keyof LeaseEvents];
}

/**
 * Calls the listeners of an event. One that throws does not stop the others or the lease: its error is thrown where nothing catches
 * it.
 *
 * @internal
 */
export function emit<E extends keyof LeaseEvents>(
  listeners: Listeners | undefined,
  event: E,
  detail: Parameters<LeaseEvents[E]>[0],
): void {
  for (const listener of [...(listeners?.[event] ?? [])] as ((detail: unknown) => void)[]) {
    try {
      listener(detail);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
