import { afterAll, describe, expect, test } from "bun:test";
import { objectAt, stringAt } from "../../src/base/json.ts";
import { UPSTREAM_URL } from "../../testing/harness.ts";
import { liveModels, REALTIME_COST, realtime, realtimeHost } from "../../testing/live/live-hosts.ts";
import type { LiveClient } from "../../testing/live-client.ts";
import { LIVE_FAULTS, type LiveFault, LiveFaultHarness } from "../support/live-fault-harness.ts";

/** `npm run faults:live` prints the table as it was seen. */
const PRINT = process.env["TRIVIUM_FAULTS"] === "live";

/** The last message of a turn before the fault. The host begins a `detected` turn by itself. */
type Moment = "opened" | "speech" | "asked" | "created" | "detected" | "speaking" | "done";

/**
 * What the client sees last of the turn in progress, of a turn that it begins after the fault, and of the connection; and how each turn
 * is billed.
 */
type Row = [
  fault: LiveFault,
  moment: Moment,
  turn: string,
  next: string,
  closed: number | undefined,
  ...billed: string[],
];

// biome-ignore format: a table is read in columns
const TABLE: readonly Row[] = [
  ["client gone",        "opened",   "-",                           "-",                        undefined],
  ["client gone",        "speech",   "-",                           "-",                        undefined],
  ["client gone",        "asked",    "-",                           "-",                        undefined, "client_gone: whole"],
  ["client gone",        "created",  "created",                     "-",                        undefined, "client_gone: whole"],
  ["client gone",        "detected", "created",                     "-",                        undefined, "client_gone: whole"],
  ["client gone",        "speaking", "output_audio.delta",          "-",                        undefined, "client_gone: whole"],
  ["client gone",        "done",     "done completed",              "-",                        undefined, "ok: whole"],
  ["upstream cut",       "opened",   "error upstream_failed",       "-",                        1011],
  ["upstream cut",       "speech",   "error upstream_failed",       "-",                        1011],
  ["upstream cut",       "asked",    "error upstream_failed",       "-",                        1011, "upstream_failed: nothing"],
  ["upstream cut",       "created",  "error upstream_failed",       "-",                        1011, "upstream_failed: part"],
  ["upstream cut",       "detected", "error upstream_failed",       "-",                        1011, "upstream_failed: part"],
  ["upstream cut",       "speaking", "error upstream_failed",       "-",                        1011, "upstream_failed: part"],
  ["upstream cut",       "done",     "error upstream_failed",       "-",                        1011, "ok: whole"],
  ["upstream closes",    "opened",   "-",                           "-",                        1001],
  ["upstream closes",    "speech",   "-",                           "-",                        1001],
  ["upstream closes",    "asked",    "error upstream_failed",       "-",                        1001, "upstream_failed: nothing"],
  ["upstream closes",    "created",  "error upstream_failed",       "-",                        1001, "upstream_failed: part"],
  ["upstream closes",    "detected", "error upstream_failed",       "-",                        1001, "upstream_failed: part"],
  ["upstream closes",    "speaking", "error upstream_failed",       "-",                        1001, "upstream_failed: part"],
  ["upstream closes",    "done",     "done completed",              "-",                        1001, "ok: whole"],
  ["upstream silent",    "opened",   "-",                           "done completed",           undefined, "ok: whole"],
  ["upstream silent",    "speech",   "-",                           "done completed",           undefined, "ok: whole"],
  ["upstream silent",    "asked",    "error upstream_timeout",      "-",                        1011, "upstream_timeout: nothing"],
  ["upstream silent",    "created",  "error upstream_timeout",      "-",                        1011, "upstream_timeout: part"],
  ["upstream silent",    "detected", "error upstream_timeout",      "-",                        1011, "upstream_timeout: part"],
  ["upstream silent",    "speaking", "error upstream_timeout",      "-",                        1011, "upstream_timeout: part"],
  ["upstream silent",    "done",     "done completed",              "done completed",           undefined, "ok: whole", "ok: whole"],
  ["malformed",          "opened",   "error invalid_request_error", "done completed",           undefined, "ok: whole"],
  ["malformed",          "speech",   "error invalid_request_error", "done completed",           undefined, "ok: whole"],
  ["malformed",          "asked",    "done completed",              "done completed",           undefined, "ok: whole", "ok: whole"],
  ["malformed",          "created",  "done completed",              "done completed",           undefined, "ok: whole", "ok: whole"],
  ["malformed",          "detected", "done completed",              "done completed",           undefined, "ok: whole", "ok: whole"],
  ["malformed",          "speaking", "done completed",              "done completed",           undefined, "ok: whole", "ok: whole"],
  ["malformed",          "done",     "error invalid_request_error", "done completed",           undefined, "ok: whole", "ok: whole"],
  ["malformed upstream", "opened",   "error upstream_failed",       "-",                        1011],
  ["malformed upstream", "speech",   "error upstream_failed",       "-",                        1011],
  ["malformed upstream", "asked",    "error upstream_failed",       "-",                        1011, "upstream_failed: nothing"],
  ["malformed upstream", "created",  "error upstream_failed",       "-",                        1011, "upstream_failed: part"],
  ["malformed upstream", "detected", "error upstream_failed",       "-",                        1011, "upstream_failed: part"],
  ["malformed upstream", "speaking", "error upstream_failed",       "-",                        1011, "upstream_failed: part"],
  ["malformed upstream", "done",     "error upstream_failed",       "-",                        1011, "ok: whole"],
  ["revoked",            "opened",   "error invalid_api_key",       "-",                        1008],
  ["revoked",            "speech",   "error invalid_api_key",       "-",                        1008],
  ["revoked",            "asked",    "error invalid_api_key",       "error invalid_api_key",    1008, "ok: whole"],
  ["revoked",            "created",  "error invalid_api_key",       "error invalid_api_key",    1008, "ok: whole"],
  ["revoked",            "detected", "error invalid_api_key",       "error invalid_api_key",    1008, "ok: whole"],
  ["revoked",            "speaking", "error invalid_api_key",       "error invalid_api_key",    1008, "ok: whole"],
  ["revoked",            "done",     "error invalid_api_key",       "-",                        1008, "ok: whole"],
  ["no budget",          "opened",   "-",                           "error insufficient_quota", undefined],
  ["no budget",          "speech",   "-",                           "error insufficient_quota", undefined],
  ["no budget",          "asked",    "done completed",              "error insufficient_quota", undefined, "ok: whole"],
  ["no budget",          "created",  "done completed",              "error insufficient_quota", undefined, "ok: whole"],
  ["no budget",          "detected", "done completed",              "error insufficient_quota", undefined, "ok: whole"],
  ["no budget",          "speaking", "done completed",              "error insufficient_quota", undefined, "ok: whole"],
  ["no budget",          "done",     "done completed",              "error insufficient_quota", undefined, "ok: whole"],
  ["drain",              "opened",   "error draining",              "-",                        1001],
  ["drain",              "speech",   "error draining",              "-",                        1001],
  ["drain",              "asked",    "done completed",              "error draining",           1001, "ok: whole"],
  ["drain",              "created",  "done completed",              "error draining",           1001, "ok: whole"],
  ["drain",              "detected", "done completed",              "error draining",           1001, "ok: whole"],
  ["drain",              "speaking", "done completed",              "error draining",           1001, "ok: whole"],
  ["drain",              "done",     "error draining",              "-",                        1001, "ok: whole"],
];

async function see(fault: LiveFault, moment: Moment): Promise<Row> {
  const world = await LiveFaultHarness.start({ config: liveModels(UPSTREAM_URL) });
  const { clock, sockets } = world.harness;
  sockets.play(realtimeHost());
  const client = await world.harness.openLive("/v1/realtime?model=test/realtime", { key: world.key });
  await client.hears("session.created");
  const { host } = sockets;
  const begun = client.events.length;

  const isAsked = moment !== "opened" && moment !== "speech" && moment !== "detected";
  if (moment !== "opened") client.say(realtime.speech(1));
  if (isAsked) {
    client.say({ type: "response.create", event_id: "first" });
    await clock.pass(10);
  }
  if (moment === "created" || moment === "detected" || moment === "speaking" || moment === "done")
    host.say(realtime.began("resp_1"));
  if (moment === "speaking" || moment === "done")
    host.say(realtime.text("resp_1", "It is"), realtime.audio("resp_1", 1));
  if (moment === "done") host.say(realtime.done("resp_1"));
  await clock.pass(100);

  await world.play(fault, client);
  await clock.pass(100);
  // The turn in progress goes on, if it can.
  const isRunning = moment === "asked" || moment === "created" || moment === "detected" || moment === "speaking";
  const faulted = client.events.length;
  if (isRunning && fault !== "upstream silent") {
    client.say({ type: "response.create", event_id: "next" });
    await clock.pass(100);
    if (moment === "asked") host.say(realtime.began("resp_1"));
    if (moment !== "speaking") host.say(realtime.audio("resp_1", 1));
    host.say(realtime.done("resp_1"));
  }
  await clock.pass(1_500);
  if (!isRunning && client.closed === undefined) client.say({ type: "response.create", event_id: "next" });
  await clock.pass(100);
  // A turn that was asked for after the fault and admitted.
  if (host.isOpen && host.ofType("response.create").some((event) => event["event_id"] === "next")) {
    host.say(realtime.began("resp_2"), realtime.audio("resp_2", 1), realtime.done("resp_2"));
    await clock.pass(100);
  }
  const closed = client.closed?.code;
  const billed = await world.bills(client, REALTIME_COST);
  return [fault, moment, endOf(client, begun, "resp_1"), nextOf(client, faulted), closed, ...billed];
}

const codeOf = (error: unknown): string => stringAt(error, "code") ?? stringAt(error, "type") ?? "";

/** The last event of the turn, or the error after it. */
function endOf({ events }: LiveClient, from: number, id: string): string {
  const last = events.slice(from).findLast((event) => {
    const isOfNext = objectAt(event, "error")?.["event_id"] === "next";
    const response = stringAt(event, "response_id") ?? stringAt(objectAt(event, "response"), "id");
    return (event.type === "error" && !isOfNext) || response === id;
  });
  if (last === undefined) return "-";
  if (last.type === "error") return `error ${codeOf(last["error"])}`;
  const status = stringAt(objectAt(last, "response"), "status");
  return last.type === "response.done" ? `done ${status}` : last.type.replace("response.", "");
}

function nextOf({ events }: LiveClient, from: number): string {
  const mine = events.slice(from);
  const refused = mine.find((event) => objectAt(event, "error")?.["event_id"] === "next");
  if (refused !== undefined) return `error ${codeOf(refused["error"])}`;
  const done = mine.find((event) => event.type === "response.done" && objectAt(event, "response")?.["id"] === "resp_2");
  return done === undefined ? "-" : "done completed";
}

const seen: Row[] = [];

const MOMENTS: readonly Moment[] = ["opened", "speech", "asked", "created", "detected", "speaking", "done"];

describe("decision 0116, H26: a fault after each message of a turn of Realtime", () => {
  afterAll(() => {
    if (PRINT) console.log(["fault", "after", "turn", "next turn", "close code", "billed"].join(" | "));
    if (PRINT)
      for (const [fault, moment, turn, next, closed, ...billed] of seen)
        console.log([fault, moment, turn, next, closed ?? "-", billed.join(", ") || "-"].join(" | "));
  });

  for (const fault of LIVE_FAULTS) {
    for (const moment of MOMENTS) {
      test(`${fault}, ${moment}`, async () => {
        const row = await see(fault, moment);
        seen.push(row);
        if (!PRINT) expect(row).toEqual(TABLE.find(([of, at]) => of === fault && at === moment) as Row);
      });
    }
  }
});
