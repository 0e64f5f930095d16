import { afterAll, beforeAll, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { Alerts } from "../../alerts/alerts.ts";
import { HOOK, SETTINGS, used } from "../../alerts/alerts-world.sample.ts";
import type { AlertAnswer } from "../../alerts/post.ts";

const asAdmin = { secret: ADMIN_SECRET };
let admin: AdminHarness;
let alerts: Alerts;
let answer: AlertAnswer = { status: 200, retryAfterMs: 0, body: "ok" };
const sent: string[] = [];

beforeAll(async () => {
  const plain = await AdminHarness.start();
  const { clock, storage, machine } = plain.gateway;
  alerts = new Alerts({
    clock,
    random: machine.random,
    storage,
    instance: "instance_test",
    settings: { ...SETTINGS, webhooks: [HOOK, { ...HOOK, name: "other", events: ["provider.down"] }] },
    observe: () => [],
    countCalls: async () => [],
    providers: () => [],
    post: async ({ body }) => {
      sent.push(body);
      return answer;
    },
    onProblem: () => {},
  });
  admin = AdminHarness.over(plain.gateway, { alerts });
});
afterAll(() => admin.gateway.storage.close());

test("S10: settings show hosts and states, and neither addresses nor secrets", async () => {
  await alerts.tellBudgets([used(5)], admin.clock.wallMs());
  await admin.clock.pass(1);
  const { status, json, text } = await admin.ask("GET", "/api/alerts/settings", asAdmin);
  expect([status, text.includes("a-secret")]).toEqual([200, false]);
  expect(json["data"]).toMatchObject({
    budget_percent: [50, 80, 100],
    error_percent: 50,
    error_minutes: 10,
    error_min_calls: 20,
    retry_hours: 24,
    webhooks: [
      {
        name: "hook",
        address: "https://hook.test",
        signed: true,
        events: null,
        last: { state: "delivered", status: 200, tries: 1 },
      },
      { name: "other", events: ["provider.down"], last: null },
    ],
  });
});

test("the list shows sent alerts and their delivery, page by page", async () => {
  await admin.clock.pass(1_000);
  await alerts.tellBudgets([used(8)], admin.clock.wallMs());
  await admin.clock.pass(1);
  const first = await admin.ask("GET", "/api/alerts?limit=1", asAdmin);
  const next = String(first.json["next"]);
  const second = await admin.ask("GET", `/api/alerts?limit=1&after=${next}`, asAdmin);
  const percents = [first, second].map(({ json }) => (json["data"] as { data: Record<string, unknown> }[])[0]?.data);
  expect(percents.map((data) => data?.["threshold_percent"])).toEqual([80, 50]);
  expect([second.json["next"], first.text.includes("a-secret")]).toEqual([null, false]);
});

test("a test is sent at once, to one or to all; the response is shown, and the sender is recorded", async () => {
  sent.length = 0;
  answer = { status: 503, retryAfterMs: 0, body: "busy\u0007<b>" };
  const one = await admin.ask("POST", "/api/alerts/test", { ...asAdmin, body: { webhook: "hook" } });
  expect(one.json["data"]).toEqual([
    { webhook: "hook", ok: false, status: 503, error: "answered 503", answer: "busy <b>", ms: 0 },
  ]);
  answer = { status: 200, retryAfterMs: 0, body: "" };
  const all = await admin.ask("POST", "/api/alerts/test", asAdmin);
  expect((all.json["data"] as { ok: boolean }[]).map(({ ok }) => ok)).toEqual([true, true]);
  expect(sent.map((body) => (JSON.parse(body) as { type: string }).type)).toEqual(["test", "test", "test"]);
  const acts = (await admin.ask("GET", "/api/audit?act=alerts.test", asAdmin)).json["data"] as { target: string }[];
  expect(acts.map(({ target }) => target)).toEqual(["all", "hook"]);
});

interface Listed {
  id: string;
  type: string;
  deliveries: { webhook: string; state: string; tries: number; status: number | null }[];
}
const newest = async () => {
  const { json } = await admin.ask("GET", "/api/alerts?limit=1", asAdmin);
  const [first] = json["data"] as Listed[];
  if (first === undefined) throw new Error("no alert");
  return first;
};
const deliver = (id: string, body?: object) =>
  admin.ask("POST", `/api/alerts/${id}/deliver`, { ...asAdmin, ...(body && { body }) });

test("an alert that a webhook rejected is delivered again with the same bytes; the operator is recorded", async () => {
  sent.length = 0;
  answer = { status: 410, retryAfterMs: 0, body: "" };
  await admin.clock.pass(1_000);
  await alerts.tellBudgets([used(10)], admin.clock.wallMs());
  await admin.clock.pass(1);
  const { id, deliveries } = await newest();
  expect(deliveries).toMatchObject([{ webhook: "hook", state: "failed", tries: 1 }]);
  answer = { status: 200, retryAfterMs: 0, body: "" };
  const again = await deliver(id);
  expect([again.status, (again.json["data"] as Listed).deliveries]).toMatchObject([
    202,
    [{ webhook: "hook", state: "pending", tries: 0 }],
  ]);
  await admin.clock.pass(1);
  expect((await newest()).deliveries).toMatchObject([{ webhook: "hook", state: "delivered", tries: 1, status: 200 }]);
  expect([sent.length, sent[1]]).toEqual([2, sent[0]]);
  const acts = (await admin.ask("GET", "/api/audit?act=alerts.deliver", asAdmin)).json["data"];
  expect(acts).toMatchObject([{ target: id, who: "operator:admin", after: { webhooks: ["hook"] } }]);
});

test("a delivered alert is sent again only to a named webhook; a pending one is retried at once, with the remaining attempts", async () => {
  const { id } = await newest();
  sent.length = 0;
  const all = await deliver(id);
  expect([all.status, all.text.includes("alert_delivered")]).toEqual([400, true]);
  answer = { status: 503, retryAfterMs: 0, body: "" };
  expect((await deliver(id, { webhook: "hook" })).status).toBe(202);
  await admin.clock.pass(1);
  expect((await newest()).deliveries).toMatchObject([{ state: "pending", tries: 1, status: 503 }]);
  answer = { status: 200, retryAfterMs: 0, body: "" };
  expect((await deliver(id)).status).toBe(202);
  await admin.clock.pass(1);
  expect((await newest()).deliveries).toMatchObject([{ state: "delivered", tries: 2, status: 200 }]);
  expect(sent).toHaveLength(2);
});

test("H25: an alert that cannot be delivered again is explained, and nothing is sent", async () => {
  const { id } = await newest();
  sent.length = 0;
  const unknown = await deliver("alr_none");
  expect([unknown.status, unknown.text.includes("alert_not_found")]).toEqual([404, true]);
  const other = await deliver(id, { webhook: "other" });
  expect([other.status, other.text.includes("was sent to hook")]).toEqual([404, true]);
  const { settings } = alerts;
  alerts.reconfigure({ ...SETTINGS, webhooks: [{ ...HOOK, name: "new" }] });
  const gone = await deliver(id, { webhook: "hook" });
  expect([gone.status, gone.text.includes("webhook_not_configured")]).toEqual([400, true]);
  alerts.reconfigure(settings);
  await admin.clock.pass(10_000);
  expect(sent).toEqual([]);
});

test("S11: a page of another origin cannot trigger a delivery with only an operator's cookie", async () => {
  const { id } = await newest();
  sent.length = 0;
  const { cookie } = await admin.login(ADMIN_SECRET);
  const forged = await admin.ask("POST", `/api/alerts/${id}/deliver`, { cookie, body: { webhook: "hook" } });
  expect(forged.status).toBe(403);
  await admin.clock.pass(10_000);
  expect(sent).toEqual([]);
});

test("H25: a missing webhook is an error that names the configured ones", async () => {
  const unknown = await admin.ask("POST", "/api/alerts/test", { ...asAdmin, body: { webhook: "none" } });
  expect([unknown.status, unknown.text.includes("expected one of hook, other")]).toEqual([404, true]);
  alerts.reconfigure({ ...SETTINGS, webhooks: [] });
  const none = await admin.ask("POST", "/api/alerts/test", asAdmin);
  expect([none.status, none.text.includes("alerts.webhooks")]).toEqual([400, true]);
});
