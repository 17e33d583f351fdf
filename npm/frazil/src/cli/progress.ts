/** The progress of a long input, on standard error, if a person sees it and nothing else is printed there. */
import { monotonicClock } from "../base/clock.js";

/** The interval of writing, in milliseconds. Short inputs end before the first time. */
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

  /** Clears the line for other text. */
  clear(): void {
    if (this.#lastMs > this.#startMs) process.stderr.write("\r\x1b[K");
  }
}
