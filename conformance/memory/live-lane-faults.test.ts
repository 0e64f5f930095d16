import { afterAll, describe, expect, test } from "bun:test";
import { isObject, type JsonObject, objectAt, stringAt } from "../../src/base/json.ts";
import { type Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import {
  LIVE_COST,
  live,
  liveHost,
  liveModels,
  REALTIME_COST,
  realtime,
  realtimeHost,
} from "../../testing/live/live-hosts.ts";
import type { HostScript, MemoryHost } from "../../testing/live/memory-sockets.ts";
import type { LiveClient } from "../../testing/live-client.ts";
import { LIVE_FAULTS, type LiveFault, LiveFaultHarness } from "../support/live-fault-harness.ts";

/** `npm run faults:live` prints the tables as they were seen. */
const PRINT = process.env["TRIVIUM_FAULTS"] === "live";

type Protocol = "realtime" | "live";
/** The last message of a turn before the fault. The host begins a `detected` turn by itself. */
type Moment = "opened" | "speech" | "asked" | "detected" | "speaking" | "done";
const MOMENTS: readonly Moment[] = ["opened", "speech", "asked", "detected", "speaking", "done"];

/**
 * What the client sees from the fault on, when another turn is asked for after it; the code with which the connection is then closed;
 * and how each turn is billed.
 */
type Row = [fault: LiveFault, moment: Moment, seen: string, closed: number | undefined, ...billed: string[]];

const PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

/** What a client of each protocol says, and how what it sees is written in a table. */
const CLIENTS = {
  realtime: {
    open: async (harness: Harness, model: string, key: string) => {
      const client = await harness.openLive(`/v1/realtime?model=${model}`, { key });
      await client.hears("session.created");
      client.say({ type: "session.update", session: { type: "realtime", instructions: "Be brief." } });
      await client.hears("session.updated");
      return client;
    },
    speech: () => realtime.speech(1),
    ask: (client: LiveClient, name: string) => {
      const content = [{ type: "input_text", text: "Is it so?" }];
      client.say({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
      client.say({ type: "response.create", event_id: name });
    },
    words: (event: JsonObject): string | undefined => {
      if (event["type"] === "error") return `error ${codeOf(event["error"])}`;
      if (event["type"] === "response.done") return `done:${stringAt(objectAt(event, "response"), "status")}`;
      if (event["type"] === "response.created") return "created";
      return event["type"] === "response.output_audio.delta" ? "audio" : undefined;
    },
  },
  live: {
    open: async (harness: Harness, model: string, key: string) => {
      const client = await harness.openLive(`${PATH}?key=${key}`, { headers: { authorization: "" } });
      client.say(live.setup(model));
      await harness.clock.pass(100);
      expect(client.events).toHaveLength(1);
      return client;
    },
    speech: () => ({
      realtimeInput: { audio: { data: Buffer.alloc(32_000).toString("base64"), mimeType: "audio/pcm;rate=16000" } },
    }),
    ask: (client: LiveClient, _name: string) => client.say(live.say("Is it so?")),
    words: (event: JsonObject): string | undefined => {
      if (event["error"] !== undefined) return `error ${codeOf(event["error"])}`;
      if (event["goAway"] !== undefined) return "goAway";
      const content = objectAt(event, "serverContent");
      if (content?.["interrupted"] === true) return "interrupted";
      if (content?.["turnComplete"] === true) return "turnComplete";
      return isObject(content?.["modelTurn"]) ? "audio" : undefined;
    },
  },
};

const codeOf = (error: unknown): string =>
  stringAt(error, "status") ?? stringAt(error, "code") ?? stringAt(error, "type") ?? "";

/** What a host of each protocol says. */
const HOSTS = {
  realtime: {
    script: (): HostScript => {
      const { asked, heard } = realtimeHost();
      return {
        ...(asked && { asked }),
        heard: (host, event) => {
          if (event["type"] === "session.update") host.say({ ...realtime.created(), type: "session.updated" });
          heard?.(host, event);
        },
      };
    },
    begins: (host: MemoryHost, id: string) => host.say(realtime.began(id)),
    speaks: (host: MemoryHost, id: string) => host.say(realtime.text(id, "It is"), realtime.audio(id, 1)),
    ends: (host: MemoryHost, id: string) => host.say(realtime.done(id)),
    asked: (host: MemoryHost) => host.ofType("response.create").length,
    cost: REALTIME_COST,
  },
  live: {
    script: (): HostScript => liveHost(),
    begins: () => {},
    speaks: (host: MemoryHost) => host.say(live.audio(1)),
    ends: (host: MemoryHost) => host.say(live.done()),
    asked: (host: MemoryHost) =>
      host.events.filter((event) => objectAt(event, "clientContent")?.["turnComplete"] === true).length,
    cost: LIVE_COST,
  },
};

/** After these, a turn is refused: it is asked for while the one in progress goes on. */
const REFUSING: ReadonlySet<LiveFault> = new Set(["revoked", "no budget", "drain"]);

async function see(from: Protocol, to: Protocol, fault: LiveFault, moment: Moment): Promise<Row> {
  const world = await LiveFaultHarness.start({ config: liveModels(UPSTREAM_URL) });
  const { clock, sockets } = world.harness;
  const [speaker, played] = [CLIENTS[from], HOSTS[to]];
  sockets.play(played.script());
  const client = await speaker.open(world.harness, `test/${to}`, world.key);
  const { host } = sockets;

  const isBegun = moment === "detected" || moment === "speaking" || moment === "done";
  if (moment !== "opened") client.say(speaker.speech());
  if (moment === "asked" || moment === "speaking" || moment === "done") speaker.ask(client, "first");
  await clock.pass(10);
  if (isBegun) played.begins(host, "resp_1");
  if (isBegun) played.speaks(host, "resp_1");
  if (moment === "done") played.ends(host, "resp_1");
  await clock.pass(100);
  const faulted = client.events.length;

  await world.play(fault, client);
  await clock.pass(100);
  const isRunning = moment === "asked" || moment === "detected" || moment === "speaking";
  const askNext = async () => {
    if (client.closed === undefined && fault !== "client gone") speaker.ask(client, "next");
    await clock.pass(100);
  };
  if (REFUSING.has(fault)) await askNext();
  // The turn in progress goes on, if it can.
  if (isRunning && fault !== "upstream silent") {
    if (moment === "asked") played.begins(host, "resp_1");
    played.speaks(host, "resp_1");
    played.ends(host, "resp_1");
  }
  await clock.pass(1_500);
  const asked = played.asked(host);
  if (!REFUSING.has(fault)) await askNext();
  if (host.isOpen && played.asked(host) > asked) {
    played.begins(host, "resp_2");
    played.speaks(host, "resp_2");
    played.ends(host, "resp_2");
    await clock.pass(100);
  }
  const closed = client.closed?.code;
  const words = client.events.slice(faulted).flatMap((event) => speaker.words(event) ?? []);
  const seen = words.filter((word, at) => word !== words[at - 1]).join(", ") || "-";
  return [fault, moment, seen, closed, ...(await world.bills(client, played.cost))];
}

// biome-ignore format: tables are read in columns
const TABLES: readonly [from: Protocol, to: Protocol, rows: readonly Row[]][] = [
  ["live", "live", [
    ["client gone",        "opened",   "-", undefined],
    ["client gone",        "speech",   "-", undefined],
    ["client gone",        "asked",    "-", undefined, "client_gone: whole"],
    ["client gone",        "detected", "-", undefined, "client_gone: whole"],
    ["client gone",        "speaking", "-", undefined, "client_gone: whole"],
    ["client gone",        "done",     "-", undefined, "ok: whole"],
    ["upstream cut",       "opened",   "error UNAVAILABLE", 1011],
    ["upstream cut",       "speech",   "error UNAVAILABLE", 1011],
    ["upstream cut",       "asked",    "error UNAVAILABLE", 1011, "upstream_failed: nothing"],
    ["upstream cut",       "detected", "turnComplete, error UNAVAILABLE", 1011, "upstream_failed: part"],
    ["upstream cut",       "speaking", "turnComplete, error UNAVAILABLE", 1011, "upstream_failed: part"],
    ["upstream cut",       "done",     "error UNAVAILABLE", 1011, "ok: whole"],
    ["upstream closes",    "opened",   "-", 1001],
    ["upstream closes",    "speech",   "-", 1001],
    ["upstream closes",    "asked",    "error UNAVAILABLE", 1001, "upstream_failed: nothing"],
    ["upstream closes",    "detected", "turnComplete, error UNAVAILABLE", 1001, "upstream_failed: part"],
    ["upstream closes",    "speaking", "turnComplete, error UNAVAILABLE", 1001, "upstream_failed: part"],
    ["upstream closes",    "done",     "-", 1001, "ok: whole"],
    ["upstream silent",    "opened",   "audio, turnComplete", undefined, "ok: whole"],
    ["upstream silent",    "speech",   "audio, turnComplete", undefined, "ok: whole"],
    ["upstream silent",    "asked",    "error DEADLINE_EXCEEDED", 1011, "upstream_timeout: nothing"],
    ["upstream silent",    "detected", "turnComplete, error DEADLINE_EXCEEDED", 1011, "upstream_timeout: part"],
    ["upstream silent",    "speaking", "turnComplete, error DEADLINE_EXCEEDED", 1011, "upstream_timeout: part"],
    ["upstream silent",    "done",     "audio, turnComplete", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "opened",   "error INVALID_ARGUMENT, turnComplete, audio, turnComplete", undefined, "ok: whole"],
    ["malformed",          "speech",   "error INVALID_ARGUMENT, turnComplete, audio, turnComplete", undefined, "ok: whole"],
    ["malformed",          "asked",    "error INVALID_ARGUMENT, audio, turnComplete, audio, turnComplete", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "detected", "error INVALID_ARGUMENT, audio, turnComplete, audio, turnComplete", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "speaking", "error INVALID_ARGUMENT, audio, turnComplete, audio, turnComplete", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "done",     "error INVALID_ARGUMENT, turnComplete, audio, turnComplete", undefined, "ok: whole", "ok: whole"],
    ["malformed upstream", "opened",   "error UNAVAILABLE", 1011],
    ["malformed upstream", "speech",   "error UNAVAILABLE", 1011],
    ["malformed upstream", "asked",    "error UNAVAILABLE", 1011, "upstream_failed: nothing"],
    ["malformed upstream", "detected", "turnComplete, error UNAVAILABLE", 1011, "upstream_failed: part"],
    ["malformed upstream", "speaking", "turnComplete, error UNAVAILABLE", 1011, "upstream_failed: part"],
    ["malformed upstream", "done",     "error UNAVAILABLE", 1011, "ok: whole"],
    ["revoked",            "opened",   "error UNAUTHENTICATED, turnComplete, error UNAUTHENTICATED, turnComplete", 1008],
    ["revoked",            "speech",   "error UNAUTHENTICATED, turnComplete, error UNAUTHENTICATED, turnComplete", 1008],
    ["revoked",            "asked",    "error UNAUTHENTICATED, turnComplete, audio, turnComplete, error UNAUTHENTICATED, turnComplete", 1008, "ok: whole"],
    ["revoked",            "detected", "error UNAUTHENTICATED, audio, turnComplete, error UNAUTHENTICATED, turnComplete", 1008, "ok: whole"],
    ["revoked",            "speaking", "error UNAUTHENTICATED, audio, turnComplete, error UNAUTHENTICATED, turnComplete", 1008, "ok: whole"],
    ["revoked",            "done",     "error UNAUTHENTICATED, turnComplete, error UNAUTHENTICATED, turnComplete", 1008, "ok: whole"],
    ["no budget",          "opened",   "error RESOURCE_EXHAUSTED, turnComplete", undefined],
    ["no budget",          "speech",   "error RESOURCE_EXHAUSTED, turnComplete", undefined],
    ["no budget",          "asked",    "error RESOURCE_EXHAUSTED, turnComplete, audio, turnComplete", undefined, "ok: whole"],
    ["no budget",          "detected", "error RESOURCE_EXHAUSTED, audio, turnComplete", undefined, "ok: whole"],
    ["no budget",          "speaking", "error RESOURCE_EXHAUSTED, audio, turnComplete", undefined, "ok: whole"],
    ["no budget",          "done",     "error RESOURCE_EXHAUSTED, turnComplete", undefined, "ok: whole"],
    ["drain",              "opened",   "goAway", 1001],
    ["drain",              "speech",   "goAway", 1001],
    ["drain",              "asked",    "goAway, error UNAVAILABLE, turnComplete, audio, turnComplete", 1001, "ok: whole"],
    ["drain",              "detected", "goAway, error UNAVAILABLE, audio, turnComplete", 1001, "ok: whole"],
    ["drain",              "speaking", "goAway, error UNAVAILABLE, audio, turnComplete", 1001, "ok: whole"],
    ["drain",              "done",     "goAway", 1001, "ok: whole"],
  ]],
  ["realtime", "live", [
    ["client gone",        "opened",   "-", undefined],
    ["client gone",        "speech",   "-", undefined],
    ["client gone",        "asked",    "-", undefined, "client_gone: whole"],
    ["client gone",        "detected", "-", undefined, "client_gone: whole"],
    ["client gone",        "speaking", "-", undefined, "client_gone: whole"],
    ["client gone",        "done",     "-", undefined, "ok: whole"],
    ["upstream cut",       "opened",   "error upstream_failed", 1011],
    ["upstream cut",       "speech",   "error upstream_failed", 1011],
    ["upstream cut",       "asked",    "done:failed, error upstream_failed", 1011, "upstream_failed: part"],
    ["upstream cut",       "detected", "done:failed, error upstream_failed", 1011, "upstream_failed: part"],
    ["upstream cut",       "speaking", "done:failed, error upstream_failed", 1011, "upstream_failed: part"],
    ["upstream cut",       "done",     "error upstream_failed", 1011, "ok: whole"],
    ["upstream closes",    "opened",   "error upstream_failed", 1011],
    ["upstream closes",    "speech",   "error upstream_failed", 1011],
    ["upstream closes",    "asked",    "done:failed, error upstream_failed", 1011, "upstream_failed: part"],
    ["upstream closes",    "detected", "done:failed, error upstream_failed", 1011, "upstream_failed: part"],
    ["upstream closes",    "speaking", "done:failed, error upstream_failed", 1011, "upstream_failed: part"],
    ["upstream closes",    "done",     "error upstream_failed", 1011, "ok: whole"],
    ["upstream silent",    "opened",   "created, audio, done:completed", undefined, "ok: whole"],
    ["upstream silent",    "speech",   "created, audio, done:completed", undefined, "ok: whole"],
    ["upstream silent",    "asked",    "done:failed, error upstream_timeout", 1011, "upstream_timeout: part"],
    ["upstream silent",    "detected", "done:failed, error upstream_timeout", 1011, "upstream_timeout: part"],
    ["upstream silent",    "speaking", "done:failed, error upstream_timeout", 1011, "upstream_timeout: part"],
    ["upstream silent",    "done",     "created, audio, done:completed", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "opened",   "error invalid_request_error, created, audio, done:completed", undefined, "ok: whole"],
    ["malformed",          "speech",   "error invalid_request_error, created, audio, done:completed", undefined, "ok: whole"],
    ["malformed",          "asked",    "error invalid_request_error, audio, done:completed, created, audio, done:completed", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "detected", "error invalid_request_error, audio, done:completed, created, audio, done:completed", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "speaking", "error invalid_request_error, audio, done:completed, created, audio, done:completed", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "done",     "error invalid_request_error, created, audio, done:completed", undefined, "ok: whole", "ok: whole"],
    ["malformed upstream", "opened",   "error upstream_failed", 1011],
    ["malformed upstream", "speech",   "error upstream_failed", 1011],
    ["malformed upstream", "asked",    "done:failed, error upstream_failed", 1011, "upstream_failed: part"],
    ["malformed upstream", "detected", "done:failed, error upstream_failed", 1011, "upstream_failed: part"],
    ["malformed upstream", "speaking", "done:failed, error upstream_failed", 1011, "upstream_failed: part"],
    ["malformed upstream", "done",     "error upstream_failed", 1011, "ok: whole"],
    ["revoked",            "opened",   "error invalid_api_key", 1008],
    ["revoked",            "speech",   "error invalid_api_key", 1008],
    ["revoked",            "asked",    "error invalid_api_key, audio, done:completed, error invalid_api_key", 1008, "ok: whole"],
    ["revoked",            "detected", "error invalid_api_key, audio, done:completed, error invalid_api_key", 1008, "ok: whole"],
    ["revoked",            "speaking", "error invalid_api_key, audio, done:completed, error invalid_api_key", 1008, "ok: whole"],
    ["revoked",            "done",     "error invalid_api_key", 1008, "ok: whole"],
    ["no budget",          "opened",   "error insufficient_quota", undefined],
    ["no budget",          "speech",   "error insufficient_quota", undefined],
    ["no budget",          "asked",    "error insufficient_quota, audio, done:completed", undefined, "ok: whole"],
    ["no budget",          "detected", "error insufficient_quota, audio, done:completed", undefined, "ok: whole"],
    ["no budget",          "speaking", "error insufficient_quota, audio, done:completed", undefined, "ok: whole"],
    ["no budget",          "done",     "error insufficient_quota", undefined, "ok: whole"],
    ["drain",              "opened",   "error draining", 1001],
    ["drain",              "speech",   "error draining", 1001],
    ["drain",              "asked",    "error draining, audio, done:completed", 1001, "ok: whole"],
    ["drain",              "detected", "error draining, audio, done:completed", 1001, "ok: whole"],
    ["drain",              "speaking", "error draining, audio, done:completed", 1001, "ok: whole"],
    ["drain",              "done",     "error draining", 1001, "ok: whole"],
  ]],
  ["live", "realtime", [
    ["client gone",        "opened",   "-", undefined],
    ["client gone",        "speech",   "-", undefined],
    ["client gone",        "asked",    "-", undefined, "client_gone: whole"],
    ["client gone",        "detected", "-", undefined, "client_gone: whole"],
    ["client gone",        "speaking", "-", undefined, "client_gone: whole"],
    ["client gone",        "done",     "-", undefined, "ok: whole"],
    ["upstream cut",       "opened",   "error UNAVAILABLE", 1011],
    ["upstream cut",       "speech",   "error UNAVAILABLE", 1011],
    ["upstream cut",       "asked",    "error UNAVAILABLE", 1011, "upstream_failed: nothing"],
    ["upstream cut",       "detected", "turnComplete, error UNAVAILABLE", 1011, "upstream_failed: part"],
    ["upstream cut",       "speaking", "turnComplete, error UNAVAILABLE", 1011, "upstream_failed: part"],
    ["upstream cut",       "done",     "error UNAVAILABLE", 1011, "ok: whole"],
    ["upstream closes",    "opened",   "error UNAVAILABLE", 1011],
    ["upstream closes",    "speech",   "error UNAVAILABLE", 1011],
    ["upstream closes",    "asked",    "error UNAVAILABLE", 1011, "upstream_failed: nothing"],
    ["upstream closes",    "detected", "turnComplete, error UNAVAILABLE", 1011, "upstream_failed: part"],
    ["upstream closes",    "speaking", "turnComplete, error UNAVAILABLE", 1011, "upstream_failed: part"],
    ["upstream closes",    "done",     "error UNAVAILABLE", 1011, "ok: whole"],
    ["upstream silent",    "opened",   "audio, turnComplete", undefined, "ok: whole"],
    ["upstream silent",    "speech",   "audio, turnComplete", undefined, "ok: whole"],
    ["upstream silent",    "asked",    "error DEADLINE_EXCEEDED", 1011, "upstream_timeout: nothing"],
    ["upstream silent",    "detected", "turnComplete, error DEADLINE_EXCEEDED", 1011, "upstream_timeout: part"],
    ["upstream silent",    "speaking", "turnComplete, error DEADLINE_EXCEEDED", 1011, "upstream_timeout: part"],
    ["upstream silent",    "done",     "audio, turnComplete", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "opened",   "error INVALID_ARGUMENT, turnComplete, audio, turnComplete", undefined, "ok: whole"],
    ["malformed",          "speech",   "error INVALID_ARGUMENT, turnComplete, audio, turnComplete", undefined, "ok: whole"],
    ["malformed",          "asked",    "error INVALID_ARGUMENT, audio, turnComplete, audio, turnComplete", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "detected", "error INVALID_ARGUMENT, audio, turnComplete, audio, turnComplete", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "speaking", "error INVALID_ARGUMENT, audio, turnComplete, audio, turnComplete", undefined, "ok: whole", "ok: whole"],
    ["malformed",          "done",     "error INVALID_ARGUMENT, turnComplete, audio, turnComplete", undefined, "ok: whole", "ok: whole"],
    ["malformed upstream", "opened",   "error UNAVAILABLE", 1011],
    ["malformed upstream", "speech",   "error UNAVAILABLE", 1011],
    ["malformed upstream", "asked",    "error UNAVAILABLE", 1011, "upstream_failed: nothing"],
    ["malformed upstream", "detected", "turnComplete, error UNAVAILABLE", 1011, "upstream_failed: part"],
    ["malformed upstream", "speaking", "turnComplete, error UNAVAILABLE", 1011, "upstream_failed: part"],
    ["malformed upstream", "done",     "error UNAVAILABLE", 1011, "ok: whole"],
    ["revoked",            "opened",   "error UNAUTHENTICATED, turnComplete, error UNAUTHENTICATED, turnComplete", 1008],
    ["revoked",            "speech",   "error UNAUTHENTICATED, turnComplete, error UNAUTHENTICATED, turnComplete", 1008],
    ["revoked",            "asked",    "error UNAUTHENTICATED, turnComplete, audio, turnComplete, error UNAUTHENTICATED, turnComplete", 1008, "ok: whole"],
    ["revoked",            "detected", "error UNAUTHENTICATED, audio, turnComplete, error UNAUTHENTICATED, turnComplete", 1008, "ok: whole"],
    ["revoked",            "speaking", "error UNAUTHENTICATED, audio, turnComplete, error UNAUTHENTICATED, turnComplete", 1008, "ok: whole"],
    ["revoked",            "done",     "error UNAUTHENTICATED, turnComplete, error UNAUTHENTICATED, turnComplete", 1008, "ok: whole"],
    ["no budget",          "opened",   "error RESOURCE_EXHAUSTED, turnComplete", undefined],
    ["no budget",          "speech",   "error RESOURCE_EXHAUSTED, turnComplete", undefined],
    ["no budget",          "asked",    "error RESOURCE_EXHAUSTED, turnComplete, audio, turnComplete", undefined, "ok: whole"],
    ["no budget",          "detected", "error RESOURCE_EXHAUSTED, audio, turnComplete", undefined, "ok: whole"],
    ["no budget",          "speaking", "error RESOURCE_EXHAUSTED, audio, turnComplete", undefined, "ok: whole"],
    ["no budget",          "done",     "error RESOURCE_EXHAUSTED, turnComplete", undefined, "ok: whole"],
    ["drain",              "opened",   "goAway", 1001],
    ["drain",              "speech",   "goAway", 1001],
    ["drain",              "asked",    "goAway, error UNAVAILABLE, turnComplete, audio, turnComplete", 1001, "ok: whole"],
    ["drain",              "detected", "goAway, error UNAVAILABLE, audio, turnComplete", 1001, "ok: whole"],
    ["drain",              "speaking", "goAway, error UNAVAILABLE, audio, turnComplete", 1001, "ok: whole"],
    ["drain",              "done",     "goAway", 1001, "ok: whole"],
  ]],
];

for (const [from, to, rows] of TABLES) {
  describe(`decision 0116, H26: a fault after each message of a turn, ${from} to ${to}`, () => {
    const seen: Row[] = [];
    afterAll(() => {
      if (!PRINT) return;
      console.log(`\n${from} to ${to}`);
      for (const row of seen) console.log(row.map((cell) => cell ?? "-").join(" | "));
    });

    for (const fault of LIVE_FAULTS) {
      for (const moment of MOMENTS) {
        test(`${fault}, ${moment}`, async () => {
          const row = await see(from, to, fault, moment);
          seen.push(row);
          if (!PRINT) expect(row).toEqual(rows.find(([of, at]) => of === fault && at === moment) as Row);
        });
      }
    }
  });
}
