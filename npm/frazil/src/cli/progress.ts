/** The progress of a long input, on standard error, if a person sees it and nothing else is printed there. */
import { monotonicClock } from "../base/clock.js";

/** The interval of writing, in milliseconds. Short inputs end before the first time. */
const EVERY_MS = 500;

export class Progress {
  readonly #isShown: boolean;
  readonly #startMs = monotonicClock();
  #lastMs = this.#startMs;

  /** Without `isShown`: if the answers are not on the terminal as well. */
  constructor(isShown = process.stderr.isTTY && !process.stdout.isTTY) {
    this.#isShown = isShown;
  }

  /** Writes it, if it is time. `done`: the share of all, if that is known. */
  show(count: number, of = "lines", done = Number.NaN): void {
    const nowMs = monotonicClock();
    if (!this.#isShown || nowMs < this.#lastMs + EVERY_MS) return;
    this.#lastMs = nowMs;
    const ms = nowMs - this.#startMs;
    const perSecond = Math.round((count * 1000) / ms);
    const left = done > 0 ? `, ${Math.floor(done * 100)} %, ${Math.ceil((ms / done - ms) / 1000)} s left` : "";
    process.stderr.write(
      `\r\x1b[K${count.toLocaleString("en")} ${of}, ${perSecond.toLocaleString("en")} a second${left}`,
    );
  }

  /** Clears the line for other text. */
  clear(): void {
    if (this.#lastMs > this.#startMs) process.stderr.write("\r\x1b[K");
  }
}
