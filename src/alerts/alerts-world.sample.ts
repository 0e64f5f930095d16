import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { BudgetUse } from "../access/budget.ts";
import { Secret } from "../base/secret.ts";
import type { AlertSettings, WebhookSettings } from "../config/config.ts";
import type { Storage } from "../storage/storage.ts";
import { selectAlerts } from "../storage/tables/alerts.ts";
import { Alerts } from "./alerts.ts";
import type { CallCounts } from "./error-share.ts";
import type { Observation } from "./observation.ts";
import type { AlertAnswer, AlertRequest } from "./post.ts";
import type { KeyCalls, RetiringModel } from "./retirement-alerts.ts";

export const HOOK: WebhookSettings = {
  name: "hook",
  url: new Secret("https://hook.test/a-secret-path"),
  secret: new Secret("a-secret-of-the-hook"),
};

export const SETTINGS: AlertSettings = {
  webhooks: [HOOK],
  budgetPercent: [50, 80, 100],
  providerDown: true,
  gatewayDegraded: true,
  errors: { percent: 50, minutes: 10, minCalls: 20 },
  retryHours: 24,
};

export const TAKEN: AlertAnswer = { status: 200, retryAfterMs: 0, body: "ok" };

/** A budget of ten dollars a day. */
export const used = (usd: number, more: Partial<BudgetUse> = {}): BudgetUse => ({
  level: "key",
  id: "key_1",
  name: "ci",
  window: "day",
  spentNanoUsd: usd * 1e9,
  limitNanoUsd: 10e9,
  ratio: usd / 10,
  ...more,
});

interface SentAlert extends AlertRequest {
  atMs: number;
  json: { id: string; type: string; text: string; time: string; data: Record<string, unknown> };
}

type Answerer = (request: AlertRequest) => AlertAnswer | Promise<AlertAnswer>;

/** Processes on one storage that all send to one receiver. */
export class AlertsWorld {
  readonly clock: VirtualClock;
  readonly storage: Storage;
  readonly sent: SentAlert[] = [];
  readonly problems: string[] = [];
  answer: Answerer = () => TAKEN;
  /** Outcomes of the calls of the last minutes. */
  calls: CallCounts[] = [];
  /** Models that end soon, and who calls them. */
  retiring: RetiringModel[] = [];
  keyCalls: KeyCalls[] = [];
  /** The configured providers. */
  providers: string[] = ["acme"];
  countCalls = async (): Promise<readonly CallCounts[]> => this.calls;
  #made = 0;

  constructor(storage: Storage, clock = new VirtualClock()) {
    this.storage = storage;
    this.clock = clock;
  }

  process(settings: AlertSettings = SETTINGS, observe: () => Observation[] = () => [], storage = this.storage): Alerts {
    this.#made += 1;
    const instance = `instance_${this.#made}`;
    let ids = 0;
    return new Alerts({
      clock: this.clock,
      random: { bytes: (length) => new Uint8Array(length), id: () => `${instance}_${++ids}` },
      storage,
      instance,
      settings,
      observe,
      countCalls: () => this.countCalls(),
      providers: () => this.providers,
      models: { retiring: () => this.retiring, callsOf: async () => this.keyCalls },
      post: async (request) => {
        const json = JSON.parse(request.body) as SentAlert["json"];
        this.sent.push({ ...request, json, atMs: this.clock.wallMs() });
        return this.answer(request);
      },
      onProblem: (error, what) => this.problems.push(`${what}: ${error instanceof Error ? error.message : error}`),
    });
  }

  get texts(): string[] {
    return this.sent.map(({ json }) => json.text);
  }

  get types(): string[] {
    return this.sent.map(({ json }) => json.type);
  }

  async states(): Promise<string[]> {
    const alerts = await selectAlerts(this.storage, { limit: 100 });
    return alerts.flatMap(({ deliveries }) => deliveries.map(({ state, tries }) => `${state} ${tries}`));
  }
}
