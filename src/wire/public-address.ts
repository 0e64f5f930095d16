import type { BlockList } from "node:net";
import { net } from "../base/node-net.ts";

/** IPv4 networks that are not on the public internet or are not single hosts (IANA's special-purpose address registry). */
const SPECIAL_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  // Carrier-grade NAT, where some clouds also place their metadata service.
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  // Looks public, but is a cloud's agent on each of its machines.
  ["168.63.129.16", 32],
];

/** The special parts of IPv6's public block (2000::/3): protocols, tunnels that carry IPv4 addresses, documentation. */
const SPECIAL_V6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

interface Tables {
  specialV4: BlockList;
  specialV6: BlockList;
  publicV6: BlockList;
}

let tables: Tables | undefined;

function fillTables(): Tables {
  const { BlockList } = net();
  const filled: Tables = { specialV4: new BlockList(), specialV6: new BlockList(), publicV6: new BlockList() };
  for (const [network, bits] of SPECIAL_V4) filled.specialV4.addSubnet(network, bits, "ipv4");
  for (const [network, bits] of SPECIAL_V6) filled.specialV6.addSubnet(network, bits, "ipv6");
  filled.publicV6.addSubnet("2000::", 3, "ipv6");
  return filled;
}

/**
 * Whether an address is a single host on the public internet. IPv6 addresses that embed an IPv4 address (mapped, NAT64, 6to4) are
 * rejected: no public host needs one, and they would bypass the other rules.
 */
export function isPublicAddress(address: string): boolean {
  const { isIPv4, isIPv6 } = net();
  tables ??= fillTables();
  const { specialV4, specialV6, publicV6 } = tables;
  if (isIPv4(address)) return !specialV4.check(address, "ipv4");
  return isIPv6(address) && publicV6.check(address, "ipv6") && !specialV6.check(address, "ipv6");
}
