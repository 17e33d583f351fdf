// A TCP proxy on loopback that tests cut: then it forwards nothing, and neither side notices, as on a broken network.
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Forwards connections to a port of this host. */
export async function startProxy(targetPort) {
  const pairs = new Set();
  const dropped = new Set();
  let isCut = false;
  let isReplyLost = false;
  let lostReplies = 0;
  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    const pair = [client, target];
    pairs.add(pair);
    client.on("data", (chunk) => target.write(chunk));
    target.on("data", (chunk) => {
      if (isReplyLost) {
        client.destroy();
        lostReplies++;
      } else client.write(chunk);
      isReplyLost = false;
    });
    for (const [from, to] of [pair, [target, client]]) {
      from.on("error", () => {});
      from.on("close", () => {
        // A paused socket still reads the end of its connection.
        if (isCut || dropped.has(to)) return;
        pairs.delete(pair);
        to.destroy();
      });
      if (isCut) from.pause();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: server.address().port,
    /** Resolves at the next connection, also while it is cut. */
    nextConnection: () => once(server, "connection"),
    cut() {
      isCut = true;
      for (const socket of [...pairs].flat()) socket.pause();
    },
    /** Data sent meanwhile arrives now, late; or, if `lose` is set, never: the connections are reset. */
    heal({ lose = false } = {}) {
      isCut = false;
      for (const pair of [...pairs]) {
        const isEnded = pair.some(({ destroyed }) => destroyed);
        if (isEnded) pairs.delete(pair);
        for (const socket of pair.filter(({ destroyed }) => !destroyed)) {
          // Node never closes a socket that is reset while its end is sent: the process spins instead of ending.
          if (lose && !socket.writableEnded) socket.resetAndDestroy();
          else if (lose || isEnded) socket.destroy();
          else socket.resume();
        }
      }
    },
    /**
     * Drops the connections that are open: nothing more is forwarded, and neither side notices. New ones work. `ended`: the server ends its
     * side, as one does after a time without a word.
     */
    drop({ ended = false } = {}) {
      for (const pair of [...pairs]) {
        pairs.delete(pair);
        const [client, target] = pair;
        client.pause();
        dropped.add(client).add(target);
        if (ended) target.destroy();
        else target.pause();
      }
    },
    /** How many replies `loseReply()` has lost. */
    get lostReplies() {
      return lostReplies;
    },
    /** Loses the next reply of the target, and ends its connection. */
    loseReply() {
      isReplyLost = true;
    },
    close() {
      for (const socket of [...[...pairs].flat(), ...dropped]) socket.destroy();
      server.close();
    },
  };
}
