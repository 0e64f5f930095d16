import { buildCall, type CallOptions } from "../../testing/build-call.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/test-gateway.ts";
import { BillingHost, type Performance } from "./billing-host.ts";
import type { Outcome } from "./cheat.ts";
import { type Purse, Purses, purseKeys } from "./purses.ts";

export interface HarnessOptions extends TestGatewayOptions {
  /** Of every purse. */
  limits?: object;
  /** Besides one of each dialect. */
  models?: readonly object[];
}

/** The model of the host that is called in the Responses protocol. */
const RESPONSES_OFFER = { provider: "up-chat", model: "upstream-model", dialect: "responses" };

/**
 * A gateway with an upstream that keeps accounts; each cheat is identified by its purse, in the accounts and in the
 * ledger.
 */
export class BillingHarness {
  readonly host: BillingHost;
  readonly gateway: TestGateway;
  readonly #purses: Purses;

  constructor(host: BillingHost, gateway: TestGateway) {
    this.host = host;
    this.gateway = gateway;
    this.#purses = new Purses(host, gateway);
  }

  static async open(options: HarnessOptions = {}): Promise<BillingHarness> {
    const host = await BillingHost.start();
    const { limits, models = [], config, ...rest } = options;
    const scripted = scriptedModels(host.upstream.url, { first_byte: 30_000, idle: 30_000 });
    const gateway = await startTestGateway({
      ...rest,
      config: {
        server: { drain_seconds: 0.5 },
        ...scripted,
        models: [
          ...(scripted["models"] as object[]),
          { ...(scripted["models"] as object[])[0], id: "test/responses", offers: [RESPONSES_OFFER] },
          ...models,
        ],
        ...config,
        keys: [{ name: "tests", key: TEST_KEY }, ...purseKeys(limits)],
      },
    });
    return new BillingHarness(host, gateway);
  }

  /** A new purse, and the host's behaviour for it. */
  purse(performance: Performance): Purse {
    const purse = this.#purses.next();
    this.host.rehearse(purse.name, performance);
    return purse;
  }

  /** A request of one of the protocols whose prompt holds the purse's name. */
  call(purse: Purse, client: ScriptedDialect, options: CallOptions = {}): [string, RequestInit] {
    const text = `${options.body?.["text"] ?? "Tell me something."} ${purse.name}`;
    const { text: _, ...body } = options.body ?? {};
    const prompt = {
      genai: { contents: [{ role: "user", parts: [{ text }] }] },
      responses: { input: text },
      chat: { messages: [{ role: "user", content: text }] },
      // More than any host here generates: what exceeds a request's limit is not billed as reported.
      messages: { max_tokens: 8_000, messages: [{ role: "user", content: text }] },
    }[client];
    return buildCall(this.gateway.url, client, purse.key, { ...options, body: { ...prompt, ...body } });
  }

  outcome(purse: Purse, got: string, expected: { rows?: number } = {}): Promise<Outcome> {
    return this.#purses.outcome(purse, got, expected);
  }

  spentBy(keyId: string): Promise<number> {
    return this.#purses.spentBy(keyId);
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    await this.host.stop();
  }
}

/** Every client at every host. */
export const LANES = SCRIPTED_DIALECTS.flatMap((client) => SCRIPTED_DIALECTS.map((host) => ({ client, host })));
