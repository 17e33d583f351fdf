/** How far a long input is, on standard error, if a person sees that and nothing else is printed there. */
import { monotonicClock } from "../base/clock.js";

/** How often it is written, in milliseconds. Short inputs are over before the first time. */
const EVERY_MS = 500;

export class Progress {
  readonly #isShown = process.stderr.isTTY && !process.stdout.isTTY;
  readonly #startMs = monotonicClock();
  #lastMs = this.#startMs;

  /** Writes it, if it is time. */
  show(lines: number): void {
    const nowMs = monotonicClock();
    if (!this.#isShown || nowMs < this.#lastMs + EVERY_MS) return;
    this.#lastMs = nowMs;
    const perSecond = Math.round((lines * 1000) / (nowMs - this.#startMs));
    process.stderr.write(`\r\x1b[K${lines.toLocaleString("en")} lines, ${perSecond.toLocaleString("en")} a second`);
  }

  /** Takes it away, for something else on that line. */
  clear(): void {
    if (this.#lastMs > this.#startMs) process.stderr.write("\r\x1b[K");
  }
}
