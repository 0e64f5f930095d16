import { beforeAll, describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { responsesAnswer, responsesUsage } from "../../testing/wires/responses-wire.ts";

/** Parts, stop reasons and tools that a genai host may send, as clients of every protocol get and return them. */

const KEY = { name: "tests", key: TEST_KEY };
/** It refuses whatever has no known price. */
const REFUSING = { name: "refusing", key: "a-key-that-refuses-the-unpriced", billing: { unpriced: "refuse" } };

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({
    config: { ...modelsOfEveryDialect(UPSTREAM_URL), billing: { unpriced: "mark" }, keys: [KEY, REFUSING] },
  });
});

const OTHERS = ["chat", "messages", "responses"] as const;
const EVERY: readonly DialectName[] = ["genai", ...OTHERS];

const answerOf = (candidate: object, parts: object[] = [{ text: "Hello." }]) => ({
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0, ...candidate }],
  usageMetadata: plainUsage("genai", 10, 5),
});

/** One call of a client, streamed or not, with the host's response. */
async function ask(client: DialectName, answer: object, stream: boolean, body: Record<string, unknown> = {}) {
  const { upstream } = harness;
  upstream.play(stream ? upstream.stream(`data: ${JSON.stringify(answer)}\n\n`) : upstream.json(answer));
  const got = await harness.call(client, { door: "dropin", model: "test/genai", stream, body });
  const receipt = await harness.receipt(got);
  const notes = receipt.fields.map(({ path, action }) => `${path} ${action}`);
  return { status: got.status, text: got.text, notes, receipt };
}

describe("CONTINUATION: the host's own limit for one request", () => {
  const continuationToken = "AAAA";
  const answer = answerOf({ finishReason: "CONTINUATION", continuationToken });
  const words = { chat: "length", messages: "max_tokens", responses: "incomplete" } as const;

  test.each([false, true])("reaches a genai client with its token (streamed: %p)", async (stream) => {
    const { text, notes } = await ask("genai", answer, stream);
    expect(text).toContain('"continuationToken":"AAAA"');
    expect(text).toContain("CONTINUATION");
    expect(notes).toEqual([]);
  });

  test.each(OTHERS)("is an incomplete response for a %s client, and the token is noted", async (client) => {
    for (const stream of [false, true]) {
      const { text, notes, receipt } = await ask(client, answer, stream);
      expect(text).toContain(`"${words[client]}"`);
      expect(receipt.stop).toEqual({ unified: "length", raw: "CONTINUATION" });
      expect(notes).toEqual(["answer.continuation dropped"]);
    }
  });
});

describe("TOO_MANY_TOOL_CALLS after content", () => {
  test.each(EVERY)("is delivered to a %s client", async (client) => {
    for (const stream of [false, true]) {
      const { status, text, notes, receipt } = await ask(
        client,
        answerOf({ finishReason: "TOO_MANY_TOOL_CALLS" }),
        stream,
      );
      expect(status).toBe(200);
      expect(text).toContain("Hello.");
      expect(receipt.stop).toEqual({ unified: "abnormal", raw: "TOO_MANY_TOOL_CALLS" });
      expect(notes).toEqual(client === "genai" ? [] : ["answer.stop approximated"]);
    }
  });
});

describe("tools that the host ran, shown in the response", () => {
  const call = { id: "a1", toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["one", "two"] } };
  const parts = [
    { toolCall: call, thoughtSignature: "AAAA" },
    { toolResponse: { id: "a1", toolType: "GOOGLE_SEARCH_WEB", response: { found: 1 } }, thoughtSignature: "BBBB" },
    { toolCall: { id: "a2", toolType: "GOOGLE_MAPS", args: {} } },
    { toolCall: { id: "a3", toolType: "URL_CONTEXT", args: {} } },
    { text: "Hello." },
  ];
  const answer = answerOf({}, parts);

  test.each(EVERY)("are metered and priced for a %s client, although nothing was found", async (client) => {
    for (const stream of [false, true]) {
      const { receipt } = await ask(client, answer, stream);
      expect(receipt.usage).toMatchObject({ searches: 2, tools: { googleMaps: 1, urlContext: 1 } });
      expect(receipt.unpriced).toEqual([]);
      const tokens = (10 * 1 + 5 * 2) / 1e6;
      expect(receipt.cost_usd).toBeCloseTo(tokens + (2 * 35) / 1000 + 25 / 1000, 9);
    }
  });

  test.each(EVERY)("a tool without a known price is marked for a %s client", async (client) => {
    const looked = answerOf({}, [
      { toolCall: { id: "a1", toolType: "MEDIA_PROCESSING", args: {} } },
      { text: "Hello." },
    ]);
    for (const stream of [false, true])
      expect((await ask(client, looked, stream)).receipt.unpriced).toEqual(["mediaProcessing"]);
  });

  test("come back to the host with their signatures from clients of these protocols", async () => {
    const firstTwo = parts.slice(0, 2);
    const back = {
      genai: (body: { candidates: { content: object }[] }) => ({
        contents: [
          { role: "user", parts: [{ text: "Hi" }] },
          body.candidates[0]?.content,
          { role: "user", parts: [{ text: "More" }] },
        ],
      }),
      chat: (body: { choices: { message: object }[] }) => ({
        messages: [{ role: "user", content: "Hi" }, body.choices[0]?.message, { role: "user", content: "More" }],
      }),
      messages: (body: { content: object[] }) => ({
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: body.content },
          { role: "user", content: "More" },
        ],
      }),
      responses: (body: { output: object[] }) => ({
        input: [{ role: "user", content: "Hi" }, ...body.output, { role: "user", content: "More" }],
      }),
    };
    for (const client of Object.keys(back) as (keyof typeof back)[]) {
      const first = await ask(client, answer, false);
      const history = back[client](JSON.parse(first.text) as never);
      const { status, receipt } = await ask(client, answerOf({}), false, history);
      expect({ client, status }).toEqual({ client, status: 200 });
      const sent = JSON.parse(harness.upstream.requests.at(-1)?.body ?? "") as { contents: { parts: object[] }[] };
      expect({ client, parts: sent.contents[1]?.parts.slice(0, 2) }).toEqual({ client, parts: firstTwo });
      expect(receipt.fields).toEqual([]);
    }
  });
});

describe("a transcription with speakers and times", () => {
  const audioTranscription = {
    text: "Good morning.",
    speakerLabel: "spk_1",
    words: [{ word: "Good", startOffset: "0s" }],
  };

  test.each(OTHERS)("reaches a %s client as text, and the rest is noted", async (client) => {
    for (const part of [{ text: "Good morning.", audioTranscription }, { audioTranscription }])
      for (const stream of [false, true]) {
        const { text, notes } = await ask(client, answerOf({}, [part]), stream);
        expect(text).toContain("Good morning.");
        expect(notes).toContain("answer.transcription dropped");
      }
  });

  test("reaches a genai client unchanged", async () => {
    for (const stream of [false, true]) {
      const { text, notes } = await ask("genai", answerOf({}, [{ audioTranscription }]), stream);
      expect(text).toContain(JSON.stringify(audioTranscription));
      expect(notes).toEqual([]);
    }
  });
});

describe("decision 0083: tools that hosts of several protocols run are translated and priced", () => {
  const call = async (client: DialectName, host: DialectName, answer: object, tools: object[]) => {
    harness.upstream.play(harness.upstream.json(answer));
    const options = { door: "dropin", model: `test/${host}`, key: REFUSING.key, body: { tools } } as const;
    const got = await harness.call(client, options);
    const sent = JSON.parse(harness.upstream.requests.at(-1)?.body ?? "{}") as { tools?: object[] };
    return { got, sent: sent.tools, receipt: got.status === 200 ? await harness.receipt(got) : undefined };
  };
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "42", annotations: [] }],
  };
  const ran = {
    type: "code_interpreter_call",
    id: "ci_1",
    status: "completed",
    code: "6*7",
    container_id: "cntr_1",
    outputs: [],
  };
  const interpreted = { ...responsesAnswer("42", responsesUsage(10, 5)), output: [ran, message] };

  test("codeExecution runs as a code interpreter, and its container is billed", async () => {
    const { sent, receipt } = await call("genai", "responses", interpreted, [{ codeExecution: {} }]);
    expect(sent).toEqual([{ type: "code_interpreter", container: { type: "auto" } }]);
    expect(receipt?.usage).toMatchObject({ tools: { code_interpreter: 1 } });
    expect(receipt?.cost_usd).toBeGreaterThanOrEqual(0.03);
    expect(receipt?.fields).toEqual([]);
  });

  test("urlContext and web_fetch are the same tool, free at both vendors", async () => {
    const content = [{ type: "text", text: "42" }];
    const told = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content,
      stop_reason: "end_turn",
      usage: plainUsage("messages", 10, 5),
    };
    const there = await call("genai", "messages", told, [{ urlContext: {} }]);
    expect(there.sent).toEqual([{ type: "web_fetch_20250910", name: "web_fetch" }]);
    expect(there.receipt).toMatchObject({ unpriced: [], fields: [] });
    const back = await call("messages", "genai", answerOf({}), [{ type: "web_fetch_20250910", name: "web_fetch" }]);
    expect(back.sent).toEqual([{ urlContext: {} }]);
    expect(back.receipt).toMatchObject({ unpriced: [], fields: [] });
  });

  test("an MCP server that needs no approval is called by either vendor; one that does stays where it is", async () => {
    const transport = { url: "https://mcp.example/mcp", headers: { Authorization: "Bearer a-token" } };
    const servers = [{ name: "docs", streamableHttpTransport: transport }];
    const tool = { type: "mcp", server_label: "docs", server_url: transport.url, authorization: "a-token" };
    const there = await call("genai", "responses", interpreted, [{ mcpServers: servers }]);
    expect(there.sent).toEqual([{ ...tool, require_approval: "never" }]);
    const back = await call("responses", "genai", answerOf({}), [{ ...tool, require_approval: "never" }]);
    expect(back.sent).toEqual([{ mcpServers: servers }]);
    const asking = await call("responses", "genai", answerOf({}), [tool]);
    expect(asking.sent).toBeUndefined();
    expect(asking.receipt?.fields).toMatchObject([{ path: "tools[0]", action: "dropped" }]);
  });

  test.each([
    ["exaAiSearch", { exaAiSearch: { apiKey: "k" } }],
    ["parallelAiSearch", { parallelAiSearch: {} }],
    ["oracle", { oracle: {} }],
  ])("%s has no known price, so a key that must know it is refused", async (name, tool) => {
    const { got } = await call("genai", "genai", answerOf({}), [tool]);
    expect([got.status, got.text]).toEqual([400, expect.stringContaining(`tools[0].${name}`)]);
  });

  test.each([
    ["googleMaps", { googleMaps: {} }],
    ["computerUse", { computerUse: { environment: "ENVIRONMENT_BROWSER" } }],
    ["enterpriseWebSearch", { enterpriseWebSearch: { excludeDomains: ["a.example"] } }],
  ])("%s reaches its own host as the client sent it", async (_name, tool) => {
    const { got, sent } = await call("genai", "genai", answerOf({}), [tool]);
    expect([got.status, sent]).toEqual([200, [tool]]);
  });

  test.each([["deferred"], ["offpeak"]])("the tier %s has no known price, and is refused", async (serviceTier) => {
    harness.upstream.play(harness.upstream.json(answerOf({})));
    const options = { door: "dropin", model: "test/genai", body: { serviceTier } } as const;
    const refused = await harness.call("genai", { ...options, key: REFUSING.key });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("serviceTier")]);
    const marked = await harness.call("genai", options);
    expect((await harness.receipt(marked)).unpriced).toEqual([serviceTier]);
  });
});
