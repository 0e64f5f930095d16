import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import type { Questions } from "../../../instances/questions.ts";
import type { Gateway } from "../../../relay/gateway.ts";
import type { RunningCall } from "../../../relay/running-calls.ts";
import type { LiveSessions } from "../../live/live-sessions.ts";
import { callItem } from "./call-item.ts";
import { MAX_SESSIONS, sessionItem } from "./session-item.ts";

/** Teaches a process to answer what operators ask through any process. */
export function answerOperators(questions: Questions, gateway: Gateway, live: LiveSessions): void {
  questions.answer("calls", (details) => callsOf(gateway, details));
  questions.answer("stop_call", (details) => stopCall(gateway, details));
  questions.answer("live_sessions", (details) => {
    const matches = matcher(details);
    const found = live.list().filter(({ key, project }) => matches("key", key) && matches("project", project));
    const item = (view: (typeof found)[number]) => sessionItem(view, gateway.instance);
    return { sessions: found.slice(0, MAX_SESSIONS).map(item), total: found.length };
  });
  questions.answer("end_live_session", (details) => {
    const session = live.find(stringAt(details, "id") ?? "");
    if (session === undefined || !matcher(details)("project", session.view.project)) return { session: null };
    const item = sessionItem(session.view, gateway.instance);
    session.endNow();
    return { session: item };
  });
  questions.answer("guard_verdicts", (details) => {
    const names = arrayAt(details, "guards").filter((name) => typeof name === "string");
    return {
      verdicts: names.flatMap((name) => gateway.metrics.guardVerdicts(name).map((count) => ({ name, ...count }))),
    };
  });
}

/** Absent fields match everything. */
const matcher =
  (wanted: JsonObject | undefined) =>
  (field: string, value: string | null): boolean =>
    (stringAt(wanted, field) ?? value) === value;

function callsOf(gateway: Gateway, details: JsonObject): JsonObject {
  const matches = matcher(objectAt(details, "filter"));
  const limit = numberAt(details, "limit") ?? 0;
  const order = stringAt(details, "sort") === "newest" ? -1 : 1;
  const found = gateway.calls
    .list()
    .filter((call) => matches("project", call.principal.project) && matches("key", call.principal.keyId))
    .toSorted((one, other) => order * (one.startedAtMs - other.startedAtMs));
  const wantsItem = ["model", "provider"].some((field) => stringAt(objectAt(details, "filter"), field) !== undefined);
  if (!wantsItem) return { calls: found.slice(0, limit).map((call) => callItem(call, gateway)), total: found.length };
  const items = found
    .map((call) => callItem(call, gateway))
    .filter(({ model, provider }) => matches("model", model) && matches("provider", provider));
  return { calls: items.slice(0, limit), total: items.length };
}

function stopCall(gateway: Gateway, details: JsonObject): JsonObject {
  const call = gateway.calls.find(stringAt(details, "receipt") ?? "");
  if (call === undefined || !matcher(details)("project", call.principal.project)) return { call: null, stopped: false };
  const item = callItem(call, gateway);
  if (call.endsWithSession === true) return { call: item, stopped: false };
  stop(call, stringAt(details, "who") ?? "operator", gateway);
  return { call: item, stopped: true };
}

function stop({ client, receiptId }: RunningCall, who: string, { log }: Gateway): void {
  log.info({ receipt: receiptId, who }, "an operator stopped a call");
  client.stop(who);
}
