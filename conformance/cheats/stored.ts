import { Database } from "bun:sqlite";
import { join } from "node:path";
import { BillingHarness } from "./billing-harness.ts";
import { type Performance, words } from "./billing-host.ts";
import type { Cheat, CheatGroup, Outcome } from "./cheat.ts";
import type { Purse } from "./purses.ts";
import { visit } from "./rude-client.ts";

const ANSWER: Performance = { promptTokens: 20, chunks: words(50) };
const SLOW: Performance = { promptTokens: 20, thinkingTokens: 400, thinkingMs: 2_000, chunks: words(20) };
const MAX_MB = 8;
const MB = 1024 * 1024;
const MODELS = ["test/chat", "test/messages", "test/genai", "test/responses"] as const;

interface Stored {
  status: number;
  text: string;
  id: string;
}

/** Stored responses: who may see them, what building on them costs, and what is made while no client waits. */
export async function openStored(): Promise<CheatGroup> {
  const config = { responses: { store: true, max_mb: MAX_MB } };
  const harness = await BillingHarness.open({ config });
  const poor = await BillingHarness.open({ config, limits: { budget_usd_per_day: 0.02, concurrent: 4 } });
  const world = new StoredWorld(harness);
  return {
    cheats: [
      ...strangers(world),
      ...histories(world),
      ...background(world),
      ...budgets(new StoredWorld(poor)),
      ...amplified(world),
      ...filling(world),
    ],
    close: async () => {
      await harness.close();
      await poor.close();
    },
  };
}

class StoredWorld {
  readonly harness: BillingHarness;

  constructor(harness: BillingHarness) {
    this.harness = harness;
  }

  request(
    { key }: Purse,
    path: string,
    body?: object | string,
    method = body === undefined ? "GET" : "POST",
  ): [string, RequestInit] {
    return [
      this.harness.gateway.url + path,
      {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      },
    ];
  }

  async send(purse: Purse, path: string, body?: object | string, method?: string): Promise<Stored> {
    const response = await fetch(...this.request(purse, path, body, method));
    const text = await response.text();
    const id = /"id":"(resp_\w+)"/.exec(text)?.[1] ?? "";
    return { status: response.status, text, id };
  }

  create(purse: Purse, body: object = {}): Promise<Stored> {
    return this.send(purse, "/v1/responses", { model: "test/chat", input: `Tell me. ${purse.name}`, ...body });
  }

  /** Waits until a background response has ended. */
  async ended(purse: Purse, id: string): Promise<string> {
    for (const deadline = Date.now() + 15_000; Date.now() < deadline; await Bun.sleep(30)) {
      const { status, text } = await this.send(purse, `/v1/responses/${id}`);
      const [, state = ""] = /"status":"(\w+)"/.exec(text) ?? [];
      if (status !== 200 || !/queued|in_progress/.test(state)) return `${status} ${state}`;
    }
    return "never";
  }
}

const SECRET = "the-secret-of-another-project";

/** S09: nothing that names a response of another project gets any of it, and no host is called. */
function strangers(world: StoredWorld): Cheat[] {
  const { harness } = world;
  const attacks: Record<string, (stranger: Purse, id: string, item: string) => Promise<Stored>> = {
    "reads it": (stranger, id) => world.send(stranger, `/v1/responses/${id}`),
    "reads it at the other base URL": (stranger, id) => world.send(stranger, `/api/v1/responses/${id}`),
    "reads its input": (stranger, id) => world.send(stranger, `/v1/responses/${id}/input_items`),
    "deletes it": (stranger, id) => world.send(stranger, `/v1/responses/${id}`, undefined, "DELETE"),
    "cancels it": (stranger, id) => world.send(stranger, `/v1/responses/${id}/cancel`, {}),
    "builds on it": (stranger, id) => world.create(stranger, { previous_response_id: id }),
    "builds on it in the background": (stranger, id) =>
      world.create(stranger, { previous_response_id: id, background: true }),
    "counts its tokens": (stranger, id) =>
      world.send(stranger, "/v1/responses/input_tokens", {
        model: "test/chat",
        input: stranger.name,
        previous_response_id: id,
      }),
    "refers to one of its items": (stranger, _, item) =>
      world.create(stranger, {
        input: [
          { type: "item_reference", id: item },
          { role: "user", content: stranger.name },
        ],
      }),
    "refers to one of its items without a type": (stranger, _, item) =>
      world.create(stranger, { input: [{ id: item }, { role: "user", content: stranger.name }] }),
    "refers to it as an item": (stranger, id) =>
      world.create(stranger, {
        input: [
          { type: "item_reference", id },
          { role: "user", content: stranger.name },
        ],
      }),
    "names it with a trailing NUL": (stranger, id) => world.create(stranger, { previous_response_id: `${id}\u0000` }),
    "names it by a wildcard": (stranger) => world.create(stranger, { previous_response_id: "resp_%" }),
    "names it with 1,000 trailing characters": (stranger, id) =>
      world.create(stranger, { previous_response_id: id.padEnd(1_000, "x") }),
    "names its project too": (stranger, id) =>
      world.create(stranger, { previous_response_id: id, project: "project-0", trivium: { project: "project-0" } }),
  };
  return Object.entries(attacks).map(([what, attack]) => ({
    id: "S09",
    tries: `a key of another project ${what}`,
    run: async (): Promise<Outcome> => {
      const owner = harness.purse({ promptTokens: 20, chunks: [[SECRET, 8]] });
      const kept = await world.create(owner, { input: `${SECRET} ${owner.name}` });
      const item = /"id":"(msg_\w+)"/.exec(kept.text)?.[1] ?? "";
      const stranger = harness.purse(ANSWER);
      const got = await attack(stranger, kept.id, item);
      const asked = harness.host.upstream.seen.filter(({ body }) => body.includes(stranger.name));
      const still = await world.send(owner, `/v1/responses/${kept.id}`);
      const outcome = { got: `${got.status}` };
      if (got.text.includes(SECRET)) return { ...outcome, broken: "it was answered with another's words" };
      if (asked.some(({ body }) => body.includes(SECRET))) return { ...outcome, broken: "a host received it" };
      return still.status === 200 ? outcome : { ...outcome, broken: "its owner has lost it" };
    },
  }));
}

/** H26: a history that the gateway inserts into a request is billed as if its client had sent it. */
function histories(world: StoredWorld): Cheat[] {
  const { harness } = world;
  const long = "word ".repeat(40_000);
  const continued = (model: string, how: string, again: (purse: Purse, id: string) => Promise<string>): Cheat => ({
    id: "H26",
    tries: `continues a long conversation with ${model}, ${how}`,
    run: async () => {
      const purse = harness.purse({ promptTokens: 50_000, chunks: words(50), everyMs: 10, tailMs: 700 });
      const first = await world.create(purse, { model: "test/chat", input: `${long} ${purse.name}` });
      const got = await again(purse, first.id);
      return harness.outcome(purse, `${first.status}, then ${got}`, { rows: 2 });
    },
  });
  return MODELS.flatMap((model) => [
    continued(model, "and reads the answer", async (purse, id) => {
      const { status } = await world.create(purse, { model, input: "On.", previous_response_id: id });
      return String(status);
    }),
    continued(model, "and disconnects at the first word", async (purse, id) => {
      const body = { model, input: "On.", previous_response_id: id, stream: true };
      const { text } = await visit(world.request(purse, "/v1/responses", body), (seen) => seen.includes("word"));
      return `${text.length} bytes`;
    }),
    continued(model, "by a reference to its items, and disconnects", async (purse, id) => {
      const { text } = await world.send(purse, `/v1/responses/${id}`);
      const item = /"id":"(msg_\w+)"/.exec(text)?.[1] ?? "";
      const input = [
        { role: "user", content: `${long} ${purse.name}` },
        { type: "item_reference", id: item },
        { role: "user", content: "On." },
      ];
      const seen = await visit(world.request(purse, "/v1/responses", { model, input, stream: true }), (part) =>
        part.includes("word"),
      );
      return `${seen.text.length} bytes`;
    }),
  ]);
}

/** H26, H24: what is made while no client waits is made once, ends once and is billed. */
function background(world: StoredWorld): Cheat[] {
  const { harness } = world;
  const cheat = (
    id: string,
    tries: string,
    performance: Performance,
    play: (purse: Purse, id: string) => Promise<string>,
  ): Cheat[] =>
    MODELS.map((model) => ({
      id,
      tries: `${model} in the background: ${tries}`,
      run: async () => {
        const purse = harness.purse(performance);
        const queued = await world.create(purse, { model, background: true });
        const got = await play(purse, queued.id);
        const outcome = await harness.outcome(purse, `${queued.status}, ${got}`);
        return harness.host.requests(purse.name) > 1 ? { ...outcome, broken: "the host was asked twice" } : outcome;
      },
    }));
  return [
    ...cheat("H26", "the client never comes back", SLOW, async () => "nothing"),
    ...cheat("H26", "it is cancelled at once", SLOW, async (purse, id) => {
      const cancelled = await world.send(purse, `/v1/responses/${id}/cancel`, {});
      return `${cancelled.status}, then ${await world.ended(purse, id)}`;
    }),
    ...cheat("H26", "it is cancelled after a second", SLOW, async (purse, id) => {
      await Bun.sleep(1_000);
      const cancelled = await world.send(purse, `/v1/responses/${id}/cancel`, {});
      return `${cancelled.status}, then ${await world.ended(purse, id)}`;
    }),
    ...cheat("H26", "it is deleted after a second", SLOW, async (purse, id) => {
      await Bun.sleep(1_000);
      const deleted = await world.send(purse, `/v1/responses/${id}`, undefined, "DELETE");
      return `${deleted.status}, then ${await world.ended(purse, id)}`;
    }),
    ...cheat("H24", "it is read a hundred times", ANSWER, async (purse, id) => {
      const state = await world.ended(purse, id);
      await Promise.all(Array.from({ length: 100 }, () => world.send(purse, `/v1/responses/${id}`)));
      return state;
    }),
    revoked(world),
  ];
}

/** A key that is revoked while its response is made pays for it, and does not get it. */
const revoked = (world: StoredWorld): Cheat => ({
  id: "S05",
  tries: "a key is revoked while its answer is made in the background, and comes for it",
  run: async () => {
    const { harness } = world;
    const purse = harness.purse(SLOW);
    const admin = (path: string, init: RequestInit) =>
      fetch(harness.gateway.adminUrl + path, {
        ...init,
        headers: { authorization: `Bearer ${harness.gateway.adminSecret}`, "content-type": "application/json" },
      });
    const made = await admin("/api/keys", { method: "POST", body: JSON.stringify({ name: `revoked-${purse.name}` }) });
    const { data } = (await made.json()) as { data: { id: string; key: string } };
    const mine = { ...purse, key: data.key };
    const queued = await world.create(mine, { background: true });
    await Bun.sleep(200);
    await admin(`/api/keys/${data.id}`, { method: "DELETE" });
    const ledger = await harness.spentBy(data.id);
    const asked = await world.send(mine, `/v1/responses/${queued.id}`);
    const outcome = { got: `${asked.status}`, upstream: harness.host.billed(purse.name), ledger };
    return asked.status === 401 ? outcome : { ...outcome, broken: "a revoked key was answered" };
  },
});

/** H23: background work has the same limits as any other. */
function budgets(world: StoredWorld): Cheat[] {
  const { harness } = world;
  const long = "word ".repeat(10_000);
  const atOnce = (tries: string, most: number, prepare: (purse: Purse) => Promise<object>): Cheat => ({
    id: "H23",
    tries,
    run: async () => {
      const purse = harness.purse({ promptTokens: 12_500, thinkingTokens: 100, thinkingMs: 300, chunks: words(20) });
      const body = await prepare(purse);
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async () => (await world.create(purse, body)).status),
      );
      await Bun.sleep(1_500);
      const letIn = statuses.filter((status) => status === 200).length;
      const outcome = await harness.outcome(purse, `${letIn} of 20 were let in`, { rows: letIn });
      const figures = `${((outcome.upstream ?? 0) / 2e7).toFixed(1)} times the budget`;
      return letIn > most ? { ...outcome, figures, broken: `more than ${most} were let in` } : { ...outcome, figures };
    },
  });
  return [
    atOnce("twenty at once in the background, with a long prompt", 1, async (purse) => ({
      background: true,
      max_output_tokens: 200,
      input: `${long} ${purse.name}`,
    })),
    atOnce("twenty at once that build on a long prompt with a short one", 1, async (purse) => {
      const { id } = await world.create(purse, { max_output_tokens: 200, input: `${long} ${purse.name}` });
      return { previous_response_id: id, input: "On.", max_output_tokens: 200 };
    }),
    atOnce("twenty at once in the background with a key that may have four", 4, async () => ({
      background: true,
      max_output_tokens: 200,
    })),
  ];
}

/** S18, S23: a small request that refers to much. */
function amplified(world: StoredWorld): Cheat[] {
  const { harness } = world;
  const manyReferences = (count: number, size: number): Cheat => ({
    id: "S23",
    tries: `a request that refers ${count} times to one item of ${size / 1_000} kB`,
    run: async () => {
      const purse = harness.purse({ promptTokens: 20, chunks: [["x".repeat(size), size / 4]] });
      const kept = await world.create(purse);
      const item = /"id":"(msg_\w+)"/.exec(kept.text)?.[1] ?? "";
      const before = harness.host.upstream.seen.length;
      const startedMs = performance.now();
      const input = [
        ...Array.from({ length: count }, () => ({ type: "item_reference", id: item })),
        { role: "user", content: `On. ${purse.name}` },
      ];
      const { status } = await world.create(purse, { input, max_output_tokens: 16 });
      const sent = harness.host.upstream.seen.slice(before).reduce((most, { body }) => Math.max(most, body.length), 0);
      const figures = `${Math.round(performance.now() - startedMs)} ms, ${(sent / MB).toFixed(0)} MB to the host`;
      const outcome = { got: `${status}`, figures };
      if (status >= 500) return { ...outcome, broken: "it failed inside" };
      return sent > 64 * MB ? { ...outcome, broken: "more than any request may have" } : outcome;
    },
  });
  return [manyReferences(100, 100_000), manyReferences(10_000, 100_000), manyReferences(10_000, 1_000_000)];
}

/** Storage is bounded, and whoever fills it loses its own first. */
function filling(world: StoredWorld): Cheat[] {
  const { harness } = world;
  return [
    {
      id: "S17",
      tries: `stores forty responses of 1 MB that cannot be packed, where all may take ${MAX_MB} MB`,
      run: async () => {
        const modest = harness.purse(ANSWER);
        const kept = await world.create(modest);
        const purse = harness.purse(ANSWER);
        for (let index = 0; index < 40; index++) {
          const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536))).toString("base64");
          await world.create(purse, {
            input: `${noise.repeat(1)} ${noise.split("").reverse().join("").repeat(10)} ${purse.name}`,
          });
        }
        await Bun.sleep(300);
        const database = new Database(join(harness.gateway.folder, "data", "trivium.db"), { readonly: true });
        const { size } = database.query("SELECT coalesce(sum(size), 0) AS size FROM answers").get() as { size: number };
        database.close();
        const still = await world.send(modest, `/v1/responses/${kept.id}`);
        const outcome = { got: `${still.status} for another's`, figures: `${(size / MB).toFixed(1)} MB are kept` };
        if (size > MAX_MB * 1.1 * MB) return { ...outcome, broken: `more than ${MAX_MB} MB` };
        return still.status === 200 ? outcome : { ...outcome, broken: "another project has lost its answer" };
      },
    },
  ];
}
