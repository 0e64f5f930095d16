import { expect, test } from "bun:test";
import { addressClass, isLoopback } from "./address-class.ts";

test.each([
  ["127.0.0.1", "loopback"],
  ["::1", "loopback"],
  ["10.1.2.3", "private"],
  ["172.16.0.1", "private"],
  ["172.32.0.1", "public"],
  ["192.168.1.1", "private"],
  ["169.254.169.254", "private"],
  ["100.64.0.1", "private"],
  ["100.128.0.1", "public"],
  ["fd00::1", "private"],
  ["fe80::1", "private"],
  ["2001:db8::1", "public"],
  ["203.0.113.7", "public"],
  ["", "unknown"],
])("%s is %s", (address, expected) => {
  expect(addressClass(address)).toBe(expected as ReturnType<typeof addressClass>);
});

test.each([
  ["localhost", true],
  ["upstream.LOCALHOST", true],
  ["127.0.0.9", true],
  ["[::1]", true],
  ["notlocalhost", false],
  ["localhost.example.com", false],
])("%s is this machine: %p", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
