import { join } from "node:path";
import { createOperator } from "../../src/access/operators.ts";
import { system } from "../../src/base/system.ts";
import { openStorage } from "../../src/storage/open.ts";
import { freePort } from "../../testing/free-port.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { seedCalls } from "./seed.ts";
import { seedAlerts } from "./seed-alerts.ts";
import { seedBatches } from "./seed-batches.ts";
import { limitSeededKeys, seedKeys } from "./seed-keys.ts";
import { seedObjects } from "./seed-objects.ts";
import { seedSupply } from "./seed-supply.ts";
import { seedWatch } from "./seed-watch.ts";

export interface SeededGateway {
  /** The URL of the console. */
  url: string;
  /** The URL for clients. */
  clientsUrl: string;
  secret: string;
  /** The secret of an operator of the project `shop`. */
  projectSecret: string;
  /** The one-time login link that is printed at startup. */
  link: string;
  /** The receipt of a call that was answered by its second offer. */
  retried: string;
  /** A batch that has ended. */
  batch: string;
  /** The key with budgets. */
  key: string;
  /** The secret of a key of the project `shop`. */
  shopKey: string;
  stop(): Promise<void>;
}

/** A name chosen by an attacker. */
export const HOSTILE = `<img src=x onerror="alert('stored')">`;

const provider = (kind: string) => ({ kind, api_key: "not-a-key", base_url: "http://127.0.0.1:9/" });

const CALLS = 12_000;

/** Starts a gateway with two months of a team's data. */
export async function startSeeded(calls = CALLS): Promise<SeededGateway> {
  const receiver = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("thank you") });
  const gateway = await startTestGateway({
    config: {
      simulator: true,
      // The console shows the configured port.
      server: { port: freePort(), drain_seconds: 2 },
      capture: { max_media_kb: 256 },
      guards: [
        { name: "secrets", use: "secrets", action: "redact", for: { projects: ["platform"] } },
        { name: "personal-data", use: "pii", on: ["request"], action: "observe", for: { projects: ["platform"] } },
      ],
      exports: [{ name: "receipts", to: "file:./exports", format: "jsonl", every: "1d" }],
      alerts: {
        webhooks: [
          { name: "chat", url: `http://127.0.0.1:${receiver.port}/services/a-token`, secret: "a-secret-of-the-chat" },
          { name: "pager", url: "http://127.0.0.1:9/", events: ["provider.down", "provider.up"] },
        ],
      },
      providers: { openai: provider("openai"), anthropic: provider("anthropic"), gemini: provider("gemini") },
      // Nobody has stated its price.
      models: [{ id: "acme/unpriced", offers: [{ provider: "openai", model: "draft" }] }],
    },
  });
  const { adminUrl, adminSecret, folder } = gateway;
  const send = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${adminSecret}`, "content-type": "application/json" };
    const answer = await fetch(adminUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return ((await answer.json()) as { data: { id: string; key: string } }).data;
  };
  const read = async (path: string): Promise<unknown> => {
    const answer = await fetch(adminUrl + path, { headers: { authorization: `Bearer ${adminSecret}` } });
    return ((await answer.json()) as { data: unknown }).data;
  };
  await send("/api/projects", { id: "shop", name: "Web shop", limits: { budget_usd_per_month: 400 } });
  await send("/api/projects", { id: "research", name: "Research" });
  const keys = [
    {
      project: "shop",
      share: 46,
      key: { name: "checkout assistant", limits: { budget_usd_per_month: 150, budget_usd_per_day: 12 } },
    },
    { project: "shop", share: 24, key: { name: "search", limits: { requests_per_minute: 600 } } },
    { project: "research", share: 22, key: { name: "nightly batch", limits: { budget_usd_per_month: 60 } } },
    { project: "research", share: 8, key: { name: HOSTILE } },
  ];
  const made = [];
  for (const { project, share, key } of keys)
    made.push({ ...(await send("/api/keys", { ...key, project })), project, share });
  const [shop = "", hostile = ""] = [made[1]?.key, made[3]?.key];
  const batch = await seedBatches({ clientsUrl: gateway.url, keys: { shop, hostile }, hostile: HOSTILE, read });
  const revoke = async (id: string) => {
    await fetch(`${adminUrl}/api/keys/${id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${adminSecret}` },
    });
  };
  await seedWatch({ clientsUrl: gateway.url, key: shop, send, revoke, hostile: HOSTILE });
  await seedSupply({ clientsUrl: gateway.url, key: shop, send });
  const company = await seedKeys({ adminUrl, adminSecret });
  await seedObjects({ clientsUrl: gateway.url, key: shop });
  const storage = await openStorage(`sqlite:${join(folder, "data/trivium.db")}`, system.clock);
  const retried = await seedCalls(storage, [...made, ...company], calls);
  await seedAlerts(storage, HOSTILE, Date.now());
  await limitSeededKeys({ adminUrl, adminSecret }, company);
  const operator = { name: "shop's own", role: "project", project: "shop" } as const;
  const { secret: projectSecret } = await createOperator(storage, operator, system, { who: "tests" });
  await storage.close();
  return {
    url: adminUrl,
    clientsUrl: gateway.url,
    secret: adminSecret,
    projectSecret,
    link: gateway.app.consoleUrl,
    retried,
    batch,
    key: made[0]?.id ?? "",
    shopKey: shop,
    stop: async () => {
      await gateway.stop();
      await receiver.stop(true);
    },
  };
}
