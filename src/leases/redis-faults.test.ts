import { afterAll, describe, expect, test } from "bun:test";
import { RedisClient } from "bun";
import { startRedis } from "../../testing/redis.ts";
import { system } from "../base/system.ts";
import { Leases } from "./leases.ts";
import { RedisSource } from "./redis-source.ts";

const LIMIT = 90;
const leaseMs = 1_500;
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

let made = 0;

/** An instance with one window of slots, none of them in use. */
function instanceAt(url: string, isFirst: boolean) {
  const source = new RedisSource({ url, prefix: "faults:", leaseMs, ...system });
  const spent = { ofWindows: async () => new Map(), ofDead: async () => new Map() };
  const leases = new Leases({ source, clock: system.clock, instance: `one_${++made}`, leaseMs, isFirst, spent });
  closing.push(() => source.close());
  const window = leases.window({ name: "slots", kind: "slots", limit: LIMIT, inUse: () => 0 });
  return { leases, held: () => window.heldAt(system.clock.nowMs()), short: (needed: number) => window.short(needed) };
}

/** A server that says the same to every command, after a pause. */
function answering(text: string, afterMs = 0): string {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: async (socket) => {
        await Bun.sleep(afterMs);
        socket.write(text);
      },
    },
  });
  closing.push(() => server.stop(true));
  return `redis://127.0.0.1:${server.port}`;
}

const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;
const array = (...parts: string[]): string => `*${parts.length}\r\n${parts.join("")}`;

describe("choices 9, H29: what answers is no Redis, or not one that can be used", () => {
  const answers: readonly [what: string, answer: string, afterMs?: number][] = [
    ["another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n"],
    ["bytes without sense", "\u0000\u0001\u0002\r\n\r\n\u0003"],
    ["OK to everything", "+OK\r\n"],
    ["a number", ":7\r\n"],
    ["an empty list", "*0\r\n"],
    ["half a list", "*8\r\n$5\r\nepoch\r\n"],
    ["amounts that are none", array(bulk("e"), bulk("1"), array(bulk("many")), ...Array(4).fill("*0\r\n"), bulk("0"))],
    ["a negative amount", array(bulk("e"), bulk("1"), array(bulk("-5")), ...Array(4).fill("*0\r\n"), bulk("0"))],
    [
      "amounts of other windows",
      array(bulk("e"), bulk("1"), array(bulk("5"), bulk("5")), ...Array(4).fill("*0\r\n"), bulk("0")),
    ],
    ["that it is a replica", "-READONLY You can't write against a read only replica.\r\n"],
    ["that it is full", "-OOM command not allowed when used memory > 'maxmemory'.\r\n"],
    ["that it loads its data", "-LOADING Redis is loading the dataset in memory\r\n"],
    ["that a password is needed", "-NOAUTH Authentication required.\r\n"],
    ["the right thing after two seconds", "+OK\r\n", 2_000],
  ];
  test("nothing is taken from it, and a start says why within seconds", async () => {
    const began = performance.now();
    const started = answers.map(async ([what, answer, afterMs = 0]) => {
      const { leases } = instanceAt(answering(answer, afterMs), true);
      const reason = await leases.start().then(
        () => "it has started",
        (thrown: unknown) => thrown instanceof Error && thrown.message !== "",
      );
      return [what, reason, leases.isAnswered];
    });
    expect(await Promise.all(started)).toEqual(answers.map(([what]) => [what, true, false]));
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});

const redis = await startRedis();
closing.push(() => redis?.stop());
if (redis === undefined && process.env["CI"] === "true") throw new Error("redis-server is not installed");
if (redis === undefined) console.log("skipped: faults of a real Redis: redis-server not installed");

describe.skipIf(redis === undefined)("choices 9, H23, H29: a Redis that changes while instances hold shares", () => {
  const send = async (...commands: readonly (readonly string[])[]) => {
    const client = new RedisClient(redis?.url ?? "", { autoReconnect: false });
    for (const [command = "", ...parameters] of commands) await client.send(command, [...parameters]);
    client.close();
  };
  /** Lost while all instances are parted: the one that is back first may take all of it, beside another's equal share (decision 0046). */
  const key = "faults:{leases}:w:slots";
  const faults: readonly [what: string, begin: () => Promise<void>, end: () => Promise<void>][] = [
    ["becomes a replica", () => send(["REPLICAOF", "127.0.0.1", "1"]), () => send(["REPLICAOF", "NO", "ONE"])],
    ["has another program's value under a name of ours", () => send(["SET", key, "mine"]), () => send(["DEL", key])],
    [
      "has no memory left",
      () => send(["CONFIG", "SET", "maxmemory", "1"]),
      () => send(["CONFIG", "SET", "maxmemory", "0"]),
    ],
    ["evicts what it can", () => send(["DEL", key, "faults:{leases}:instances"]), async () => {}],
    [
      "restarts with an old copy",
      async () => {
        await redis?.halt();
        await redis?.start();
      },
      async () => {},
    ],
  ];
  for (const [what, begin, end] of faults) {
    test(`${what}: together no more than the limit is held, and it heals`, async () => {
      const url = redis?.url ?? "";
      await redis?.flush();
      const all = [instanceAt(url, true), instanceAt(url, false), instanceAt(url, false)];
      for (const { leases } of all) await leases.start();
      const sum = () => all.reduce((total, { held }) => total + held(), 0);
      let most = 0;
      const watch = async (forMs: number, shortOne?: (typeof all)[number]) => {
        for (const untilMs = Date.now() + forMs; Date.now() < untilMs; await Bun.sleep(10)) {
          shortOne?.short(LIMIT);
          most = Math.max(most, sum());
        }
      };
      await watch(300);
      await send(["SAVE"]);
      // From here on the copy is old: one of them gets what the others do not use.
      await watch(1_200, all[0]);
      expect(all[0]?.held()).toBeGreaterThan(LIMIT / 2);
      await begin();
      await watch(2 * leaseMs, all[1]);
      await end();
      await watch(3_000);
      expect(most).toBeLessThanOrEqual(what.startsWith("has another program's") ? LIMIT + LIMIT / 3 : LIMIT);
      await watch(1_500, all[2]);
      expect(all[2]?.held()).toBeGreaterThan(LIMIT / 2);
      expect(all.map(({ leases }) => leases.trouble)).toEqual([undefined, undefined, undefined]);
      expect(sum()).toBeLessThanOrEqual(LIMIT);
      for (const { leases } of all) await leases.stop();
    });
  }
});
