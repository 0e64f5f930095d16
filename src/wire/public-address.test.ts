import { describe, expect, test } from "bun:test";
import { isPublicAddress } from "./public-address.ts";

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  "this network": ["0.0.0.0", "0.255.255.255"],
  private: ["10.0.0.0", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
  "a carrier's": ["100.64.0.0", "100.100.100.200", "100.127.255.255"],
  loopback: ["127.0.0.1", "127.255.255.255", "::1"],
  "link-local": ["169.254.0.0", "169.254.169.254", "fe80::1", "febf::1", "fe80::1%eth0"],
  "for protocols": [
    "192.0.0.0",
    "192.0.0.192",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "2001::1",
    "2001:1ff::1",
  ],
  documentation: ["192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1", "3fff:fff:ffff::1"],
  multicast: ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
  reserved: ["240.0.0.0", "255.255.255.255", "::", "4000::1", "5f00::1"],
  "a cloud's agent": ["168.63.129.16"],
  "unique local": ["fc00::1", "fd00:ec2::254", "fec0::1"],
  "IPv4 inside IPv6": [
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:8.8.8.8",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
  ],
  "no address at all": [
    "",
    "localhost",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "[2606:4700::1]",
    "8.8.8.8:53",
  ],
};

/** The neighbours of each special network: a rule must not be too wide either. */
const TAKEN = [
  ["1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1"],
  [
    "168.63.129.15",
    "168.63.129.17",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
  ],
  ["192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255"],
  ["198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255"],
  ["2000::1", "2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700::1111", "2a00:1450::1", "3ffe::1"],
].flat();

describe("S12: which addresses are public", () => {
  for (const [kind, addresses] of Object.entries(REFUSED))
    test(`not public: ${kind}`, () => expect(addresses.filter(isPublicAddress)).toEqual([]));
  test("public: the neighbours of special networks", () =>
    expect(TAKEN.filter((address) => !isPublicAddress(address))).toEqual([]));
});
