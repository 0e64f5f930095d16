import { Type } from "../../base/type.ts";
import { GatewayError } from "../../canon/error.ts";
import type { GatewayEvent } from "../../observe/event-hub.ts";
import { events as eventAnswer } from "../openapi/operation.ts";
import { adminRoute } from "./define-route.ts";
import { eventStream } from "./event-stream.ts";
import { oneOfField, textField } from "./query-fields.ts";
import { Timestamp } from "./schemas/answers.ts";

/** Each reader costs the calls a little. */
const MAX_READERS = 20;

const Event = Type.Object(
  {
    type: Type.Enum(["call.begun", "call.committed", "call.ended", "health", "operation", "lagged"]),
    at: Type.Optional(Timestamp),
  },
  { title: "GatewayEvent", description: "Further fields depend on the type: see docs/admin.md." },
);

export const watchEvents = adminRoute({
  method: "GET",
  path: "/api/events",
  id: "watchEvents",
  summary: "Watch calls, health and operations of this gateway.",
  roles: ["admin", "viewer"],
  query: {
    type: oneOfField("Only these types.", ["call", "health", "operation"]),
    project: textField("Only calls and operations of this project."),
    key: textField("Only calls and operations of the key with this id."),
    model: textField("Only calls and operations of this model."),
    provider: textField("Only events of this provider; a call that has just begun has none yet."),
  },
  answers: [
    eventAnswer(Event, "Server-sent events, with a comment every 15 seconds. `lagged` reports how many were dropped."),
  ],
  handle: ({ request, query, connection }, { gateway, draining }) => {
    const { events, clock } = gateway;
    if (events.listeners >= MAX_READERS) {
      throw new GatewayError(
        "overloaded",
        `Too many event streams are open (limit ${MAX_READERS}). Close one of them.`,
      );
    }
    connection.hold();
    const stopping = new AbortController();
    const cancel = clock.every(
      STOP_LOOK_MS,
      () => {
        if (draining() || gateway.closing) stopping.abort();
      },
      { background: true },
    );
    const signal = AbortSignal.any([request.signal, stopping.signal]);
    const wanted = (event: GatewayEvent) => matches(event, query);
    return new Response(eventStream({ events, clock, wanted, encode: eventView, signal, onEnd: cancel }), {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
    });
  },
});

/** How soon a stream ends when the gateway stops. */
const STOP_LOOK_MS = 500;

type Filter = Partial<Record<"type" | "project" | "key" | "model" | "provider", string | undefined>>;

function matches(event: GatewayEvent, { type, project, key, model, provider }: Filter): boolean {
  if (type !== undefined && event.type !== type && !event.type.startsWith(`${type}.`)) return false;
  if (event.type === "health") {
    if (project !== undefined || key !== undefined || model !== undefined) return false;
    return provider === undefined || event.provider === provider;
  }
  if (provider !== undefined && !("provider" in event && event.provider === provider)) return false;
  return (
    (project === undefined || event.project === project) &&
    (key === undefined || event.key === key) &&
    (model === undefined || event.model === model)
  );
}

/** In snake_case like every other response, with null for unknown values. */
function eventView({ atMs, ...event }: GatewayEvent): object {
  const fields = Object.entries(event).map(([name, value]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value ?? null,
  ]);
  return { at: new Date(atMs).toISOString(), ...Object.fromEntries(fields) };
}
