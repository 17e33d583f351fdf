// Fake time, installed. Import it first.
import { FakeTime } from "./fake-time.mjs";

export const time = new FakeTime();
// A static generator issues nothing that a process before this one may have issued.
time.wallStartMs = Math.ceil(performance.timeOrigin) + 60_000;
time.install();
