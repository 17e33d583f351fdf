// Who asks, for the limit: a hash of the address that differs each day, so that the table keeps no addresses.

export async function clientOf(address) {
  const day = new Date().toISOString().slice(0, 10);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${day} ${address}`));
  return [...new Uint8Array(digest).subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
