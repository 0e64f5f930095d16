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
  summary: "List sent alerts with their deliveries, newest first.",
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
  summary: "Show the alert destinations, what each receives, and its last delivery.",
  roles: ["admin", "viewer"],
  answers: [json(AlertSettingsAnswer, "The `alerts` section of the configuration, without addresses and secrets.")],
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
  summary: "Send a test alert to one webhook, or to all, and show the responses.",
  roles: ["admin"],
  body: Type.Object(
    { webhook: Type.Optional(Type.String({ description: "Name of the webhook. Default: all webhooks." })) },
    { title: "AlertTestRequest" },
  ),
  bodyMayBeAbsent: true,
  answers: [
    json(AlertTestAnswer, "The result for each webhook. A test is attempted once and is not in the list of alerts."),
  ],
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
  summary: "Deliver an alert again: to one webhook, or to all that have not accepted it.",
  roles: ["admin"],
  body: Type.Object(
    {
      webhook: Type.Optional(
        Type.String({ description: "Name of the webhook. Default: all that have not accepted it." }),
      ),
    },
    { title: "AlertDeliverRequest" },
  ),
  bodyMayBeAbsent: true,
  answers: [
    {
      ...json(
        dataAnswer("AlertAnswer", Alert),
        "It is sent now, with the same id and bytes, and retried like a new alert.",
      ),
      status: 202,
    },
  ],
  handle: async ({ parameters, body, operator, connection }, { storage, gateway }, { alerts }) => {
    const id = parameters["id"] ?? "";
    const alert = await selectAlert(storage, id);
    if (alert === undefined) {
      const message = `There is no alert ${JSON.stringify(id.slice(0, 100))}; GET /api/alerts lists the ids.`;
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

/** The webhooks of an alert that should receive it again. */
function receiversAgain({ deliveries }: DeliveredAlert, alerts: Alerts, name: string | undefined): string[] {
  const configured = new Set(alerts.settings.webhooks.map((webhook) => webhook.name));
  if (name !== undefined) {
    if (deliveries.every(({ webhook }) => webhook !== name)) {
      const told = deliveries.map(({ webhook }) => webhook).join(", ") || "none";
      const message = `The alert was not sent to the webhook ${JSON.stringify(name.slice(0, 100))}; it was sent to ${told}.`;
      throw new GatewayError("not_found", message, { code: "webhook_not_found" });
    }
    if (configured.has(name)) return [name];
    const message = `The webhook ${JSON.stringify(name)} is no longer in the configuration.`;
    throw new GatewayError("invalid_request", message, { code: "webhook_not_configured", path: "webhook" });
  }
  const waiting = deliveries.filter(({ webhook, state }) => state !== "delivered" && configured.has(webhook));
  if (waiting.length > 0) return waiting.map(({ webhook }) => webhook);
  const message = "Every configured webhook has accepted this alert. Name one to send it again.";
  throw new GatewayError("invalid_request", message, { code: "alert_delivered" });
}

function webhooksOf(alerts: Alerts, name: string | undefined) {
  const { webhooks } = alerts.settings;
  if (webhooks.length === 0) {
    const remedy = "Add one under alerts.webhooks in the configuration.";
    throw new GatewayError("invalid_request", `No webhook is configured. ${remedy}`, { code: "no_webhooks" });
  }
  if (name === undefined) return webhooks;
  const found = webhooks.filter((one) => one.name === name);
  if (found.length > 0) return found;
  const known = webhooks.map((one) => one.name).join(", ");
  throw new GatewayError("not_found", `There is no webhook ${JSON.stringify(name)}; expected one of ${known}.`, {
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
