import { type IpNetwork, plainAddress, readNetwork } from "../base/ip-network.ts";

/** The client's address, from its connection and the headers of its request. */
export type ClientAddress = (peer: string, headers: Headers) => string;

/**
 * Anybody can send X-Forwarded-For, so it is used only from configured proxies. Each proxy appends the address of its
 * client, so the last address that is not such a proxy is the client's, whatever it wrote before that.
 */
export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = trustedProxies.map(readNetwork).filter((network): network is IpNetwork => network !== undefined);
  const isTrusted = (address: string) => trusted.some((network) => network.has(address));
  if (trusted.length === 0) return plainAddress;
  return (peer, headers) => {
    let client = plainAddress(peer);
    const hops = headers.get("x-forwarded-for")?.split(",") ?? [];
    while (isTrusted(client)) {
      const before = hops.pop()?.trim();
      if (before === undefined || before === "") return client;
      client = plainAddress(withoutPort(before));
    }
    return client;
  };
}

/** Some proxies add the port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function withoutPort(hop: string): string {
  const bracketed = /^\[(?<inner>[^\]]+)\](?::\d+)?$/.exec(hop)?.groups?.["inner"];
  if (bracketed !== undefined) return bracketed;
  return /^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(":")) : hop;
}
