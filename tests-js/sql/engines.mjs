// DuckDB and ClickHouse in a process of Python: their wheels have the engines.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { tools } from "../../scripts/tools.mjs";

const PROGRAM = fileURLToPath(new URL("engine.py", import.meta.url));

/** Starts an engine. `ask({ script, query })` runs a script, then a query, and returns its first row. */
export function startEngine(name) {
  const child = spawn("python3", [PROGRAM, name], {
    env: { ...process.env, PYTHONPATH: tools.sqlEngines },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async ask(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error(`${name} ended`);
      const answer = JSON.parse(value);
      if (Array.isArray(answer)) return answer;
      throw new Error(answer.error);
    },
    stop: () => child.stdin.end(),
  };
}
