import { beforeAll, describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript, responsesAnswer } from "../../testing/wires/responses-wire.ts";

/**
 * Decision 0091: the content of a response reaches a client of another protocol, or the receipt says that it did not.
 */

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
});

type Json = Record<string, unknown>;

const answers = {
  chat: (message: object, finish_reason = "stop") => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
    usage: plainUsage("chat", 10, 5),
  }),
  messages: (content: object[], stop: object = { stop_reason: "end_turn" }) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content,
    stop_sequence: null,
    ...stop,
    usage: plainUsage("messages", 10, 5),
  }),
  genai: (candidate: object, text = "Hello.") => ({
    candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: "STOP", index: 0, ...candidate }],
    usageMetadata: plainUsage("genai", 10, 5),
  }),
};

/** A messages response as its stream. */
function streamOfMessages({ content, stop_reason, stop_details }: ReturnType<typeof answers.messages> & Json): string {
  const blocks = (content as Json[]).map((block, index) => {
    const { text, citations = [], ...shell } = block;
    const begun = text === undefined ? block : { ...shell, text: "" };
    const deltas =
      text === undefined
        ? []
        : [
            { type: "text_delta", text },
            ...(citations as Json[]).map((citation) => ({ type: "citations_delta", citation })),
          ];
    return (
      wire.event({ type: "content_block_start", index, content_block: begun }) +
      deltas.map((delta) => wire.event({ type: "content_block_delta", index, delta })).join("") +
      wire.event({ type: "content_block_stop", index })
    );
  });
  const delta = { stop_reason, stop_sequence: null, stop_details };
  return (
    wire.messageStart() +
    blocks.join("") +
    wire.event({ type: "message_delta", delta, usage: { output_tokens: 5 } }) +
    wire.event({ type: "message_stop" })
  );
}

const streamOf = (host: "messages" | "genai", answer: object): string =>
  host === "genai" ? `data: ${JSON.stringify(answer)}\n\n` : streamOfMessages(answer as never);

interface Told {
  text: string;
  notes: string[];
}

/** What a client gets of a response, streamed or not, and what its receipt notes. */
async function ask(client: DialectName, host: DialectName, wireText: object | string): Promise<Told> {
  const stream = typeof wireText === "string";
  harness.upstream.play(stream ? harness.upstream.stream(wireText) : harness.upstream.json(wireText));
  const answer = await harness.call(client, { model: `test/${host}`, stream });
  expect(answer.status).toBe(200);
  const { fields } = await harness.receipt(answer);
  return { text: answer.text, notes: fields.map(({ path, action }) => `${path} ${action}`) };
}

const both = (host: "messages" | "genai", answer: object): (object | string)[] => [answer, streamOf(host, answer)];

describe("citations of documents", () => {
  const citation = {
    type: "page_location",
    cited_text: "the words",
    document_index: 0,
    document_title: "Report",
    start_page_number: 1,
    end_page_number: 2,
  };
  const answer = answers.messages([{ type: "text", text: "As it says.", citations: [citation] }]);

  test.each(["chat", "responses"] as const)("are noted for a %s client", async (client) => {
    for (const form of both("messages", answer)) {
      expect((await ask(client, "messages", form)).notes).toEqual(["answer.citations dropped"]);
    }
  });

  test("reach a genai client as retrieved passages", async () => {
    for (const form of both("messages", answer)) {
      const { text, notes } = await ask("genai", "messages", form);
      expect(text).toContain('"retrievedContext":{"title":"Report","text":"the words"}');
      expect(notes).toEqual([]);
    }
  });
});

describe("passages that a provider retrieved", () => {
  const grounding = (passage: object) => ({
    groundingMetadata: {
      groundingChunks: [{ retrievedContext: passage }],
      groundingSupports: [{ segment: { startIndex: 0, endIndex: 6, text: "Hello." }, groundingChunkIndices: [0] }],
    },
  });
  const stored = answers.genai(grounding({ title: "Handbook", text: "Say hello." }));

  test("reach a messages client as a location in a search result", async () => {
    for (const form of both("genai", stored)) {
      const { text, notes } = await ask("messages", "genai", form);
      expect(text).toContain('"type":"search_result_location","cited_text":"Say hello."');
      expect(text).toContain('"title":"Handbook"');
      expect(notes).toEqual([]);
    }
  });

  test.each(["chat", "responses"] as const)(
    "are noted for a %s client, unless they have a web address",
    async (client) => {
      for (const form of both("genai", stored))
        expect((await ask(client, "genai", form)).notes).toEqual(["answer.citations dropped"]);
      const page = answers.genai(grounding({ uri: "https://example.test/a", title: "A" }));
      for (const form of both("genai", page)) {
        const { text, notes } = await ask(client, "genai", form);
        expect(text).toContain("https://example.test/a");
        expect(notes).toEqual([]);
      }
    },
  );
});

test.each(["chat", "messages", "responses"] as const)(
  "the URLs that a model has read are noted for a %s client",
  async (client) => {
    const urlMetadata = [{ retrievedUrl: "https://example.test", urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS" }];
    for (const form of both("genai", answers.genai({ urlContextMetadata: { urlMetadata } })))
      expect((await ask(client, "genai", form)).notes).toEqual(["answer.url_context dropped"]);
  },
);

describe("decision 0101: why a model declined reaches clients of every protocol", () => {
  const stop_details = { type: "refusal", category: "cyber", explanation: "Not that." };
  const refused = answers.messages([{ type: "text", text: "No." }], { stop_reason: "refusal", stop_details });

  test.each([
    ["chat", `"finish_reason":"content_filter","stop_details":${JSON.stringify(stop_details)}`],
    ["responses", `"incomplete_details":{"reason":"content_filter"}`],
    ["responses", `"stop_details":${JSON.stringify(stop_details)}`],
    ["genai", `"finishMessage":"cyber: Not that."`],
    ["messages", `"stop_details":${JSON.stringify(stop_details)}`],
  ] as const)("%s: %s", async (client, shown) => {
    for (const form of both("messages", refused)) {
      const { text, notes } = await ask(client, "messages", form);
      expect(text).toContain(shown);
      expect(notes).toEqual([]);
    }
  });
});

describe("a stop reason without a counterpart in the client's protocol", () => {
  test.each(["chat", "genai", "responses"] as const)("pause_turn is noted for a %s client", async (client) => {
    const paused = answers.messages([{ type: "text", text: "Wait." }], { stop_reason: "pause_turn" });
    for (const form of both("messages", paused))
      expect((await ask(client, "messages", form)).notes).toEqual(["answer.stop approximated"]);
  });

  for (const finishReason of ["NO_IMAGE", "LANGUAGE"]) {
    test.each(["chat", "messages", "responses"] as const)(
      `${finishReason} is noted for a %s client`,
      async (client) => {
        for (const form of both("genai", answers.genai({ finishReason })))
          expect((await ask(client, "genai", form)).notes).toEqual(["answer.stop approximated"]);
      },
    );
  }

  const original = (reason: string) => `"explanation":"The provider stopped with ${reason}`;

  // Finding C7: no client takes a paused or unusable answer for a complete one, and the original reason stands beside the nearest word.
  test.each([
    ["chat", "genai", "MALFORMED_FUNCTION_CALL", `"finish_reason":"content_filter"`],
    ["chat", "genai", "NO_IMAGE", `"finish_reason":"content_filter"`],
    ["chat", "messages", "pause_turn", `"finish_reason":"length"`],
    ["messages", "genai", "MALFORMED_FUNCTION_CALL", `"stop_reason":"refusal"`],
    ["messages", "genai", "TOO_MANY_TOOL_CALLS", `"stop_reason":"refusal"`],
    ["messages", "genai", "UNEXPECTED_TOOL_CALL", `"stop_reason":"refusal"`],
    ["messages", "genai", "MISSING_THOUGHT_SIGNATURE", `"stop_reason":"refusal"`],
    ["messages", "genai", "MALFORMED_RESPONSE", `"stop_reason":"refusal"`],
    ["responses", "genai", "MALFORMED_FUNCTION_CALL", `"incomplete_details":{"reason":"content_filter"}`],
    ["responses", "messages", "pause_turn", `"incomplete_details":{"reason":"max_output_tokens"}`],
    ["interactions", "genai", "MALFORMED_FUNCTION_CALL", `"status":"incomplete"`],
    ["interactions", "messages", "pause_turn", `"code":"stopped_early"`],
    ["genai", "messages", "pause_turn", `"MAX_TOKENS"`],
  ] as const)("a %s client of a %s host that stops with %s sees %s", async (client, host, reason, shown) => {
    const answer =
      host === "genai"
        ? both("genai", answers.genai({ finishReason: reason, finishMessage: "print(" }))
        : both("messages", answers.messages([{ type: "text", text: "Wait." }], { stop_reason: reason }));
    for (const form of answer) {
      const { text } = await ask(client, host, form);
      expect(text.replaceAll("FINISH_REASON_", "")).toContain(shown);
      const said = host === "genai" ? `${reason}: print(` : `${reason}.`;
      const place = { interactions: "message", genai: "finishMessage" }[client as string] ?? "explanation";
      expect(text).toContain(original(said).replace("explanation", place));
    }
  });
});

describe("audio spoken by a chat model", () => {
  const audio = { id: "audio_1", data: "UklGRg==", transcript: "Good morning.", expires_at: 9 };
  const stream =
    wire.chatChunk({ role: "assistant", audio: { id: "audio_1", transcript: "Good " } }) +
    wire.chatChunk({ audio: { data: "UklG", transcript: "morning." } }) +
    wire.chatChunk({ audio: { data: "Rg==", expires_at: 9 } }) +
    wire.chatChunk({}, "stop") +
    wire.done;

  test.each(["messages", "genai", "responses"] as const)("reaches a %s client as its transcript", async (client) => {
    for (const form of [answers.chat({ content: null, audio }), stream]) {
      const { text, notes } = await ask(client, "chat", form);
      expect(text).toContain("Good morning.");
      expect(notes).toEqual(["answer.content approximated"]);
    }
  });
});

describe("a tool that the provider ran", () => {
  const call = { type: "server_tool_use", id: "srvtoolu_1", name: "web_fetch", input: { url: "https://example.test" } };
  const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "page" } };
  const content = { type: "web_fetch_result", url: "https://example.test", content: document };
  const result = { type: "web_fetch_tool_result", tool_use_id: "srvtoolu_1", content };
  const said = { type: "text", text: "It says so." };

  /** The client's next request with the response as it received it. */
  const replies: Record<"chat" | "genai" | "responses", (answer: Json) => Json> = {
    chat: ({ choices }) => ({
      messages: [
        { role: "user", content: "hello" },
        (choices as { message: object }[])[0]?.message,
        { role: "user", content: "more" },
      ],
    }),
    genai: ({ candidates }) => ({
      contents: [
        { role: "user", parts: [{ text: "hello" }] },
        (candidates as { content: object }[])[0]?.content,
        { role: "user", parts: [{ text: "more" }] },
      ],
    }),
    responses: ({ output }) => ({
      input: [{ role: "user", content: "hello" }, ...(output as object[]), { role: "user", content: "more" }],
    }),
  };

  test.each(["chat", "genai", "responses"] as const)(
    "is returned whole by a %s client: its call with its result",
    async (client) => {
      const { upstream } = harness;
      upstream.play(upstream.json(answers.messages([call, result, said])));
      const first = await harness.call(client, { model: "test/messages" });
      upstream.play(upstream.json(answers.messages([said])));
      const body = replies[client](JSON.parse(first.text) as Json);
      expect((await harness.call(client, { model: "test/messages", body })).status).toBe(200);
      const { messages } = JSON.parse(upstream.requests[0]?.body ?? "") as { messages: { content: Json[] }[] };
      expect(messages[1]?.content).toMatchObject([call, result, said]);
    },
  );
});

describe("H49: a call with null as its arguments", () => {
  const tool_calls = [{ id: "call_1", type: "function", function: { name: "look", arguments: "null" } }];
  const stream =
    wire.chatChunk({ role: "assistant", tool_calls: [{ index: 0, ...tool_calls[0] }] }) +
    wire.chatChunk({}, "tool_calls") +
    wire.done;

  test.each(["messages", "genai"] as const)("has an empty object for a %s client, and is noted", async (client) => {
    for (const form of [answers.chat({ content: null, tool_calls }, "tool_calls"), stream]) {
      const { text, notes } = await ask(client, "chat", form);
      expect(text).not.toMatch(/(?:input|args|partial_json)":"?null/);
      expect(notes).toEqual(["answer.content approximated"]);
    }
  });

  test("is passed to a responses client unchanged", async () => {
    for (const form of [answers.chat({ content: null, tool_calls }, "tool_calls"), stream]) {
      const { text, notes } = await ask("responses", "chat", form);
      expect(text).toContain('"arguments":"null"');
      expect(notes).toEqual([]);
    }
  });
});

describe("arguments that are not an object", () => {
  const calls = {
    messages: (input: unknown) =>
      answers.messages([{ type: "tool_use", id: "toolu_1", name: "look", input }], { stop_reason: "tool_use" }),
    genai: (args: unknown) =>
      answers.genai({ content: { role: "model", parts: [{ functionCall: { name: "look", args } }] } }),
  };
  const PAIRS = (["messages", "genai"] as const).flatMap((host) =>
    (["chat", "messages", "genai", "responses"] as const)
      .filter((client) => client !== host)
      .map((client) => [host, client] as const),
  );

  test.each(PAIRS)("the JSON text of an object from a %s host is that object for a %s client", async (host, client) => {
    for (const form of both(host, calls[host]('{"city":"Lisbon"}'))) {
      const { text, notes } = await ask(client, host, form);
      expect(text.replaceAll("\\", "")).toContain('{"city":"Lisbon"}');
      expect(notes).toEqual([]);
    }
  });

  test.each(PAIRS)("H49: null or [] of a %s host is {} for a %s client, and noted", async (host, client) => {
    for (const nothing of [null, []]) {
      for (const form of both(host, calls[host](nothing))) {
        const { text, notes } = await ask(client, host, form);
        expect(text).not.toMatch(/(?:input|args|arguments|partial_json)":"?(?:null|\[)/);
        expect(notes).toEqual(["answer.content approximated"]);
      }
    }
  });

  test.each(PAIRS)(
    "H49: missing arguments of a %s host are {} for a %s client, and nothing is lost",
    async (host, client) => {
      for (const none of [undefined, "", {}]) {
        for (const form of both(host, calls[host](none))) {
          const { text, notes } = await ask(client, host, form);
          expect(text).toMatch(/(?:input|args|arguments|partial_json)":"?\{\}/);
          expect(notes).toEqual([]);
        }
      }
    },
  );

  /** A tool called with nothing does something else than the model requested. */
  test.each(PAIRS)("a list of a %s host is never {} for a %s client", async (host, client) => {
    for (const form of both(host, calls[host](["Lisbon"]))) {
      const stream = typeof form === "string";
      harness.upstream.play(stream ? harness.upstream.stream(form) : harness.upstream.json(form));
      const { status, text } = await harness.call(client, { model: `test/${host}`, stream });
      if (client === "chat" || client === "responses") expect(text.replaceAll("\\", "")).toContain('["Lisbon"]');
      else expect([stream || status === 502, text]).toEqual([true, expect.stringContaining('"error":{')]);
    }
  });

  test("chunks of a genai call next to arguments that are not an object are an error", async () => {
    const functionCall = { name: "look", args: "Lisbon", willContinue: true };
    const form = answers.genai({ content: { role: "model", parts: [{ functionCall }] } });
    harness.upstream.play(harness.upstream.json(form));
    expect((await harness.call("chat", { model: "test/genai" })).status).toBe(502);
  });
});

describe("a search with several queries", () => {
  const QUERIES = ["weather lisbon", "lisbon forecast"];
  const action = { type: "search", query: QUERIES[0], queries: QUERIES };
  const searched = { id: "ws_1", type: "web_search_call", status: "completed", action: { ...action, sources: [] } };
  const script = new ResponsesScript();
  const whole = responsesAnswer("It is sunny.", plainUsage("responses", 10, 5)) as { output: object[] };
  const response = { ...whole, output: [searched, ...whole.output] };
  const created = { ...response, status: "in_progress", output: [] };
  const responsesForms = [
    response,
    script.event("created", { response: created }) +
      script.event("output_item.added", { output_index: 0, item: { ...searched, status: "in_progress" } }) +
      script.event("output_item.done", { output_index: 0, item: searched }) +
      script.event("completed", { response }),
  ];

  test("reaches a messages client with its first query where clients look for it, and all of them", async () => {
    for (const form of responsesForms) {
      const { text, notes } = await ask("messages", "responses", form);
      const input = JSON.stringify({ query: QUERIES[0], queries: QUERIES });
      expect(text.replaceAll("\\", "")).toContain(input);
      expect(notes).toEqual([]);
    }
  });

  test("reaches a genai client with each query once", async () => {
    for (const form of responsesForms) {
      const { text, notes } = await ask("genai", "responses", form);
      expect(text).toContain(`"webSearchQueries":${JSON.stringify(QUERIES)}`);
      expect(notes).toEqual([]);
    }
  });

  const grounded = (queries: readonly string[]) =>
    answers.genai({
      groundingMetadata: {
        webSearchQueries: queries,
        groundingChunks: [{ web: { uri: "https://weather.test/", title: "Weather" } }],
      },
    });

  test.each([[QUERIES], [QUERIES.slice(0, 1)]])("of a Gemini model reaches a Responses client: %p", async (queries) => {
    for (const form of both("genai", grounded(queries))) {
      const { text } = await ask("responses", "genai", form);
      expect(text).toContain(`"action":{"type":"search","query":"weather lisbon","queries":${JSON.stringify(queries)}`);
    }
  });

  test("of a Gemini model has its first query where messages clients look for it", async () => {
    const { text } = await ask("messages", "genai", grounded(QUERIES));
    expect(text).toContain(`"input":${JSON.stringify({ query: QUERIES[0], queries: QUERIES })}`);
    expect((await ask("messages", "genai", grounded(QUERIES.slice(0, 1)))).text).toContain(
      '"input":{"query":"weather lisbon"}',
    );
  });
});

test("a response in its own protocol loses nothing, and nothing is noted", async () => {
  const paused = answers.messages([{ type: "text", text: "Wait." }], { stop_reason: "pause_turn" });
  expect((await ask("messages", "messages", paused)).notes).toEqual([]);
});
