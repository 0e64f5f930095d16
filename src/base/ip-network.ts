import { net } from "./node-net.ts";

type Family = "ipv4" | "ipv6";

/** A range of IP addresses. */
export interface IpNetwork {
  /** As it was written, with its bits. */
  readonly text: string;
  /** Its first bits count. */
  readonly bits: number;
  /** An address that lies in it. */
  readonly address: string;
  has(address: string): boolean;
}

/** `10.0.0.0/8`, `2001:db8::/32`, or one address; undefined if invalid. */
export function readNetwork(written: string): IpNetwork | undefined {
  const { address = "", bits: digits } = /^(?<address>[^/\s]+)(?:\/(?<bits>\d{1,3}))?$/.exec(written)?.groups ?? {};
  const family = familyOf(address);
  if (family === undefined) return undefined;
  const most = family === "ipv4" ? 32 : 128;
  const bits = digits === undefined ? most : Number(digits);
  if (bits > most) return undefined;
  const { BlockList } = net();
  const list = new BlockList();
  list.addSubnet(address, bits, family);
  return {
    text: `${address}/${bits}`,
    bits,
    address,
    has: (other) => {
      const plain = plainAddress(other);
      return familyOf(plain) === family && list.check(plain, family);
    },
  };
}

export const isWithin = (inner: IpNetwork, outer: IpNetwork): boolean =>
  inner.bits >= outer.bits && outer.has(inner.address);

/** The usual form of an address: IPv4 inside IPv6 becomes IPv4, and an interface is removed. */
export function plainAddress(address: string): string {
  const [bare = ""] = address.split("%");
  const mapped = /^::ffff:(?<inner>\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.groups?.["inner"];
  return mapped ?? bare;
}

function familyOf(address: string): Family | undefined {
  const { isIPv4, isIPv6 } = net();
  if (isIPv4(address)) return "ipv4";
  return isIPv6(address) ? "ipv6" : undefined;
}
