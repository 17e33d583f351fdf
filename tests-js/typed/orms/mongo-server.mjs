// The part of MongoDB's protocol that inserts documents and finds them: Debian has no MongoDB. What a program gives and gets is made by the
// real driver and its BSON; only the documents are kept here, as bytes.
import { createServer } from "node:net";
import { BSON } from "mongodb";

const OP_MSG = 2013;
/** IDs stay exact. */
const read = (bytes) => BSON.deserialize(bytes, { useBigInt64: true });
const hello = {
  isWritablePrimary: true,
  maxBsonObjectSize: 2 ** 24,
  maxMessageSizeBytes: 2 ** 25,
  maxWriteBatchSize: 1000,
  minWireVersion: 0,
  maxWireVersion: 25,
  logicalSessionTimeoutMinutes: 30,
};

/** The sections of a message: a document, and lists of documents that belong to it. */
function commandOf(message) {
  let command = {};
  for (let at = 20; at < message.length; ) {
    const kind = message[at++];
    const size = message.readInt32LE(at);
    const section = message.subarray(at, at + size);
    if (kind === 0) command = { ...command, ...read(section) };
    else {
      const end = section.indexOf(0, 4);
      const documents = [];
      for (let from = end + 1; from < size; from += section.readInt32LE(from))
        documents.push(read(section.subarray(from, from + section.readInt32LE(from))));
      command = { ...command, [section.toString("utf8", 4, end)]: documents };
    }
    at += size;
  }
  return command;
}

const matches = (filter) => (document) =>
  Object.entries(filter ?? {}).every(([key, value]) =>
    value?.$in ? value.$in.includes(document[key]) : document[key] === value,
  );

function answer(command, collections) {
  const { insert, find, documents, filter } = command;
  if (insert) {
    collections.set(insert, [...(collections.get(insert) ?? []), ...documents]);
    return { ok: 1, n: documents.length };
  }
  if (find) {
    const firstBatch = (collections.get(find) ?? []).filter(matches(filter));
    return { ok: 1, cursor: { id: 0n, ns: `test.${find}`, firstBatch } };
  }
  return { ok: 1, ...hello };
}

/** Starts a server. Programs connect with the option `serverApi: "1"`, with which the driver has no older messages. */
export async function startMongo(collections = new Map()) {
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    let rest = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
        const message = rest.subarray(0, rest.readInt32LE(0));
        rest = rest.subarray(message.length);
        const body = Buffer.from(BSON.serialize(answer(commandOf(message), collections)));
        const head = Buffer.alloc(21);
        head.writeInt32LE(21 + body.length, 0);
        head.writeInt32LE(message.readInt32LE(4), 8);
        head.writeInt32LE(OP_MSG, 12);
        socket.write(Buffer.concat([head, body]));
      }
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `mongodb://127.0.0.1:${server.address().port}/test?directConnection=true`,
    collections,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
