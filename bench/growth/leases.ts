/**
 * `bin/bun bench/growth/leases.ts --instances 50 --keys 10000`: so many instances share the limits of so many keys through a real
 * Redis server. Prints what reaches Redis and what it costs there: while they start one after another, at rest, and under load.
 *
 * `--rate N` (500) calls a second, each with a key and at an instance drawn at random, for `--seconds N` (10). All instances are
 * in this process, which has admission and leases as a gateway does, and nothing else. `--redis URL` takes a server of your own.
 */
import { parseArgs } from "node:util";
import { RedisClient } from "bun";
import { SeededRandom } from "../../simulation/seeded-random.ts";
import { Admissions } from "../../src/access/admit.ts";
import { levelsOf } from "../../src/access/level.ts";
import type { Principal } from "../../src/access/principal.ts";
import { whenShared } from "../../src/access/share-refusal.ts";
import { SharedLimits } from "../../src/access/shared-limits.ts";
import { system } from "../../src/base/system.ts";
import { GatewayError } from "../../src/canon/error.ts";
import type { LeaseSource } from "../../src/leases/lease-source.ts";
import { Leases } from "../../src/leases/leases.ts";
import { RedisSource } from "../../src/leases/redis-source.ts";
import { startRedis } from "../../testing/redis.ts";
import { quantile } from "../statistics.ts";

const { values } = parseArgs({
  options: {
    instances: { type: "string", default: "4" },
    keys: { type: "string", default: "10000" },
    rate: { type: "string", default: "500" },
    seconds: { type: "string", default: "10" },
    redis: { type: "string" },
  },
});
const [count, keys, rate, seconds] = [values.instances, values.keys, values.rate, values.seconds].map(Number) as [
  number,
  number,
  number,
  number,
];
const LEASE_MS = 10_000;
const COST_NANO_USD = 1_000_000;
const LIMITS = { requestsPerMinute: 600, budgetUsdPerDay: 50 };

const { clock } = system;
const random = new SeededRandom(1);
const server = values.redis === undefined ? await startRedis() : undefined;
const url = values.redis ?? server?.url;
if (url === undefined) throw new Error("redis-server must be installed, or --redis name a server");
const admin = new RedisClient(url);

const principals = Array.from({ length: keys }, (_, index): Principal => {
  const named = { id: `key_${index}`, name: `key ${index}`, limits: LIMITS };
  const project = { id: "default", name: "default", limits: {} };
  const one = { keyId: named.id, keyName: named.name, project: "default", models: ["*"], limits: LIMITS };
  return { ...one, levels: levelsOf(named, { project, gateway: {} }) };
});
const levels = principals.flatMap((principal) => principal.levels);

/** What all instances have sent. */
const sent = { messages: 0, claims: 0, claimBytes: 0, wanted: 0, failures: 0, longestMs: 0 };

function watched(source: RedisSource): LeaseSource {
  return {
    sync: async (sync) => {
      sent.messages++;
      sent.claims += sync.claims.length;
      const beganMs = clock.nowMs();
      try {
        const answer = await source.sync(sync);
        sent.wanted += answer.wanted.length;
        return answer;
      } catch (thrown) {
        sent.failures++;
        throw thrown;
      } finally {
        sent.longestMs = Math.max(sent.longestMs, clock.nowMs() - beganMs);
      }
    },
    close: () => source.close(),
    set onWanted(run: () => void) {
      source.onWanted = run;
    },
  };
}

interface Instance {
  leases: Leases;
  admissions: Admissions;
}
const instances: Instance[] = [];

async function join(): Promise<void> {
  const instance = `instance_${instances.length}`;
  const source = new RedisSource({ url: url ?? "", prefix: "trivium:", leaseMs: LEASE_MS, ...system });
  const nothing = { ofWindows: async (names: readonly string[]) => new Map(names.map((name) => [name, {}])) };
  const spent = {
    ...nothing,
    ofDead: async (_: string, names: readonly string[]) => new Map(names.map((name) => [name, 0])),
  };
  const isFirst = instances.length === 0;
  const leases = new Leases({ source: watched(source), clock, instance, leaseMs: LEASE_MS, isFirst, spent });
  const shared = new SharedLimits({ leases, clock });
  const admissions = new Admissions({ ...clock, spent: () => 0, shareOf: shared.shareOf });
  shared.track(levels, admissions);
  await leases.start();
  instances.push({ leases, admissions });
}

async function serverInfo(section: string): Promise<Map<string, string>> {
  const text = String(await admin.send("INFO", [section]));
  return new Map(text.split("\r\n").map((line) => line.split(":", 2) as [string, string]));
}

async function redisState() {
  const [cpu, commands] = [await serverInfo("cpu"), await serverInfo("commandstats")];
  const stat = (name: string) => {
    const text = commands.get(`cmdstat_${name}`) ?? "";
    const of = (field: string) => Number(new RegExp(`${field}=([\\d.]+)`).exec(text)?.[1] ?? 0);
    return { calls: of("calls"), usec: of("usec") };
  };
  const seconds = Number(cpu.get("used_cpu_user")) + Number(cpu.get("used_cpu_sys"));
  return { seconds, scripts: stat("evalsha"), publishes: stat("publish").calls };
}

/** What happened at Redis meanwhile, per second. */
async function phase(name: string, work: () => Promise<unknown>): Promise<void> {
  Object.assign(sent, { messages: 0, claims: 0, wanted: 0, failures: 0, longestMs: 0 });
  const before = await redisState();
  const [beganMs, ownCpu] = [clock.nowMs(), process.cpuUsage()];
  await work();
  const took = (clock.nowMs() - beganMs) / 1000;
  const after = await redisState();
  const own = process.cpuUsage(ownCpu);
  const scripts = after.scripts.calls - before.scripts.calls;
  const usec = (after.scripts.usec - before.scripts.usec) / Math.max(1, scripts);
  const a = (amount: number) => (amount / took).toFixed(1);
  console.log(
    `${name}: ${took.toFixed(1)} s, ${a(sent.messages)} messages/s (${a(sent.claims)} claims, ${a(sent.wanted)} levels), ` +
      `${usec.toFixed(0)} µs of Redis each, slowest ${sent.longestMs.toFixed(0)} ms, ${a(after.publishes - before.publishes)} notifications/s, ` +
      `Redis ${((100 * (after.seconds - before.seconds)) / took).toFixed(1)}% of a processor, ` +
      `this process ${((own.user + own.system) / 1e4 / took).toFixed(0)}%, ${sent.failures} failed`,
  );
}

const outcomes = { admitted: 0, refused: 0 };
const waits: number[] = [];

async function call(instance: Instance, principal: Principal): Promise<void> {
  const beganMs = clock.nowMs();
  const enter = () => instance.admissions.enter(principal);
  try {
    const entry = await (async () => enter())().catch((refusal) => whenShared(refusal, enter, clock.nowMs));
    const estimate = { estimatedTokens: 100, estimatedCostNanoUsd: COST_NANO_USD, maxCostNanoUsd: 10 * COST_NANO_USD };
    const admission = await entry.admitShared({ model: "m", dialect: "chat", ...estimate });
    outcomes.admitted++;
    waits.push(clock.nowMs() - beganMs);
    await clock.sleep(random.between(20, 500));
    admission.release({ costNanoUsd: COST_NANO_USD, tokens: 100 });
  } catch (refusal) {
    if (!(refusal instanceof GatewayError)) throw refusal;
    outcomes.refused++;
  }
}

async function load(): Promise<void> {
  const calls: Promise<void>[] = [];
  const beganMs = clock.nowMs();
  for (let sentCalls = 0; sentCalls < rate * seconds; ) {
    const due = Math.min(rate * seconds, ((clock.nowMs() - beganMs) * rate) / 1000);
    for (; sentCalls < due; sentCalls++) calls.push(call(random.pick(instances), random.pick(principals)));
    await clock.sleep(5);
  }
  await Promise.all(calls);
}

await phase("the first starts", join);
for (const until of [2, Math.ceil(count / 2), count]) {
  const joining = until - instances.length;
  if (joining <= 0) continue;
  await phase(`${joining} start, to ${until}`, async () => {
    while (instances.length < until) await join();
  });
}
await phase("after the start", () => clock.sleep(5_000));
await phase("at rest", () => clock.sleep(seconds * 1000));
await phase(`${rate} calls a second`, load);
console.log(
  `${outcomes.admitted} admitted, ${outcomes.refused} refused; admission took ${quantile(waits, 0.5).toFixed(2)} ms, p99 ${quantile(waits, 0.99).toFixed(1)} ms, at most ${quantile(waits, 1).toFixed(0)} ms`,
);
const memory = await serverInfo("memory");
console.log(`Redis holds ${(Number(memory.get("used_memory")) / 1e6).toFixed(0)} MB`);
admin.close();
await server?.stop();
process.exit(0);
