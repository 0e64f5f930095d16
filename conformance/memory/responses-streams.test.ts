import { beforeAll, describe, expect, test } from "bun:test";
import { arrayAt, type JsonObject, objectAt, parseObject, stringAt } from "../../src/base/json.ts";
import { readFrames } from "../../src/wire/sse.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SAMPLED_DIALECTS, type SampledDialect } from "../../testing/sampled-dialects.ts";
import { answerProblem } from "../support/well-formed.ts";

const KINDS = { chat: "openai-compatible", messages: "anthropic", genai: "gemini" } as const;
const ANSWER = [
  "The Seine rises in Burgundy, passes through Paris ",
  "and reaches the Channel at Le Havre; barges carry grain down",
] as const;
const WHOLE = ANSWER.join("");

/** Clients of the protocol against hosts of the others, at exact times. */
let harness: Harness;
beforeAll(async () => {
  const provider = (place: string, dialect: SampledDialect) => ({
    kind: KINDS[dialect],
    base_url: `${UPSTREAM_URL}/${place}-${dialect}${dialect === "chat" ? "/v1" : ""}`,
    api_key: "key-of-the-host",
    timeout_ms: { first_byte: 20_000, idle: 1_500 },
  });
  harness = await Harness.start({
    config: {
      routing: { sticky: "off", breaker: { failures: 100_000, window_ms: 1 } },
      providers: Object.fromEntries(
        SAMPLED_DIALECTS.flatMap((dialect) =>
          ["first", "second"].map((place) => [`${place}-${dialect}`, provider(place, dialect)]),
        ),
      ),
      models: SAMPLED_DIALECTS.map((dialect) => ({
        id: `acme/${dialect}`,
        pricings: {},
        offers: ["first", "second"].map((place) => ({ provider: `${place}-${dialect}`, model: "m", prefill: true })),
      })),
    },
  });
});

const eventsOf = (stream: string): string[] =>
  stream.match(/[\s\S]*?(?:\r\n\r\n|\n\n|$)/g)?.filter((event) => event !== "") ?? [];
const streamed = (dialect: SampledDialect) => eventsOf(plainStream(dialect, ANSWER, plainUsage(dialect, 10, 20)));

const read = (text: string): JsonObject[] =>
  readFrames(text).flatMap(({ data }) => (data === undefined ? [] : [parseObject(data) ?? {}]));
const typesOf = (events: readonly JsonObject[]) => events.map((event) => stringAt(event, "type") ?? "");

async function ask(dialect: SampledDialect, headers: Record<string, string> = {}): Promise<string> {
  const answer = await harness.call("responses", { model: `acme/${dialect}`, stream: true, headers });
  expect(answer.status).toBe(200);
  return answer.text;
}

describe.each([...SAMPLED_DIALECTS])("R1: a host of %s that breaks off", (dialect) => {
  test("at any event after the first words, ends the stream in error and response.failed", async () => {
    const events = streamed(dialect);
    const first = events.findIndex((event) => event.includes("The Seine"));
    for (let cut = first + 1; cut < events.length; cut++) {
      harness.upstream.play(harness.upstream.brokenStream(events.slice(0, cut).join(""), 10));
      const told = read(await ask(dialect));
      if (typesOf(told).at(-1) === "response.completed") continue;
      expect(typesOf(told).slice(-2)).toEqual(["error", "response.failed"]);
      expect(told.map((event) => event["sequence_number"])).toEqual(told.map((_, index) => index));
      const [begun, failed] = [told[0], told.at(-1)].map((event) => objectAt(event, "response"));
      expect(failed).toMatchObject({ status: "failed", id: begun?.["id"], error: { code: "server_error" } });
    }
  });

  test("before its first words, after the headers were sent: the stream begins like any other, and ends in that pair", async () => {
    const late: Script = async (reply) => {
      await harness.clock.sleep(12_000);
      reply.fail("broken");
    };
    harness.upstream.play(late);
    const text = await ask(dialect);
    expect(text).toStartWith(": keep-alive\n\n");
    const told = read(text);
    expect(typesOf(told)).toEqual(["response.created", "response.in_progress", "error", "response.failed"]);
    expect(told.map((event) => event["sequence_number"])).toEqual([0, 1, 2, 3]);
  });

  test("continues at the next offer if requested, as one response with one id", async () => {
    const events = streamed(dialect);
    const cut = events.findIndex((event) => event.includes("and reaches")) + 1;
    const rest: Script = (reply, request) => {
      const beginning = /The Seine[^"]*?(?=")/.exec(request.body)?.[0] ?? "";
      const left = WHOLE.slice(beginning.length);
      return harness.upstream.stream(
        plainStream(dialect, [left.slice(0, 4), left.slice(4)], plainUsage(dialect, 30, 5)),
      )(reply, request);
    };
    harness.upstream.play(harness.upstream.brokenStream(events.slice(0, cut - 1).join("")), rest);
    const text = await ask(dialect, { "x-trivium-survive": "true" });
    expect(answerProblem("responses", true, text)).toBeUndefined();
    const [message] = arrayAt(objectAt(read(text).at(-1), "response"), "output");
    expect(message).toMatchObject({ type: "message", content: [{ text: WHOLE }] });
  });
});
