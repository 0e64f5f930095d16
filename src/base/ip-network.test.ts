import { expect, test } from "bun:test";
import { isWithin, plainAddress, readNetwork } from "./ip-network.ts";

const network = (text: string) => {
  const read = readNetwork(text);
  if (read === undefined) throw new Error(`${text} is no network`);
  return read;
};

test("a network has its addresses and no others, in both families", () => {
  for (const [text, inside, outside] of [
    ["10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], ["11.0.0.0", "9.255.255.255", "::1", ""]],
    ["192.0.2.7", ["192.0.2.7"], ["192.0.2.8", "192.0.2.6"]],
    ["0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::"]],
    ["2001:db8::/32", ["2001:db8::1", "2001:DB8:ffff::"], ["2001:db9::", "10.0.0.1"]],
    ["fe80::/10", ["fe80::1%eth0"], ["fec0::1"]],
    ["::1", ["::1", "0:0:0:0:0:0:0:1"], ["::2"]],
    ["192.168.1.77/24", ["192.168.1.1"], ["192.168.2.1"]],
  ] as const) {
    for (const address of inside) expect([text, address, network(text).has(address)]).toEqual([text, address, true]);
    for (const address of outside) expect([text, address, network(text).has(address)]).toEqual([text, address, false]);
  }
});

test("an invalid network is not read", () => {
  for (const text of [
    "",
    "10.0.0.0/33",
    "10.0.0/8",
    "::/129",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "host",
    "10.0.0.1 ",
    "1.2.3.4/8/9",
  ]) {
    expect([text, readNetwork(text)]).toEqual([text, undefined]);
  }
});

test("S05: a network lies within another of its family that is as wide or wider", () => {
  for (const [inner, outer, within] of [
    ["10.1.0.0/16", "10.0.0.0/8", true],
    ["10.0.0.0/8", "10.0.0.0/8", true],
    ["10.0.0.0/8", "10.1.0.0/16", false],
    ["0.0.0.0/0", "10.0.0.0/8", false],
    ["11.0.0.0/16", "10.0.0.0/8", false],
    ["2001:db8:1::/48", "2001:db8::/32", true],
    ["2001:db8::/32", "0.0.0.0/0", false],
    ["10.0.0.0/8", "::/0", false],
  ] as const) {
    expect([inner, outer, isWithin(network(inner), network(outer))]).toEqual([inner, outer, within]);
  }
});

test("IPv4 inside IPv6 is shown as IPv4", () => {
  expect(plainAddress("::ffff:127.0.0.1")).toBe("127.0.0.1");
  expect(plainAddress("2001:db8::1")).toBe("2001:db8::1");
});
