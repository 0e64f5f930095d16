import { beforeAll, describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";

/** Parts, stop reasons and tools that a genai host may send, as clients of every protocol get and return them. */

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
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
      expect(receipt.stop).toEqual({ unified: "other", raw: "TOO_MANY_TOOL_CALLS" });
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

  test("come back to the host with their signatures from a client of every protocol", async () => {
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
    for (const client of EVERY) {
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
