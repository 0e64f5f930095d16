import { Database } from "bun:sqlite";
import { join } from "node:path";
import { staticKeyId } from "../../src/access/key-ring.ts";
import { DIALECT_NAMES, type DialectName } from "../../src/canon/dialect-name.ts";
import { buildCall, type CallOptions } from "../../testing/build-call.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { freePort, startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/test-gateway.ts";
import { BillingHost, type Performance } from "./billing-host.ts";
import type { Outcome } from "./cheat.ts";

/** What a cheat has: a key of its own, and a name that the host finds in its prompts. */
export interface Purse {
  name: string;
  key: string;
}

export const keyOf = (name: string) => `sk-trv-${name.padEnd(43, "x")}`;

export interface HarnessOptions extends TestGatewayOptions {
  /** Of every purse. */
  limits?: object;
  /** Beside one of each dialect. */
  models?: readonly object[];
}

const MAX_PURSES = 600;
/** The model of the host that is called in the Responses protocol. */
const RESPONSES_OFFER = { provider: "up-chat", model: "upstream-model", dialect: "responses" };
const QUIET_MS = 15_000;

/** A gateway with an upstream that keeps books; each cheat is identified by its purse, in the books and in the ledger. */
export class BillingHarness {
  readonly host: BillingHost;
  readonly gateway: TestGateway;
  #purses = 0;
  #calls = new Map<string, number>();

  constructor(host: BillingHost, gateway: TestGateway) {
    this.host = host;
    this.gateway = gateway;
  }

  static async open(options: HarnessOptions = {}): Promise<BillingHarness> {
    const host = await BillingHost.start();
    const { limits, models = [], config, timings, ...rest } = options;
    const scripted = scriptedModels(host.upstream.url, { first_byte: 30_000, idle: 30_000 });
    const purses = Array.from({ length: MAX_PURSES }, (_, index) => ({
      name: `purse-${index}`,
      key: keyOf(`Purse${index}`),
      models: ["test/*"],
      ...(limits ? { limits } : {}),
    }));
    const gateway = await startTestGateway({
      ...rest,
      config: {
        server: { host: "127.0.0.1", port: await freePort(), drain_seconds: 0.5 },
        ...scripted,
        models: [
          ...(scripted["models"] as object[]),
          { ...(scripted["models"] as object[])[0], id: "test/responses", offers: [RESPONSES_OFFER] },
          ...models,
        ],
        ...config,
        keys: [{ name: "tests", key: TEST_KEY }, ...purses],
      },
      timings: { readOnMs: 500, ...timings },
    });
    return new BillingHarness(host, gateway);
  }

  /** A new purse, and what the host plays to it. */
  purse(performance: Performance): Purse {
    const index = this.#purses++;
    if (index >= MAX_PURSES) throw new Error("there are no more purses");
    const name = `purse-${index}`;
    this.host.rehearse(name, performance);
    return { name, key: keyOf(`Purse${index}`) };
  }

  /** A request of one of the protocols whose prompt holds the purse's name. */
  call(purse: Purse, client: DialectName, options: CallOptions = {}): [string, RequestInit] {
    const text = `${options.body?.["text"] ?? "Tell me something."} ${purse.name}`;
    const { text: _, ...body } = options.body ?? {};
    const prompt = {
      genai: { contents: [{ role: "user", parts: [{ text }] }] },
      responses: { input: text },
      chat: { messages: [{ role: "user", content: text }] },
      messages: { messages: [{ role: "user", content: text }] },
    }[client];
    return buildCall(this.gateway.url, client, purse.key, { ...options, body: { ...prompt, ...body } });
  }

  /** Sums, when everything that the purse began has ended. */
  async outcome(purse: Purse, got: string, { rows = 1 }: { rows?: number } = {}): Promise<Outcome> {
    const deadline = Date.now() + QUIET_MS;
    for (;;) {
      const { count, cost } = this.#sums(purse);
      if (count >= rows && !this.#isBusy(purse, count)) {
        return { got, upstream: this.host.billed(purse.name), ledger: cost };
      }
      if (Date.now() > deadline)
        return { got, upstream: this.host.billed(purse.name), ledger: cost, broken: `${count} rows of ${rows}` };
      await Bun.sleep(20);
    }
  }

  /** The books may still be written a moment after the row: two looks must agree. */
  #isBusy(purse: Purse, rows: number): boolean {
    const seen = this.host.billed(purse.name) + rows / 1_000;
    const before = this.#calls.get(purse.name);
    this.#calls.set(purse.name, seen);
    return before !== seen;
  }

  /** What the ledger has for a key that was made by the operator, when its call is settled. */
  async spentBy(keyId: string): Promise<number> {
    for (const deadline = Date.now() + QUIET_MS; Date.now() < deadline; await Bun.sleep(20)) {
      const { count, cost } = this.#sumsOf(keyId);
      if (count > 0) return cost;
    }
    return 0;
  }

  #sums({ name }: Purse): { count: number; cost: number } {
    return this.#sumsOf(staticKeyId(name));
  }

  #sumsOf(keyId: string): { count: number; cost: number } {
    const database = new Database(join(this.gateway.folder, "data", "trivium.db"), { readonly: true });
    try {
      const query = "SELECT count(*) AS count, coalesce(sum(cost_nano_usd), 0) AS cost FROM receipts WHERE key_id = ?";
      return database.query(query).get(keyId) as { count: number; cost: number };
    } finally {
      database.close();
    }
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    await this.host.stop();
  }
}

/** Every client at every host. */
export const LANES = DIALECT_NAMES.flatMap((client) => DIALECT_NAMES.map((host) => ({ client, host })));
