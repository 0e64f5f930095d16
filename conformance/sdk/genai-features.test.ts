import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { type Content, type GenerateContentConfig, GoogleGenAI, type Part } from "@google/genai";
import OpenAI from "openai";
import { plainUsage } from "../../testing/plain-answer.ts";
import { responsesAnswer, responsesUsage } from "../../testing/wires/responses-wire.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import type { Script } from "../support/scripted-upstream.ts";

/** Newer features of the vendor's SDK, at its own host and at hosts of other protocols. */

const { upstream, gateway } = await scriptedHarness();
const google = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.url } });

const PARTS: Part[] = [
  {
    toolCall: { id: "t1", toolType: "GOOGLE_SEARCH_WEB" as never, args: { queries: ["largest city in Mexico"] } },
    thoughtSignature: "AAAA",
  },
  {
    toolResponse: { id: "t1", toolType: "GOOGLE_SEARCH_WEB" as never, response: { found: 1 } },
    thoughtSignature: "BBBB",
  } as Part,
  { text: "Mexico City." },
];
const answer = (parts: readonly object[], candidate: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0, ...candidate }],
  usageMetadata: plainUsage("genai", 10, 5),
});

/** Answers as a stream if the request is for one. */
const play =
  (body: object): Script =>
  (request, response) => {
    const isStream = request.path.includes("streamGenerateContent");
    const type = isStream ? "text/event-stream" : "application/json";
    response.writeHead(200, { "content-type": type });
    response.end(isStream ? `data: ${JSON.stringify(body)}\r\n\r\n` : JSON.stringify(body));
  };

async function ask(stream: boolean, contents: Content[] | string, config: GenerateContentConfig, model = "genai") {
  const request = { model: `test/${model}`, contents, config };
  if (!stream) return [await google.models.generateContent(request)];
  const chunks = [];
  for await (const chunk of await google.models.generateContentStream(request)) chunks.push(chunk);
  return chunks;
}

const sent = () => JSON.parse(upstream.seen.at(-1)?.body ?? "{}") as Record<string, unknown>;

describe.each([false, true])("the vendor's SDK at its own host (streamed: %p)", (stream) => {
  test("tools that the host runs are sent as written, and its calls come back with their signatures", async () => {
    upstream.play(play(answer(PARTS)));
    const config = {
      tools: [{ googleSearch: {} }, { googleMaps: {} }, { urlContext: {} }, { codeExecution: {} }],
      toolConfig: { includeServerSideToolInvocations: true },
    };
    const chunks = await ask(stream, "What is the largest city in Mexico?", config);
    expect(sent()).toMatchObject(config);
    const content = chunks[0]?.candidates?.[0]?.content;
    expect(content?.parts?.map((part) => ({ ...part }))).toEqual(PARTS as never);
    await ask(
      stream,
      [{ role: "user", parts: [{ text: "Hi" }] }, content as Content, { role: "user", parts: [{ text: "More" }] }],
      config,
    );
    expect((sent()["contents"] as Content[])[1]?.parts).toEqual(PARTS);
  });

  test("a response that reached the host's limit is continued by the SDK with its token", async () => {
    const first = answer([{ text: "One, " }], { finishReason: "CONTINUATION", continuationToken: "AAAA" });
    upstream.play((request, response) => {
      const isSecond = request.body.includes("continuationToken");
      return play(isSecond ? answer([{ text: "two." }]) : first)(request, response);
    });
    const chunks = await ask(stream, "Count.", {});
    expect(chunks.map(({ text }) => text).join("")).toContain("One, ");
    expect(upstream.seen.map(({ body }) => body.includes('"continuationToken":"AAAA"'))).toContain(true);
  });

  test("a transcription has its words, speakers and times", async () => {
    const audioTranscription = { text: "Hello", speakerLabel: "spk_1", words: [{ word: "Hello", startOffset: "0s" }] };
    upstream.play(play(answer([{ text: "Hello", audioTranscription }])));
    const config = { audioTranscriptionConfig: { diarization: true, wordTimestamp: true } };
    const [chunk] = await ask(stream, "Transcribe.", config as GenerateContentConfig);
    expect(sent()["generationConfig"]).toMatchObject(config);
    expect(chunk?.candidates?.[0]?.content?.parts?.[0]).toMatchObject({ text: "Hello", audioTranscription });
  });
});

describe("the same tools from one vendor's SDK at another vendor's host", () => {
  test("Google's at a Responses host", async () => {
    const body = responsesAnswer("42", responsesUsage(10, 5));
    upstream.play(
      (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)),
    );
    const [chunk] = await ask(
      false,
      "6 times 7?",
      { tools: [{ codeExecution: {} }, { googleSearch: {} }] },
      "responses",
    );
    expect(chunk?.text).toBe("42");
    expect(sent()["tools"]).toEqual([
      { type: "code_interpreter", container: { type: "auto" } },
      { type: "web_search" },
    ]);
  });

  test("Anthropic's at Google's host", async () => {
    upstream.play(play(answer([{ text: "A page." }])));
    const anthropic = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
    const message = await anthropic.messages.create({
      model: "test/genai",
      max_tokens: 100,
      messages: [{ role: "user", content: "Sum up https://example.com" }],
      tools: [{ type: "web_fetch_20250910", name: "web_fetch" }],
    });
    expect(message.content).toMatchObject([{ type: "text", text: "A page." }]);
    expect(sent()["tools"]).toEqual([{ urlContext: {} }]);
  });

  test("OpenAI's at Google's host", async () => {
    upstream.play(
      play(
        answer([
          { executableCode: { language: "PYTHON", code: "6*7" } },
          { codeExecutionResult: { outcome: "OUTCOME_OK", output: "42" } },
          { text: "42" },
        ]),
      ),
    );
    const openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const response = await openai.responses.create({
      model: "test/genai",
      input: "6 times 7?",
      tools: [{ type: "code_interpreter", container: { type: "auto" } }],
    });
    expect(response.output_text).toBe("42");
    expect(sent()["tools"]).toEqual([{ codeExecution: {} }]);
    const again = await openai.responses.create({
      model: "test/genai",
      input: [
        { role: "user", content: "6 times 7?" },
        ...response.output,
        { role: "user", content: "And 8 times 9?" },
      ] as never,
    });
    expect(again.output_text).toBe("42");
    expect(JSON.stringify(sent()["contents"])).toContain('"executableCode":{"language":"PYTHON","code":"6*7"}');
  });
});
