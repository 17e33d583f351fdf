// A Java server of Meituan Leaf, played by its documented rules: registration, start check, upload, local file, minting. It appends its IDs
// to a file. Options as JSON: port (of ZooKeeper), leafName, ip, leafPort, out, folder (for its local file).
import { mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import zookeeper from "node-zookeeper-client";

const TWEPOCH = 1288834974657n;
const WAIT_FOR_ZOOKEEPER_MS = 2000; // 22 s in Leaf
const options = JSON.parse(process.argv[2]);
const { port, leafName, ip, leafPort, out, folder } = options;
const address = `${ip}:${leafPort}`;
const forever = `/snowflake/${leafName}/forever`;
const propertiesOf = join(folder, leafName, "leafconf", leafPort, "workerID.properties");
const report = (event, more) => process.stdout.write(`${JSON.stringify({ event, ...more })}\n`);

const client = zookeeper.createClient(`127.0.0.1:${port}`, { sessionTimeout: 6000, spinDelay: 50 });
const call = (name, ...args) =>
  new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("no connection")), WAIT_FOR_ZOOKEEPER_MS).unref();
    client[name](...args, (error, ...results) => (error ? reject(error) : resolve(results)));
  });
const data = () => Buffer.from(JSON.stringify({ ip, port: leafPort, timestamp: Date.now() }));

let workerId = 0;
let lastUpdate = 0;

async function createNode() {
  const parents = forever.split("/").slice(1);
  for (const [at] of parents.entries())
    await call("create", `/${parents.slice(0, at + 1).join("/")}`).catch((error) => {
      if (error.name !== "NODE_EXISTS") throw error;
    });
  const [path] = await call("create", `${forever}/${address}-`, data(), zookeeper.CreateMode.PERSISTENT_SEQUENTIAL);
  return path;
}

function uploadEvery3Seconds(path) {
  const upload = async () => {
    if (Date.now() >= lastUpdate) {
      await call("setData", path, data(), -1).then(
        () => {
          lastUpdate = Date.now();
        },
        () => {},
      );
    }
    setTimeout(upload, 3000);
  };
  setTimeout(upload, 1000);
}

function updateLocalWorkerId() {
  mkdirSync(join(propertiesOf, ".."), { recursive: true });
  writeFileSync(propertiesOf, `workerID=${workerId}`);
}

async function init() {
  try {
    client.connect();
    const [stat] = await call("exists", forever);
    if (stat === null) {
      // The number that ZooKeeper gave is not looked at.
      const path = await createNode();
      updateLocalWorkerId();
      uploadEvery3Seconds(path);
      return report("first", { workerId });
    }
    const [keys] = await call("getChildren", forever);
    const paths = new Map();
    for (const key of keys) {
      const [name, number] = key.split("-");
      if (!/^\d+$/.test(number ?? "")) throw new Error(`NumberFormatException: ${key}`);
      paths.set(name, { key, number: Number(number) });
    }
    const own = paths.get(address);
    let path;
    if (own === undefined) {
      path = await createNode();
      workerId = Number(path.split("-")[1]);
    } else {
      path = `${forever}/${own.key}`;
      workerId = own.number;
      const [text] = await call("getData", path);
      const { timestamp, ...rest } = JSON.parse(text);
      if (Object.keys(rest).sort().join() !== "ip,port") throw new Error("UnrecognizedPropertyException");
      if (timestamp > Date.now()) throw new Error("CheckLastTimeException");
    }
    uploadEvery3Seconds(path);
    updateLocalWorkerId();
    report(own ? "old" : "new", { workerId });
  } catch (error) {
    report("start error", { message: error.message });
    try {
      workerId = Number(/workerID=(\d+)/.exec(readFileSync(propertiesOf, "utf8"))[1]);
    } catch {
      report("no local file", {});
      process.exit(1);
    }
    report("local file", { workerId });
  }
}

let last = 0;
let sequence = 0;
/** An ID, or undefined where Leaf answers with an error. */
function mint() {
  let now = Date.now();
  if (now < last) return undefined;
  if (now === last) {
    sequence = (sequence + 1) & 4095;
    if (sequence === 0) {
      sequence = Math.floor(Math.random() * 100);
      while (now <= last) now = Date.now();
    }
  } else sequence = Math.floor(Math.random() * 100);
  last = now;
  return ((BigInt(now) - TWEPOCH) << 22n) | (BigInt(workerId) << 12n) | BigInt(sequence);
}

await init();
if (workerId > 1023) {
  report("workerID must gte 0 and lte 1023", { workerId });
  process.exit(1);
}
const file = openSync(out, "a");
setInterval(() => {
  const ids = new BigUint64Array(Array.from({ length: 100 }, mint).filter((id) => id !== undefined));
  writeSync(file, ids);
}, 2);
