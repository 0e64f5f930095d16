import { beforeAll, describe, expect, test } from "bun:test";
import { arrayAt, type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../../src/base/json.ts";
import { readFrames } from "../../src/wire/sse.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { ResponsesScript, responsesUsage } from "../../testing/wires/responses-wire.ts";
import { answerProblem } from "../support/well-formed.ts";

const ANSWER = [
  "The Seine rises in Burgundy, ",
  "passes through Paris and reaches ",
  "the Channel at Le Havre.",
] as const;
const WHOLE = ANSWER.join("");

/** A host of the Responses protocol that breaks off, and one of another protocol that continues. */
let harness: Harness;
beforeAll(async () => {
  const provider = (place: string) => ({
    kind: "openai-compatible",
    base_url: `${UPSTREAM_URL}/${place}/v1`,
    api_key: "key-of-the-host",
    timeout_ms: { first_byte: 3_000, idle: 1_500 },
  });
  harness = await Harness.start({
    config: {
      routing: { survive: true, sticky: "off", breaker: { failures: 100_000, window_ms: 1 } },
      providers: { first: provider("first"), second: provider("second") },
      models: [
        {
          id: "test/host",
          pricings: {},
          offers: [
            { provider: "first", model: "m", dialect: "responses", prefill: false },
            { provider: "second", model: "m", dialect: "chat", prefill: true },
          ],
        },
      ],
    },
  });
});

const eventsIn = (stream: string): string[] => stream.match(/[\s\S]+?\n\n/g) ?? [];
const whole = (script: ResponsesScript): string[] =>
  [
    script.begin(),
    ...ANSWER.flatMap((words) => [script.delta(words), script.delta("")]),
    script.close(),
    script.completed(responsesUsage(10, 5)),
  ].flatMap(eventsIn);

/** The rest of the response. */
const goesOn: Script = (reply, request) => {
  const beginning = /The Seine[^"]*?(?=")/.exec(request.body)?.[0] ?? "";
  const rest = WHOLE.slice(beginning.length);
  return harness.upstream.stream(plainStream("chat", [rest.slice(0, 4), rest.slice(4)], plainUsage("chat", 30, 5)))(
    reply,
    request,
  );
};
const refuses: Script = (reply, request) => harness.upstream.json({}, 400)(reply, request);

async function ask(first: Script, second: Script, store: boolean): Promise<JsonObject[]> {
  harness.upstream.play(first, second);
  const answer = await harness.call("responses", { model: "test/host", stream: true, body: { store } });
  expect(answer.status).toBe(200);
  if (second === goesOn) expect(answerProblem("responses", true, answer.text)).toBeUndefined();
  return readFrames(answer.text).flatMap(({ data }) => (data === undefined ? [] : [parseObject(data) ?? {}]));
}

/** Every id of the response, and of its one item. */
const idsIn = (events: readonly JsonObject[]) => ({
  response: [...new Set(events.flatMap((event) => stringAt(objectAt(event, "response"), "id") ?? []))],
  item: [
    ...new Set(
      events.flatMap((event) => [
        stringAt(event, "item_id") ?? [],
        stringAt(objectAt(event, "item"), "id") ?? [],
        ...arrayAt(objectAt(event, "response"), "output").map((item) => stringAt(item, "id") ?? []),
      ]),
    ),
  ].flat(),
});

const ERROR_EVENT = `data: ${JSON.stringify({ type: "error", error: { message: "Overloaded", type: "server_error" } })}\n\n`;
const BREAKS: readonly [string, (sent: string) => Script][] = [
  ["whose connection breaks", (sent) => harness.upstream.brokenStream(sent, 10)],
  ["that says an error", (sent) => harness.upstream.stream(sent, 10, ERROR_EVENT)],
];

const CITATION = {
  item_id: "msg_1",
  output_index: 0,
  content_index: 0,
  annotation_index: 0,
  annotation: { type: "url_citation", url: "https://example.com", title: "t", start_index: 0, end_index: 3 },
};

/** The beginning of another message after the first. */
function secondMessage(script: ResponsesScript): string {
  const place = { item_id: "msg_2", output_index: 1, content_index: 0 };
  const item = { id: "msg_2", type: "message", role: "assistant", status: "in_progress", content: [] };
  return (
    script.event("output_item.added", { output_index: 1, item }) +
    script.event("content_part.added", { ...place, part: { type: "output_text", text: "", annotations: [] } }) +
    script.event("output_text.delta", { ...place, delta: ANSWER[1], logprobs: [] })
  );
}

describe.each(BREAKS)(
  "H17: a host of the Responses protocol %s at any event after its first words",
  (_name, broken) => {
    test.each([true, false])(
      "continues elsewhere with the numbers and names that its client has read (store: %p)",
      async (store) => {
        const events = whole(new ResponsesScript());
        const first = events.findIndex((event) => event.includes("The Seine"));
        for (let cut = first + 1; cut < events.length; cut++) {
          const told = await ask(broken(events.slice(0, cut).join("")), goesOn, store);
          const [message] = arrayAt(objectAt(told.at(-1), "response"), "output");
          expect(message).toMatchObject({ type: "message", content: [{ text: WHOLE }] });
          expect(told.map((event) => stringAt(event, "delta") ?? "").join("")).toBe(WHOLE);
          const ids = idsIn(told);
          expect([ids.response.length, ids.item]).toEqual([1, ["msg_1"]]);
          expect(harness.upstream.requests).toHaveLength(2);
        }
      },
    );

    test("R1: ends in numbered errors if no offer continues", async () => {
      const events = whole(new ResponsesScript());
      const first = events.findIndex((event) => event.includes("The Seine"));
      for (let cut = first + 1; cut < events.length; cut++) {
        const told = await ask(broken(events.slice(0, cut).join("")), refuses, true);
        expect(told.map((event) => numberAt(event, "sequence_number"))).toEqual(told.map((_, index) => index));
        expect(told.slice(-2).map((event) => event["type"])).toEqual(["error", "response.failed"]);
        expect(idsIn(told).response).toHaveLength(1);
      }
    });

    test("in its second message: continues there, and the first is unchanged", async () => {
      const script = new ResponsesScript();
      const sent = script.begin() + script.delta(ANSWER[0]) + script.close() + secondMessage(script);
      const told = await ask(broken(sent), goesOn, true);
      const output = arrayAt(objectAt(told.at(-1), "response"), "output");
      expect(output).toMatchObject([
        { id: "msg_1", content: [{ text: ANSWER[0] }] },
        { id: "msg_2", content: [{ text: ANSWER.slice(1).join("") }] },
      ]);
    });

    test("between two messages, or after a citation: is an error, since the rest has no place", async () => {
      const cuts = [
        (script: ResponsesScript) => script.close() + eventsIn(secondMessage(script))[0],
        (script: ResponsesScript) => script.event("output_text.annotation.added", CITATION) + script.delta(ANSWER[1]),
      ];
      for (const cut of cuts) {
        const script = new ResponsesScript();
        const told = await ask(broken(script.begin() + script.delta(ANSWER[0]) + cut(script)), refuses, true);
        expect(told.slice(-2).map((event) => event["type"])).toEqual(["error", "response.failed"]);
        expect(told.map((event) => numberAt(event, "sequence_number"))).toEqual(told.map((_, index) => index));
        expect(harness.upstream.requests).toHaveLength(1);
      }
    });
  },
);
