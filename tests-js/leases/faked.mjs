// Fake time, installed. Import it first.
import { FakeTime } from "./fake-time.mjs";

export const time = new FakeTime();
time.install();
