import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { SeededRandom } from "../../simulation/seeded-random.ts";
import { CatchUps, type Member } from "../../src/app/workers/catch-ups.ts";
import type { Random } from "../../src/base/sources.ts";
import { LeaseTable } from "../../src/leases/lease-table.ts";
import { Leases } from "../../src/leases/leases.ts";
import type { Siblings } from "../../src/storage/changes.ts";
import { ADMIN_SECRET, AdminHarness } from "../../testing/admin-harness.ts";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";

const SEEDS = 12;
const STEPS = 60;
const LONGEST_MS = 120;

/** Ids and secrets that differ. */
function countedRandom(): Random {
  let made = 0;
  const digest = () => createHash("sha512").update(String(++made)).digest();
  return {
    id: () => digest().toString("hex").slice(0, 22),
    bytes: (length) => new Uint8Array(digest().subarray(0, length)),
  };
}

/** Workers of one gateway in memory. Their messages take as long as the seed says. */
class World {
  readonly machine: Machine;
  readonly workers: AdminHarness[] = [];
  readonly slow: string[] = [];
  readonly ended: string[] = [];
  readonly catchUps: CatchUps;
  /** What a worker does with a question, if it is not well. */
  ill: { name: string; answers?: boolean } | undefined;
  readonly #delay: () => number;
  readonly #table: LeaseTable;

  private constructor(machine: Machine, delay: () => number) {
    this.machine = machine;
    this.#delay = delay;
    const { clock, random } = machine;
    this.catchUps = new CatchUps({
      clock,
      onSlow: (name) => this.slow.push(name),
      onSilent: (name) => this.ended.push(name),
    });
    this.#table = new LeaseTable({ leaseMs: 10_000, nowMs: clock.nowMs, epoch: random.id });
  }

  static async start(count: number, delay: () => number = () => 0): Promise<World> {
    const machine = { ...(await makeMachine()), random: countedRandom() };
    const world = new World(machine, delay);
    machine.upstream.play(
      machine.upstream.json(plainAnswer("chat", { text: "yes", usage: plainUsage("chat", 10, 10) })),
    );
    for (let made = 1; made <= count; made++) await world.add(`worker ${made}`, count > 1);
    return world;
  }

  async add(name: string, hasOthers = true): Promise<void> {
    const { machine } = this;
    const { clock } = machine;
    const source = {
      sync: async (sync: Parameters<LeaseTable["sync"]>[0]) => this.#table.sync(sync),
      close: async () => {},
    };
    const spent = { ofWindows: async () => new Map(), ofDead: async () => new Map() };
    const leases = new Leases({ source, clock, instance: name, leaseMs: 10_000, spent, isFirst: true });
    const siblings = this.#siblingsOf(name);
    const config = scriptedModels(UPSTREAM_URL);
    const gateway = await Harness.start({ config, machine, ...(hasOthers && { siblings, leases }) });
    if (hasOthers) await clock.until(leases.start());
    await clock.until(gateway.gateway.changes.join());
    this.workers.push(AdminHarness.over(gateway));
  }

  #siblingsOf(name: string): Siblings {
    const { clock } = this.machine;
    let catchUp: Parameters<Siblings["join"]>[0] = async () => {};
    const member: Member = {
      name,
      ask: (number, place) => {
        if (this.ill?.name === name && this.ill.answers === undefined) return;
        void clock.sleep(this.#delay()).then(async () => {
          const hasCaughtUp = this.ill?.name === name ? false : await catchUp(place).then(() => true);
          await clock.sleep(this.#delay());
          this.catchUps.answered(member, number, hasCaughtUp);
        });
      },
      end: () => this.catchUps.leave(member),
    };
    return {
      join: async (given) => {
        catchUp = given;
        this.catchUps.join(member);
      },
      catchUp: (place) => this.catchUps.run(member, place),
    };
  }

  at(worker: number): AdminHarness {
    const found = this.workers[worker % this.workers.length];
    if (found === undefined) throw new Error("there is no worker");
    return found;
  }

  async admin(worker: number, method: string, path: string, body?: object) {
    return await this.at(worker).ask(method, path, { secret: ADMIN_SECRET, ...(body && { body }) });
  }

  async send(worker: number, key: string) {
    const body = { model: "test/chat", max_completion_tokens: 50, messages: [{ role: "user", content: "Is it so?" }] };
    return await this.at(worker).gateway.post("/api/v1/chat/completions", body, key);
  }

  async call(worker: number, key: string): Promise<string> {
    const { status, text } = await this.send(worker, key);
    return status === 200 ? "200" : `${status} ${/"(?:code|type)":"[^"]+"/.exec(text)?.[0] ?? text}`;
  }
}

/** What a test remembers of each key that it made, in the order in which it made them. */
interface Made {
  id: string;
  secrets: string[];
}

type Step = (world: World, made: Made[], worker: number) => Promise<string>;

const MODELS = [["*"], ["test/chat"], ["test/messages"]];
const LIMITS = [null, 1, 3];

/** A change or a call, drawn so that it means the same in every world. */
function drawStep(random: SeededRandom): Step {
  const [first, second] = [random.between(0, 1_000), random.between(0, 1_000)];
  const [models, limit] = [random.pick(MODELS), random.pick(LIMITS)];
  const keyOf = (made: Made[]) => made[first % Math.max(1, made.length)];
  const remember = (made: Made[], { status, json }: Awaited<ReturnType<World["admin"]>>, id?: string) => {
    const created = json["data"] as { id: string; key: string } | undefined;
    const known = made.find((one) => one.id === id);
    if (created?.key !== undefined && known !== undefined) known.secrets.push(created.key);
    else if (created?.key !== undefined) made.push({ id: created.id, secrets: [created.key] });
    return `${status}`;
  };
  const change = (work: (at: Made, world: World, made: Made[], worker: number) => Promise<string>): Step => {
    return async (world, made, worker) => {
      const key = keyOf(made);
      return key === undefined ? "nothing" : work(key, world, made, worker);
    };
  };
  const patch = (body: object) =>
    change(
      async ({ id }, world, _, worker) => `${(await world.admin(worker, "PATCH", `/api/keys/${id}`, body)).status}`,
    );
  const call = change(({ secrets }, world, _, worker) => world.call(worker, secrets[second % secrets.length] ?? ""));
  return {
    call,
    create: (async (world, made, worker) => {
      const body = { name: "made", project: "team", scopes: ["keys:create"] };
      return remember(made, await world.admin(worker, "POST", "/api/keys", body));
    }) satisfies Step,
    child: change(async ({ secrets }, world, made, worker) => {
      const answer = await world.at(worker).gateway.post("/api/v1/keys", { name: "child" }, secrets.at(-1));
      const json = answer.status === 201 ? (JSON.parse(answer.text) as Record<string, unknown>) : {};
      return remember(made, { ...answer, json, headers: new Headers() });
    }),
    models: patch({ models }),
    limit: patch({ limits: { requests_per_minute: limit } }),
    rotate: change(async ({ id }, world, made, worker) =>
      remember(made, await world.admin(worker, "POST", `/api/keys/${id}/rotate`, { overlap_seconds: 0 }), id),
    ),
    revoke: change(
      async ({ id }, world, _, worker) => `${(await world.admin(worker, "DELETE", `/api/keys/${id}`)).status}`,
    ),
    project: (async (world, _, worker) => {
      const status = first % 3 === 0 ? "suspended" : "active";
      return `${(await world.admin(worker, "PATCH", "/api/projects/team", { status })).status}`;
    }) satisfies Step,
  }[random.weighted({ call: 12, create: 3, child: 2, models: 2, limit: 2, rotate: 1, revoke: 1, project: 2 })];
}

describe("choices 9: what was answered holds in every process", () => {
  test("any sequence of changes and calls at random workers gives the answers of one process", async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = new SeededRandom(seed);
      const delays = new SeededRandom(seed);
      const alone = { world: await World.start(1), made: [] as Made[] };
      const three = { world: await World.start(3, () => delays.between(0, LONGEST_MS)), made: [] as Made[] };
      const calls: string[] = [];
      for (let step = 1; step <= STEPS; step++) {
        const run = drawStep(random);
        const worker = random.between(0, 2);
        const [expected, found] = [
          await run(alone.world, alone.made, worker),
          await run(three.world, three.made, worker),
        ];
        expect([seed, step, found]).toEqual([seed, step, expected]);
        calls.push(found);
      }
      // A sequence in which nothing is refused, or everything, would show little.
      expect(calls).toContain("200");
      expect(new Set(calls).size).toBeGreaterThan(3);
    }
  });

  const created = (world: World) => world.admin(0, "POST", "/api/keys", { name: "made" });

  test("the answer waits for a slow worker, which is named after 250 ms", async () => {
    const world = await World.start(3, () => 200);
    const { clock } = world.machine;
    const beganMs = clock.nowMs();
    const { status, json } = await created(world);
    expect([status, clock.nowMs() - beganMs]).toEqual([201, 400]);
    expect(world.slow.toSorted()).toEqual(["worker 2", "worker 3"]);
    const { key } = json["data"] as { key: string };
    for (const worker of [0, 1, 2]) expect(await world.call(worker, key)).toBe("200");
  });

  test("a worker that does not answer is ended, and then the answer is sent", async () => {
    const world = await World.start(3);
    world.ill = { name: "worker 2" };
    expect((await created(world)).status).toBe(201);
    expect([world.slow, world.ended]).toEqual([["worker 2"], ["worker 2"]]);
    // It is not awaited any more.
    const beganMs = world.machine.clock.nowMs();
    expect((await created(world)).status).toBe(201);
    expect(world.machine.clock.nowMs()).toBe(beganMs);
  });

  test("a worker that cannot read the database is named in the answer", async () => {
    const world = await World.start(3);
    world.ill = { name: "worker 2", answers: true };
    const { status, text } = await created(world);
    expect(status).toBe(503);
    expect(text).toContain("The change is stored, but worker 2 of this gateway cannot read the database");
    expect(world.ended).toEqual([]);
  });

  test("a configuration that one worker has applied is shown when all have", async () => {
    const world = await World.start(3, () => 100);
    const applied: number[] = [];
    for (const [at, { gateway }] of world.workers.entries())
      gateway.gateway.changes.onConfiguration = () => void applied.push(at);
    world.at(1).gateway.gateway.changes.spreadConfiguration();
    expect((await world.admin(1, "GET", "/api/config")).status).toBe(200);
    expect(applied.toSorted()).toEqual([0, 2]);
  });

  test("rate headers show what all workers have left, not the share of one", async () => {
    const world = await World.start(3);
    const limits = { requests_per_minute: 30, tokens_per_minute: 15_000 };
    const { json } = await world.admin(0, "POST", "/api/keys", { name: "made", limits });
    const { key } = json["data"] as { key: string };
    await world.machine.clock.pass(2_000);
    for (const worker of [0, 1, 1, 2]) expect(await world.call(worker, key)).toBe("200");
    await world.machine.clock.pass(2_000);
    const { headers } = await world.send(1, key);
    expect(headers.get("x-ratelimit-remaining-requests")).toBe("25");
    // 20 tokens each, and what this one may still produce.
    expect(Number(headers.get("x-ratelimit-remaining-tokens"))).toBeGreaterThan(14_000);
  });

  test("a worker that has just started holds what was changed while it started", async () => {
    const world = await World.start(2);
    const { json } = await created(world);
    await world.add("worker 3");
    expect(await world.call(2, (json["data"] as { key: string }).key)).toBe("200");
  });
});
