import { recordAct } from "../../access/audit.ts";
import type { Alerts } from "../../alerts/alerts.ts";
import { objectAt, parseObject, stringAt } from "../../base/json.ts";
import { Type } from "../../base/type.ts";
import { GatewayError } from "../../canon/error.ts";
import { type DeliveredAlert, type StoredDelivery, selectAlert, selectAlerts } from "../../storage/tables/alerts.ts";
import { json } from "../openapi/operation.ts";
import { actorOf } from "./actor.ts";
import { adminRoute } from "./define-route.ts";
import { limitOf, PAGE_FIELDS } from "./query-fields.ts";
import { Alert, AlertSettingsAnswer, AlertTestAnswer } from "./schemas/alert.ts";
import { dataAnswer, pageAnswer } from "./schemas/answers.ts";

export const listAlerts = adminRoute({
  method: "GET",
  path: "/api/alerts",
  id: "listAlerts",
  summary: "List what webhooks were told, newest first, and how it was delivered.",
  roles: ["admin", "viewer"],
  query: PAGE_FIELDS,
  answers: [json(pageAnswer("AlertList", Alert), "Alerts of the last ninety days.")],
  handle: async ({ query }, { storage }) => {
    const limit = limitOf(query);
    const found = await selectAlerts(storage, { limit: limit + 1, after: query.after });
    const shown = found.slice(0, limit);
    return { data: shown.map(alertView), next: found.length > limit ? (shown.at(-1)?.id ?? null) : null };
  },
});

export const showAlertSettings = adminRoute({
  method: "GET",
  path: "/api/alerts/settings",
  id: "showAlertSettings",
  summary: "Show who is told what, and how the last delivery to each went.",
  roles: ["admin", "viewer"],
  answers: [json(AlertSettingsAnswer, "What `alerts` of the configuration says, without addresses and secrets.")],
  handle: async (_call, _context, { alerts }) => {
    const { webhooks, budgetPercent, providerDown, gatewayDegraded, errors, retryHours } = alerts.settings;
    const shown = webhooks.map(async ({ name, url, secret, events }) => {
      const last = await alerts.lastTry(name);
      const address = new URL(url.reveal()).origin;
      return {
        name,
        address,
        signed: secret !== undefined,
        events: events ?? null,
        last: last === undefined ? null : deliveryView(last),
      };
    });
    return {
      data: {
        webhooks: await Promise.all(shown),
        budget_percent: budgetPercent,
        provider_down: providerDown,
        gateway_degraded: gatewayDegraded,
        error_percent: errors.percent,
        error_minutes: errors.minutes,
        error_min_calls: errors.minCalls,
        retry_hours: retryHours,
      },
    };
  },
});

export const testAlerts = adminRoute({
  method: "POST",
  path: "/api/alerts/test",
  id: "testAlerts",
  summary: "Send a test to one webhook, or to all, and show what it answers.",
  roles: ["admin"],
  body: Type.Object(
    { webhook: Type.Optional(Type.String({ description: "Its name; all where it is absent." })) },
    { title: "AlertTestRequest" },
  ),
  bodyMayBeAbsent: true,
  answers: [json(AlertTestAnswer, "How each went: one try, which is not in the list of alerts.")],
  handle: async ({ body, operator, connection, request }, { storage, gateway }, { alerts }) => {
    const chosen = webhooksOf(alerts, body.webhook);
    const target = body.webhook ?? "all";
    await recordAct(storage, { ...actorOf(operator, connection), act: "alerts.test", target }, gateway);
    const tested = await alerts.test(chosen, request.signal);
    return { data: tested.map((one) => ({ ...one, status: one.status ?? null, error: one.error ?? null })) };
  },
});

export const deliverAlert = adminRoute({
  method: "POST",
  path: "/api/alerts/{id}/deliver",
  id: "deliverAlert",
  summary: "Deliver an alert again: to one webhook, or to all that have not taken it.",
  roles: ["admin"],
  body: Type.Object(
    {
      webhook: Type.Optional(Type.String({ description: "Its name; all that have not taken it where it is absent." })),
    },
    { title: "AlertDeliverRequest" },
  ),
  bodyMayBeAbsent: true,
  answers: [
    {
      ...json(
        dataAnswer("AlertAnswer", Alert),
        "It is sent now, with the id and the bytes that it had, and tried again as a new one is.",
      ),
      status: 202,
    },
  ],
  handle: async ({ parameters, body, operator, connection }, { storage, gateway }, { alerts }) => {
    const id = parameters["id"] ?? "";
    const alert = await selectAlert(storage, id);
    if (alert === undefined) {
      const message = `There is no alert ${JSON.stringify(id.slice(0, 100))}; GET /api/alerts shows the ids.`;
      throw new GatewayError("not_found", message, { code: "alert_not_found" });
    }
    const webhooks = receiversAgain(alert, alerts, body.webhook);
    const about = { act: "alerts.deliver", target: id, after: { webhooks } };
    await alerts.deliverAgain(id, webhooks, (queries) =>
      recordAct(queries, { ...actorOf(operator, connection), ...about }, gateway),
    );
    return { data: alertView((await selectAlert(storage, id)) ?? alert) };
  },
});

/** Those of an alert's webhooks that are to get it again. */
function receiversAgain({ deliveries }: DeliveredAlert, alerts: Alerts, name: string | undefined): string[] {
  const configured = new Set(alerts.settings.webhooks.map((webhook) => webhook.name));
  if (name !== undefined) {
    if (deliveries.every(({ webhook }) => webhook !== name)) {
      const told = deliveries.map(({ webhook }) => webhook).join(", ") || "none";
      const message = `The webhook ${JSON.stringify(name.slice(0, 100))} was not told of it; told were ${told}.`;
      throw new GatewayError("not_found", message, { code: "webhook_not_found" });
    }
    if (configured.has(name)) return [name];
    const message = `The webhook ${JSON.stringify(name)} is not in the configuration any more.`;
    throw new GatewayError("invalid_request", message, { code: "webhook_not_configured", path: "webhook" });
  }
  const waiting = deliveries.filter(({ webhook, state }) => state !== "delivered" && configured.has(webhook));
  if (waiting.length > 0) return waiting.map(({ webhook }) => webhook);
  const message = "Every webhook that is configured has taken it. Name one to send it again.";
  throw new GatewayError("invalid_request", message, { code: "alert_delivered" });
}

function webhooksOf(alerts: Alerts, name: string | undefined) {
  const { webhooks } = alerts.settings;
  if (webhooks.length === 0) {
    const remedy = "Add one under alerts.webhooks in the configuration.";
    throw new GatewayError("invalid_request", `There is no webhook to test. ${remedy}`, { code: "no_webhooks" });
  }
  if (name === undefined) return webhooks;
  const found = webhooks.filter((one) => one.name === name);
  if (found.length > 0) return found;
  const known = webhooks.map((one) => one.name).join(", ");
  throw new GatewayError("not_found", `There is no webhook ${JSON.stringify(name)}; known are ${known}.`, {
    code: "webhook_not_found",
  });
}

function alertView({ id, type, atMs, body, deliveries }: DeliveredAlert) {
  const said = parseObject(body);
  return {
    id,
    type,
    at: new Date(atMs).toISOString(),
    text: stringAt(said, "text") ?? "",
    data: objectAt(said, "data") ?? {},
    deliveries: deliveries.map(deliveryView),
  };
}

const deliveryView = ({ webhook, state, tries, triedAtMs, status, error }: StoredDelivery) => ({
  webhook,
  state,
  tries,
  tried_at: triedAtMs === undefined ? null : new Date(triedAtMs).toISOString(),
  status: status ?? null,
  error: error ?? null,
});
