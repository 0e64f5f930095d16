import { afterAll, describe, expect, test } from "bun:test";
import { RedisClient } from "bun";
import { isPresent } from "../../testing/is-present.ts";
import { startRedis, type TemporaryRedis } from "../../testing/redis.ts";
import { system } from "../base/system.ts";
import { Leases } from "./leases.ts";
import { RedisSource } from "./redis-source.ts";

const LIMIT = 90;
const leaseMs = 1_500;
/** A limit: on an idle machine it heals within a second. */
const HEAL_MS = 15_000;
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

/** A server that gives the same response to every command. */
function answering(text: string, from?: Promise<unknown>): string {
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: async (socket) => {
        await from;
        socket.write(text);
      },
    },
  });
  closing.push(() => server.stop(true));
  return `redis://127.0.0.1:${server.port}`;
}

const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;
const array = (...parts: string[]): string => `*${parts.length}\r\n${parts.join("")}`;

describe("choices 9, H29: the server is not Redis, or not a usable one", () => {
  const answers: readonly [what: string, answer: string, isLate?: boolean][] = [
    ["another protocol", "HTTP/1.1 400 Bad Request\r\n\r\n"],
    ["bytes without sense", "\u0000\u0001\u0002\r\n\r\n\u0003"],
    ["OK to everything", "+OK\r\n"],
    ["a number", ":7\r\n"],
    ["an empty list", "*0\r\n"],
    ["half a list", "*8\r\n$5\r\nepoch\r\n"],
    [
      "amounts that are not numbers",
      array(bulk("e"), bulk("1"), array(bulk("many")), ...Array(4).fill("*0\r\n"), bulk("0")),
    ],
    ["a negative amount", array(bulk("e"), bulk("1"), array(bulk("-5")), ...Array(4).fill("*0\r\n"), bulk("0"))],
    [
      "amounts of other windows",
      array(bulk("e"), bulk("1"), array(bulk("5"), bulk("5")), ...Array(4).fill("*0\r\n"), bulk("0")),
    ],
    ["that it is a replica", "-READONLY You can't write against a read only replica.\r\n"],
    ["that it is full", "-OOM command not allowed when used memory > 'maxmemory'.\r\n"],
    ["that it loads its data", "-LOADING Redis is loading the dataset in memory\r\n"],
    ["that a password is needed", "-NOAUTH Authentication required.\r\n"],
    ["the right thing after the start has failed", "+OK\r\n", true],
  ];
  test.concurrent("nothing is taken from it, and a start reports why", async () => {
    const started = answers.map(async ([what, answer, isLate]) => {
      const failed = Promise.withResolvers<void>();
      const { leases } = instanceAt(answering(answer, isLate ? failed.promise : undefined), true);
      const reason = await leases.start().then(
        () => "it has started",
        (thrown: unknown) => thrown instanceof Error && thrown.message !== "",
      );
      failed.resolve();
      return [what, reason, leases.isAnswered];
    });
    expect(await Promise.all(started)).toEqual(answers.map(([what]) => [what, true, false]));
  });
});

type Fault = (redis: TemporaryRedis) => Promise<void>;

const send = async (redis: TemporaryRedis, ...[command = "", ...parameters]: readonly string[]) => {
  const client = new RedisClient(redis.url, { autoReconnect: false });
  await client.send(command, parameters);
  client.close();
};
const sent =
  (...command: readonly string[]): Fault =>
  (redis) =>
    send(redis, ...command);
/**
 * Lost while all instances are separated: the first to return may take all of it, in addition to the others' equal
 * shares (decision 0046).
 */
const key = "faults:{leases}:w:slots";
const FAULTS: readonly [what: string, begin: Fault, end?: Fault][] = [
  ["becomes a replica", sent("REPLICAOF", "127.0.0.1", "1"), sent("REPLICAOF", "NO", "ONE")],
  ["has another program's value under a name of ours", sent("SET", key, "mine")],
  ["has another program's value where instances are listed", sent("SET", "faults:{leases}:instances", "mine")],
  ["has no memory left", sent("CONFIG", "SET", "maxmemory", "1"), sent("CONFIG", "SET", "maxmemory", "0")],
  ["evicts what it can", sent("DEL", key, "faults:{leases}:instances")],
  [
    "restarts with an old copy",
    async (redis) => {
      await redis.halt();
      await redis.start();
    },
  ],
];

/** One for each fault: the tests mostly wait, so they run at the same time. */
const servers = await Promise.all(FAULTS.map(() => startRedis()));
for (const server of servers) closing.push(() => server?.stop());
const isInstalled = isPresent(!servers.includes(undefined), "faults of a real Redis: redis-server not installed");

describe.skipIf(!isInstalled)("choices 9, H23, H29: a Redis that changes while instances hold shares", () => {
  for (const [at, [what, begin, end]] of FAULTS.entries()) {
    test.concurrent(`${what}: together no more than the limit is held, and it heals`, async () => {
      const redis = servers[at];
      if (redis === undefined) throw new Error("no server");
      const all = [instanceAt(redis.url, true), instanceAt(redis.url, false), instanceAt(redis.url, false)];
      for (const { leases } of all) await leases.start();
      const sum = () => all.reduce((total, { held }) => total + held(), 0);
      let most = 0;
      /**
       * Runs for this long, or until it holds, which must happen in time. One of the instances requests everything
       * meanwhile.
       */
      const watch = async (forMs: number, shortOne?: (typeof all)[number], holds?: () => boolean) => {
        for (const untilMs = Date.now() + forMs; Date.now() < untilMs; await Bun.sleep(10)) {
          shortOne?.short(LIMIT);
          most = Math.max(most, sum());
          if (holds?.()) return;
        }
        if (holds !== undefined) throw new Error("it did not reach this state in time");
      };
      const [first, second, third] = all;
      await watch(300);
      await send(redis, "SAVE");
      // From here on the copy is old: one of them gets what the others do not use.
      await watch(HEAL_MS, first, () => (first?.held() ?? 0) > LIMIT / 2);
      await begin(redis);
      await watch(2 * leaseMs, second);
      await end?.(redis);
      await watch(3_000);
      expect(most).toBeLessThanOrEqual(what.startsWith("has another program's") ? LIMIT + (2 * LIMIT) / 3 : LIMIT);
      const isHealed = () =>
        (third?.held() ?? 0) > LIMIT / 2 && all.every(({ leases }) => leases.trouble === undefined);
      await watch(HEAL_MS, third, isHealed);
      expect(sum()).toBeLessThanOrEqual(LIMIT);
      for (const { leases } of all) await leases.stop();
    });
  }
});
