import { describe, expect, test } from "bun:test";
import { objectAt, stringAt } from "../../src/base/json.ts";
import { UPSTREAM_URL } from "../../testing/harness.ts";
import type { LiveClient } from "../../testing/live-client.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { type LiveFault, LiveFaultHarness } from "../support/live-fault-harness.ts";

/** The last message of a turn before the fault. */
type Moment = "opened" | "created" | "streaming" | "completed";
type Fault = Exclude<LiveFault, "upstream closes" | "malformed upstream">;

/**
 * What the client sees last of the turn in progress, of a turn that it begins after the fault, and of the connection; and how each turn
 * is billed.
 */
type Row = [fault: Fault, moment: Moment, turn: string, next: string, closed: number | undefined, ...billed: string[]];

// biome-ignore format: a table is read in columns
const TABLE: readonly Row[] = [
  ["client gone",     "opened",    "-",                     "-",                        undefined],
  ["client gone",     "created",   "-",                     "-",                        undefined, "client_gone: part"],
  ["client gone",     "streaming", "output_text.delta",     "-",                        undefined, "client_gone: part"],
  ["client gone",     "completed", "completed",             "-",                        undefined, "ok: whole"],
  ["upstream cut",    "created",   "completed",             "completed",                undefined, "ok: whole", "ok: whole"],
  ["upstream cut",    "streaming", "failed server_error",   "completed",                undefined, "upstream_failed: part", "ok: whole"],
  ["upstream silent", "created",   "error upstream_timeout", "completed",               undefined, "upstream_timeout: nothing", "ok: whole"],
  ["upstream silent", "streaming", "failed server_error",   "completed",                undefined, "upstream_timeout: part", "ok: whole"],
  ["malformed",       "opened",    "-",                     "completed",                undefined, "ok: whole"],
  ["malformed",       "created",   "completed",             "completed",                undefined, "ok: whole", "ok: whole"],
  ["malformed",       "streaming", "completed",             "completed",                undefined, "ok: whole", "ok: whole"],
  ["malformed",       "completed", "completed",             "completed",                undefined, "ok: whole", "ok: whole"],
  ["revoked",         "opened",    "-",                     "-",                        1008],
  ["revoked",         "created",   "completed",             "error invalid_api_key",    1008, "ok: whole"],
  ["revoked",         "streaming", "completed",             "error invalid_api_key",    1008, "ok: whole"],
  ["revoked",         "completed", "completed",             "-",                        1008, "ok: whole"],
  ["no budget",       "opened",    "-",                     "error insufficient_quota", undefined],
  ["no budget",       "created",   "completed",             "error insufficient_quota", undefined, "ok: whole"],
  ["no budget",       "streaming", "completed",             "error insufficient_quota", undefined, "ok: whole"],
  ["no budget",       "completed", "completed",             "error insufficient_quota", undefined, "ok: whole"],
  ["drain",           "opened",    "-",                     "-",                        1001],
  ["drain",           "created",   "completed",             "error draining",           1001, "ok: whole"],
  ["drain",           "streaming", "completed",             "error draining",           1001, "ok: whole"],
  ["drain",           "completed", "completed",             "-",                        1001, "ok: whole"],
];

const DIALECTS = ["responses", "messages"] as const;
type Upstream = (typeof DIALECTS)[number];

/** At the prices of `scriptedModels`: 10 tokens there and 20 back. */
const WHOLE = 50_000;

const create = (model: string, streamId: string) => ({
  type: "response.create",
  model,
  input: "Is it so?",
  max_output_tokens: 100,
  store: false,
  stream_id: streamId,
});

async function see(dialect: Upstream, fault: Fault, moment: Moment): Promise<Row> {
  const world = await LiveFaultHarness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
  const { clock, upstream } = world.harness;
  const model = `test/${dialect}`;
  const whole = plainStream(dialect, ["It is ", "so."], plainUsage(dialect, 10, 20));
  const cut = whole.indexOf("so.");
  const begun = whole.slice(0, whole.lastIndexOf("event:", cut));
  const silent: Script = (reply) => reply.head(200, { "content-type": "text/event-stream" });
  upstream.play(...(moment === "opened" ? [] : [silent]), upstream.stream(whole));
  const client = await world.harness.openLive("/v1/responses", { key: world.key });

  const first = () => upstream.replies[0];
  if (moment !== "opened") {
    client.say(create(model, "first"));
    await clock.pass(10);
  }
  if (moment === "streaming") {
    void first()?.write(begun);
    await client.hears("response.output_text.delta");
  }
  if (moment === "completed") {
    void first()?.write(whole);
    first()?.end();
    await client.hears("response.completed");
  }

  if (fault === "upstream cut") first()?.fail("broken");
  else if (fault !== "upstream silent") await world.play(fault, client);
  if (fault !== "upstream silent") {
    await clock.pass(100);
    if (fault !== "upstream cut" && fault !== "client gone" && (moment === "created" || moment === "streaming")) {
      client.say(create(model, "next"));
      await clock.pass(100);
      void first()?.write(moment === "created" ? whole : whole.slice(begun.length));
      first()?.end();
    }
  }
  await clock.pass(1_000);
  if (client.closed === undefined && !wasTold(client, "next") && fault !== "client gone")
    client.say(create(model, "next"));
  await clock.pass(60_000);
  const billed = await world.bills(client, WHOLE);
  return [fault, moment, endOf(client, "first"), endOf(client, "next"), client.closed?.code, ...billed];
}

const wasTold = ({ events }: LiveClient, streamId: string): boolean =>
  events.some((event) => event["stream_id"] === streamId);

/** The last event of a stream: its type, or the code of its error. */
function endOf({ events }: LiveClient, streamId: string): string {
  const last = events.findLast((event) => event["stream_id"] === streamId);
  if (last === undefined) return "-";
  const error = objectAt(last, "error") ?? objectAt(objectAt(last, "response"), "error");
  const code = stringAt(error, "code") ?? stringAt(error, "type");
  return error === undefined ? last.type.replace("response.", "") : `${last.type.replace("response.", "")} ${code}`;
}

describe("decision 0115, H26: a fault after each message of a turn", () => {
  for (const dialect of DIALECTS) {
    for (const row of TABLE) {
      const [fault, moment] = row;
      test(`${dialect}: ${fault}, ${moment}`, async () => {
        expect(await see(dialect, fault, moment)).toEqual(row);
      });
    }
  }
});
