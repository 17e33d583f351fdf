// A connection between a client and a server that tests cut: what is sent into a cut is lost, and nobody is told.
import { connect, createServer } from "node:net";

/** Forwards connections to a port. Resolves to `{ port, cut(), loseReply(), close() }`. */
export async function startProxy(target) {
  const sockets = new Set();
  let isCut = false;
  let isReplyLost = false;
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => isCut || end());
    }
    near.on("data", (bytes) => isCut || far.write(bytes));
    far.on("data", (bytes) => {
      if (isReplyLost) end();
      else if (!isCut) near.write(bytes);
      isReplyLost = false;
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: server.address().port,
    /** Loses everything from here on, in both directions. */
    cut() {
      isCut = true;
    },
    /** Loses the next reply, and ends its connection. */
    loseReply() {
      isReplyLost = true;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
