/** The kind of network of an address, which hints at who may be using it. */
export type AddressClass = "loopback" | "private" | "public" | "unknown";

/** Of networks that are not routed on the internet: RFC 1918, 3927, 4193, 4291 and 6598. */
const PRIVATE = [
  /^10\./,
  /^192\.168\./,
  /^172\.(1[6-9]|2\d|3[01])\./,
  /^169\.254\./,
  /^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
  /^f[cd][0-9a-f]{2}:/i,
  /^fe[89ab][0-9a-f]:/i,
];

/** Takes an address as `plainAddress` writes it. */
export function addressClass(address: string): AddressClass {
  if (address === "") return "unknown";
  if (address.startsWith("127.") || address === "::1") return "loopback";
  return PRIVATE.some((form) => form.test(address)) ? "private" : "public";
}

/** Whether only programs of this machine listen there. Names below `localhost` mean this machine, too (RFC 6761). */
export const isLoopback = (host: string): boolean => /^((.+\.)?localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);

export const isLoopbackUrl = (text: string): boolean => URL.canParse(text) && isLoopback(new URL(text).hostname);
