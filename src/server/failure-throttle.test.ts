import { expect, test } from "bun:test";
import { system } from "../base/system.ts";
import { FailureThrottle } from "./failure-throttle.ts";

function harness() {
  const clock = { ms: 0 };
  const waits: number[] = [];
  const sleep = async (ms: number) => void waits.push(ms);
  const throttle = new FailureThrottle({ ...system.clock, nowMs: () => clock.ms, sleep });
  const fail = async (address: string, times: number) => {
    waits.length = 0;
    for (let time = 0; time < times; time++) await throttle.failed(address);
    return waits.length;
  };
  return { clock, fail };
}

test("S21: a hundred wrong credentials a minute are refused at once, each further one after a second", async () => {
  const { clock, fail } = harness();
  expect(await fail("10.0.0.1", 100)).toBe(0);
  expect(await fail("10.0.0.1", 5)).toBe(5);
  expect(await fail("10.0.0.2", 100)).toBe(0);
  clock.ms += 60_000;
  expect(await fail("10.0.0.1", 100)).toBe(0);
});

test("S21: an IPv6 network counts as one address", async () => {
  const { fail } = harness();
  await fail("2001:db8:0:1:aaaa::1", 100);
  expect(await fail("2001:db8:0:1:bbbb:1:2:3", 1)).toBe(1);
  expect(await fail("2001:db8:0:2::1", 1)).toBe(0);
  await fail("2001:db8::1", 100);
  expect(await fail("2001:db8:0:0:1::", 1)).toBe(1);
  expect(await fail("::ffff:10.0.0.1", 100)).toBe(0);
  expect(await fail("::ffff:10.0.0.2", 100)).toBe(0);
});

test("S21: a hundred thousand addresses take the memory of ten thousand", async () => {
  const { fail } = harness();
  for (let host = 0; host < 10_000; host++) await fail(`10.${host >> 8}.${host & 255}.1`, 1);
  expect(await fail("10.0.0.1", 99)).toBe(0);
  expect(await fail("11.0.0.1", 100)).toBe(0);
  expect(await fail("11.0.0.2", 1)).toBe(1);
});
