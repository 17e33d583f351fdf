// The rules for input, and the messages for anything else.

/** A refused value: its name, and the rule. */
export class Invalid extends Error {
  constructor(field, rule) {
    super(`${field} ${rule}`);
    this.field = field;
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_DAYS = 3650;
const MAX_URL = 2048;

/** Until the IDs end, codes have 10 or 11 digits of base 62. No alias looks like that. */
export const isCode = (name) => /^[0-9A-Za-z]{10,11}$/.test(name);

/** The name of a host. A dot at its end makes no difference. */
const hostOf = ({ hostname }) => hostname.replace(/\.$/, "");

/** The target of a link, as it is sent: a letter outside ASCII takes up to nine characters there. */
export function checkUrl(value, origin) {
  const rule = `must be an address that begins with http:// or https://, of at most ${MAX_URL} characters`;
  if (typeof value !== "string" || !URL.canParse(value)) throw new Invalid("url", rule);
  const url = new URL(value);
  if ((url.protocol !== "http:" && url.protocol !== "https:") || url.href.length > MAX_URL)
    throw new Invalid("url", rule);
  if (url.username || url.password) throw new Invalid("url", "must have no user name and no password");
  if (hostOf(url) === hostOf(new URL(origin))) throw new Invalid("url", "must not lead back here");
  return url.href;
}

/** The requested name, or null. */
export function checkAlias(value) {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value !== "string" || !/^[0-9A-Za-z-]{3,32}$/.test(value))
    throw new Invalid("alias", "must be 3 to 32 letters, digits or hyphens");
  if (isCode(value)) throw new Invalid("alias", "must not look like a code: 10 or 11 letters and digits. Add a hyphen");
  if (value === "api") throw new Invalid("alias", "must be another word: this one is taken by the program");
  return value;
}

/** The end of the link, in Unix milliseconds, or null. */
export function checkExpiry(days, nowMs) {
  if (days === undefined || days === null || days === "") return null;
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS)
    throw new Invalid("expiresInDays", `must be a whole number from 1 to ${MAX_DAYS}`);
  return nowMs + days * DAY_MS;
}
