import { beforeAll, describe, expect, test } from "bun:test";
import { arrayAt, type JsonObject, objectAt, parseObject, stringAt } from "../../src/base/json.ts";
import { readFrames } from "../../src/wire/sse.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainUsage } from "../../testing/plain-answer.ts";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript, responsesAnswer } from "../../testing/wires/responses-wire.ts";

/**
 * Decision 0091: texts of a response that do not continue each other are separated in protocols that have one text for
 * all of them.
 */

let harness: Harness;
beforeAll(async () => {
  const { models, ...config } = modelsOfEveryDialect(UPSTREAM_URL) as { models: object[] };
  const offers = [{ provider: "up-chat", model: "newest", tools_dialect: "responses" }];
  harness = await Harness.start({
    config: { ...config, models: [...models, { ...models[0], id: "test/newest", offers }] },
  });
});

const COMMENT = ["Let me ", "check", "."];
const ANSWER = ["It ", "is ", "sunny."];
const CITATION = {
  type: "url_citation",
  start_index: 0,
  end_index: 12,
  url: "https://weather.test/",
  title: "Weather",
};

interface Message {
  /** The deltas of each of its parts. */
  parts: readonly (readonly string[])[];
  annotations?: readonly object[];
}

/** A response of a Responses host with several messages, streamed and not. */
function responsesReply(messages: readonly Message[]): { whole: object; stream: string } {
  const usage = plainUsage("responses", 5, 5);
  const items = messages.map(({ parts, annotations = [] }, place) => ({
    id: `msg_${place}`,
    type: "message",
    role: "assistant",
    status: "completed",
    phase: place === messages.length - 1 ? "final_answer" : "commentary",
    content: parts.map((words) => ({ type: "output_text", text: words.join(""), annotations })),
  }));
  const response = { ...responsesAnswer("", usage), output: items };
  const script = new ResponsesScript();
  const events = items.flatMap((item, output_index) => [
    script.event("output_item.added", { output_index, item: { ...item, status: "in_progress", content: [] } }),
    ...item.content.flatMap((part, content_index) => {
      const at = { item_id: item.id, output_index, content_index };
      const words = messages[output_index]?.parts[content_index] ?? [];
      return [
        script.event("content_part.added", { ...at, part: { ...part, text: "" } }),
        ...words.map((delta) => script.event("output_text.delta", { ...at, delta, logprobs: [] })),
        script.event("output_text.done", { ...at, text: part.text }),
        script.event("content_part.done", { ...at, part }),
      ];
    }),
    script.event("output_item.done", { output_index, item }),
  ]);
  const created = script.event("created", { response: { ...response, status: "in_progress", output: [] } });
  return { whole: response, stream: `${created}${events.join("")}${script.event("completed", { response })}` };
}

/** A response of a messages host that searches between two texts. */
function searchingReply(): { whole: object; stream: string } {
  const search = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "weather" } };
  const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
  const text = (words: readonly string[]) => ({ type: "text", text: words.join("") });
  const whole = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [text(COMMENT), search, found, text(ANSWER)],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: plainUsage("messages", 5, 5),
  };
  const block = (index: number, content_block: object, deltas: readonly object[] = []) =>
    [
      wire.event({ type: "content_block_start", index, content_block }),
      ...deltas.map((delta) => wire.event({ type: "content_block_delta", index, delta })),
      wire.event({ type: "content_block_stop", index }),
    ].join("");
  const said = (words: readonly string[]) => words.map((delta) => ({ type: "text_delta", text: delta }));
  const stream = [
    wire.messageStart(),
    block(0, text([]), said(COMMENT)),
    block(1, { ...search, input: {} }, [{ type: "input_json_delta", partial_json: '{"query":"weather"}' }]),
    block(2, found),
    block(3, text([]), said(ANSWER)),
    wire.messageEnd({ output_tokens: 5 }),
  ].join("");
  return { whole, stream };
}

interface Heard {
  text: string;
  /** All of it, or the events of its stream. */
  bodies: JsonObject[];
}

async function heard(
  client: ScriptedDialect,
  model: string,
  reply: object | string,
  body: object = {},
): Promise<Heard> {
  const stream = typeof reply === "string";
  harness.upstream.play(stream ? harness.upstream.stream(reply) : harness.upstream.json(reply));
  const { status, text } = await harness.call(client, { door: "dropin", model, stream, body: body as JsonObject });
  expect([status, text]).toEqual([200, expect.any(String)]);
  const bodies = stream ? readFrames(text).map(({ data }) => parseObject(data ?? "") ?? {}) : [parseObject(text) ?? {}];
  return { text, bodies };
}

/** The texts that a client distinguishes. */
const textsOf: Record<ScriptedDialect, (heard: Heard) => string[]> = {
  chat: ({ bodies }) => [
    bodies
      .flatMap((body) => arrayAt(body, "choices"))
      .map((choice) => stringAt(objectAt(choice, "delta") ?? objectAt(choice, "message"), "content") ?? "")
      .join(""),
  ],
  genai: ({ bodies }) => [
    bodies
      .flatMap((body) => arrayAt(body, "candidates"))
      .flatMap((candidate) => arrayAt(objectAt(candidate, "content"), "parts"))
      .map((part) => stringAt(part, "text") ?? "")
      .join(""),
  ],
  messages: ({ bodies }) => {
    const blocks = new Map<unknown, string>();
    for (const body of bodies) {
      for (const [index, block] of arrayAt(body, "content").entries()) blocks.set(index, stringAt(block, "text") ?? "");
      const delta = stringAt(objectAt(body, "delta"), "text");
      if (delta !== undefined) blocks.set(body["index"], (blocks.get(body["index"]) ?? "") + delta);
    }
    return [...blocks.values()].filter((text) => text !== "");
  },
  responses: ({ bodies }) =>
    arrayAt(objectAt(bodies.at(-1), "response") ?? bodies[0], "output")
      .filter((item) => stringAt(item, "type") === "message")
      .map((item) =>
        arrayAt(item, "content")
          .map((part) => stringAt(part, "text") ?? "")
          .join(""),
      ),
};

const ONE_TEXT = ["Let me check.\n\nIt is sunny."];
const TWO_TEXTS = ["Let me check.", "It is sunny."];

describe.each([
  ["two messages of a Responses host", "test/responses", responsesReply([{ parts: [COMMENT] }, { parts: [ANSWER] }])],
  ["two texts around a search of a messages host", "test/messages", searchingReply()],
] as const)("%s", (_what, model, { whole, stream }) => {
  test.each([
    ["chat", ONE_TEXT],
    ["genai", ONE_TEXT],
    ["messages", TWO_TEXTS],
    ["responses", TWO_TEXTS],
  ] as const)("decision 0091: are separated for a %s client, streamed or not", async (client, expected) => {
    expect(textsOf[client](await heard(client, model, whole))).toEqual([...expected]);
    expect(textsOf[client](await heard(client, model, stream))).toEqual([...expected]);
  });
});

describe("messages of a Responses host", () => {
  /**
   * The newest models comment on their work before they answer, and accept tools only through Responses (decision
   * 0092).
   */
  test("decision 0092: are separated for a chat client whose tools were sent there", async () => {
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
    const { whole, stream } = responsesReply([{ parts: [COMMENT] }, { parts: [ANSWER] }]);
    expect(textsOf.chat(await heard("chat", "test/newest", whole, { tools }))).toEqual(ONE_TEXT);
    expect(textsOf.chat(await heard("chat", "test/newest", stream, { tools }))).toEqual(ONE_TEXT);
  });

  test.each(["chat", "genai"] as const)("add no blank line if a %s client has one already", async (client) => {
    const { whole, stream } = responsesReply([{ parts: [["Let me ", "check.\n"]] }, { parts: [ANSWER] }]);
    expect(textsOf[client](await heard(client, "test/responses", whole))).toEqual(["Let me check.\nIt is sunny."]);
    expect(textsOf[client](await heard(client, "test/responses", stream))).toEqual(["Let me check.\nIt is sunny."]);
  });

  test.each(["chat", "genai"] as const)("keep the parts of one message together for a %s client", async (client) => {
    const { whole, stream } = responsesReply([{ parts: [COMMENT] }, { parts: [["It is "], ["sunny."]] }]);
    expect(textsOf[client](await heard(client, "test/responses", whole))).toEqual(ONE_TEXT);
    expect(textsOf[client](await heard(client, "test/responses", stream))).toEqual(ONE_TEXT);
  });

  test.each([
    ["chat", '"start_index":15,"end_index":27'],
    ["genai", '"segment":{"startIndex":15,"endIndex":27,"text":"It is sunny."}'],
  ] as const)("are cited at their position in the text of a %s client", async (client, place) => {
    const { whole, stream } = responsesReply([{ parts: [COMMENT] }, { parts: [ANSWER], annotations: [CITATION] }]);
    expect((await heard(client, "test/responses", whole)).text).toContain(place);
    expect((await heard(client, "test/responses", stream)).text).toContain(place);
  });
});
