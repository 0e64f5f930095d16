import { timePrefix } from "../../src/base/timed-id.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { insertAlert, type NewDelivery } from "../../src/storage/tables/alerts.ts";

const HOUR_MS = 3_600_000;

interface Told {
  type: string;
  hoursAgo: number;
  text: string;
  deliveries: readonly NewDelivery[];
}

const TAKEN: NewDelivery = { webhook: "chat", state: "delivered", tries: 1, status: 200 };
const REFUSED: NewDelivery = { webhook: "pager", state: "failed", tries: 16, status: 503, error: "answered 503" };

/** A month of alerts. `hostile` is a name chosen by an attacker. */
export async function seedAlerts(storage: Storage, hostile: string, nowMs: number): Promise<void> {
  const told: readonly Told[] = [
    {
      type: "budget.threshold",
      hoursAgo: 200,
      text: `The key "${hostile}" has used 50% of its budget of $10.00 a month: $5.01.`,
      deliveries: [TAKEN],
    },
    {
      type: "provider.down",
      hoursAgo: 52,
      text: 'The provider "openai" is down: all 3 models called there fail. Calls go to other providers of the same models, if there are any.',
      deliveries: [TAKEN, REFUSED],
    },
    {
      type: "provider.up",
      hoursAgo: 51,
      text: 'The provider "openai" has recovered.',
      deliveries: [TAKEN, { ...REFUSED, state: "delivered", tries: 3, status: 200 }],
    },
    {
      type: "errors.high",
      hoursAgo: 31,
      text: '64% of the calls of the provider "claude" failed: 41 of 64 in the last 10 minutes.',
      deliveries: [TAKEN],
    },
    {
      type: "errors.normal",
      hoursAgo: 30,
      text: 'Fewer than 50% of the calls of the provider "claude" fail now: 30 of 88 in the last 10 minutes.',
      deliveries: [TAKEN],
    },
    {
      type: "budget.threshold",
      hoursAgo: 7,
      text: 'The project "Web shop" has used 81% of its budget of $400.00 a month: $324.87.',
      deliveries: [TAKEN],
    },
  ];
  for (const { type, hoursAgo, text, deliveries } of told) {
    const atMs = nowMs - hoursAgo * HOUR_MS;
    const id = `alr_${timePrefix(atMs)}seeded`;
    const body = JSON.stringify({ id, type, time: new Date(atMs).toISOString(), text, data: {} });
    await insertAlert(storage, { id, type, atMs, body }, deliveries);
  }
}
