// The address where the server listens, and its public origin, with which short links begin.

const refused = (name, value, rule) => new Error(`${name} is ${JSON.stringify(value)}: ${rule}`);

/** The origin in a text, with or without a slash at its end, or undefined. */
function parsed(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  return isWeb && url.href === `${url.origin}/` ? url.origin : undefined;
}

/** The address of a server on HOST. An IPv6 address has brackets there. */
export function addressOf(HOST, port) {
  const address = parsed(`http://${HOST.includes(":") ? `[${HOST}]` : HOST}:${port}`);
  const rule = "it must be a name or an address to listen on. Write for example HOST=127.0.0.1 or HOST=::1";
  if (address === undefined) throw refused("HOST", HOST, rule);
  return address;
}

/** The number in PORT. For 0, the system chooses one. */
export function portOf(PORT) {
  const rule = "it must be a whole number from 1 to 65535, or 0 for any that is free. Write for example PORT=8787";
  if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_535) throw refused("PORT", PORT, rule);
  return Number(PORT);
}

/** Why a server cannot listen, as a sentence with what to write instead. `error` is that of `listen`. */
export function cannotListen({ HOST, PORT }, { code, message }) {
  const ofPort = { EADDRINUSE: `another program listens there on ${HOST}`, EACCES: "this user may not listen there" };
  const ofHost = { EADDRNOTAVAIL: "this machine has no such address", ENOTFOUND: "no address has that name" };
  if (code in ofPort) return refused("PORT", PORT, `${ofPort[code]}. Write another one, for example PORT=8788`).message;
  if (code in ofHost) return refused("HOST", HOST, `${ofHost[code]}. Write for example HOST=127.0.0.1`).message;
  return `the server cannot listen with HOST=${HOST} and PORT=${PORT}: ${message}`;
}

/** The origin in ORIGIN. */
export function originOf(ORIGIN) {
  const origin = parsed(ORIGIN);
  const rule =
    "it must be http:// or https:// and a host, without a path. Write for example ORIGIN=https://example.com";
  if (origin === undefined) throw refused("ORIGIN", ORIGIN, rule);
  return origin;
}
