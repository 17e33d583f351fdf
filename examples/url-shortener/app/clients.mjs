// The client, for the limit: an IPv4 address, or the first 64 bits of an IPv6 address, because one customer has all addresses that begin
// with them.

export function clientOf(address) {
  // A server that listens on IPv6 gets IPv4 addresses in this form.
  const ipv4 = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (ipv4 !== undefined || !address.includes(":")) return ipv4 ?? address;
  const [before, after = []] = address.split("::").map((part) => part.split(":").filter(Boolean));
  const zeros = Array(Math.max(0, 8 - before.length - after.length)).fill("0");
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
