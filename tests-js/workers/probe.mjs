import { DATES, startWorker } from "./server.mjs";

for (const date of DATES) {
  const w = await startWorker({ date });
  try {
    console.log(date, await w.get("/identity"), await w.get("/identity"), await w.get("/identity"));
    for (let i = 0; i < 3; i++) console.log(await w.get("/id"));
  } finally {
    await w.stop();
  }
}
