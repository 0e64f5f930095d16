import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { readFrames } from "../../src/wire/sse.ts";
import { type Json, object, present, requestOf, textOf } from "../../testing/recordings.ts";
import { type MediaCase, type MediaHarness, mediaCase, startMediaHarness } from "../support/recorded-media.ts";

/**
 * Recorded responses of models that talk and draw. Their own protocol passes them on unchanged; the others carry what
 * they can. The ledger counts image tokens separately, whatever the client.
 */

interface Drawn {
  case: string;
  text: string;
  /** As the receipt shows it; counters that are not here must be null there. */
  usage: Readonly<Record<string, number>>;
  costNanoUsd: number;
}

// biome-ignore format: a table is read in columns
const DRAWN: readonly Drawn[] = [
  {
    case: "js-genai.client-tests-generatecontentst",
    text: "I will generate an image of the Eiffel Tower at night, with a vibrant and colorful fireworks display exploding behind it, illuminating the sky.\n\n",
    usage: { input: 15, output: 28, image_output: 1290 },
    costNanoUsd: 15 * 1000 + 28 * 2000 + 1290 * 4000,
  },
  {
    case: "pydantic-ai.google-image-generation",
    text: "",
    // The recording lists two queries, one of them empty.
    usage: { input: 33, output: 660, reasoning: 529, image_output: 1120, searches: 1 },
    // And one search.
    costNanoUsd: 33 * 1000 + (660 + 529) * 2000 + 1120 * 4000 + 35_000_000,
  },
];

const OMITTED = "[image omitted: this protocol has no place for it]";

let harness: MediaHarness;
beforeAll(async () => {
  harness = await startMediaHarness();
});
afterAll(() => harness.stop());

/** The chunks of the response as recorded; one if it was not streamed. */
function recordedChunks({ recording }: MediaCase): Json[] {
  const text = textOf(recording);
  if (!recording.stream) return [JSON.parse(text) as Json];
  return readFrames(text).flatMap(({ data }) => (data ? [JSON.parse(data) as Json] : []));
}

const partsOf = (chunk: Json): Json[] =>
  ((chunk["candidates"] as Json[] | undefined) ?? []).flatMap(
    (candidate) => (object(candidate["content"])["parts"] as Json[] | undefined) ?? [],
  );

function recordedImage(one: MediaCase): { mimeType: string; data: string } {
  const [found, second] = recordedChunks(one)
    .flatMap(partsOf)
    .flatMap(({ inlineData }) => (inlineData ? [inlineData] : []));
  if (found === undefined || second !== undefined) throw new Error("one image was recorded");
  return found as { mimeType: string; data: string };
}

async function expectReceipt(response: Response, { usage, costNanoUsd }: Drawn, lane: string): Promise<void> {
  const receipt = await harness.gateway.receipt(response);
  const known = Object.fromEntries(Object.entries(receipt.usage).filter(([, count]) => count !== null));
  expect(known).toEqual(usage);
  expect(receipt).toMatchObject({ lane, usage_source: "measured", cost_nano_usd: costNanoUsd });
}

const outputOf = ({ usage }: Drawn) =>
  (usage["output"] ?? 0) + (usage["reasoning"] ?? 0) + (usage["image_output"] ?? 0);

const genaiClient = () =>
  new GoogleGenAI({
    vertexai: true,
    apiKey: harness.gateway.key,
    httpOptions: { baseUrl: `${harness.gateway.url}/api/genai`, apiVersion: "v1" },
  });

describe.skipIf(!present)("contract 2.6, 2.7: recorded responses with images", () => {
  test.each(DRAWN)(
    "genai ← $case: the recorded request is forwarded, its response returned unchanged",
    async (drawn) => {
      const one = mediaCase(drawn.case);
      const verb = one.recording.stream ? "streamGenerateContent?alt=sse" : "generateContent";
      const before = harness.upstream.seen.length;
      const response = await fetch(`${harness.gateway.url}/v1beta/models/recorded/${one.id}:${verb}`, {
        method: "POST",
        headers: { "x-goog-api-key": harness.gateway.key, "content-type": "application/json" },
        body: JSON.stringify(requestOf(one.recording)),
      });
      const text = await response.text();
      const chunks = one.recording.stream
        ? readFrames(text).flatMap(({ data }) => (data ? [JSON.parse(data) as Json] : []))
        : [JSON.parse(text) as Json];
      // Contract 2.7 has the time of the request, which this host does not report.
      const reported = chunks.map(({ createTime, ...chunk }) => {
        expect(createTime).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
        return chunk;
      });
      expect(reported).toEqual(recordedChunks(one));
      expect(JSON.parse(harness.upstream.seen[before]?.body ?? "")).toEqual(requestOf(one.recording));
      await expectReceipt(response, drawn, "native");
    },
  );

  test.each(DRAWN)("@google/genai ← $case: text, image and usage", async (drawn) => {
    const one = mediaCase(drawn.case);
    const request = {
      model: `recorded/${one.id}`,
      contents: "Draw.",
      config: { responseModalities: ["TEXT", "IMAGE"] },
    };
    const { models } = genaiClient();
    const answers = [];
    if (!one.recording.stream) answers.push(await models.generateContent(request));
    else for await (const chunk of await models.generateContentStream(request)) answers.push(chunk);
    const parts = answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    expect(parts.map((part) => part.text ?? "").join("")).toBe(drawn.text);
    expect<unknown>(parts.flatMap(({ inlineData }) => (inlineData ? [inlineData] : []))).toEqual([recordedImage(one)]);
    const usage = answers.at(-1)?.usageMetadata;
    expect<unknown>(usage?.candidatesTokensDetails).toEqual([
      { modality: "IMAGE", tokenCount: drawn.usage["image_output"] },
    ]);
    expect((usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0)).toBe(outputOf(drawn));
  });

  test.each(DRAWN)("openai ← $case: the image is next to the text, as a data URL", async (drawn) => {
    const one = mediaCase(drawn.case);
    const { mimeType, data } = recordedImage(one);
    const client = new OpenAI({ baseURL: `${harness.gateway.url}/api/v1`, apiKey: harness.gateway.key, maxRetries: 0 });
    const body = { model: `recorded/${one.id}`, messages: [{ role: "user" as const, content: "Draw." }] };
    let text = "";
    const images: unknown[] = [];
    const finishes: string[] = [];
    let usage: OpenAI.CompletionUsage | null | undefined;
    const add = (said: { content?: string | null; images?: unknown[] }, finish: string | null) => {
      text += said.content ?? "";
      images.push(...(said.images ?? []));
      if (finish) finishes.push(finish);
    };
    let response: Response;
    if (one.recording.stream) {
      const streamed = { ...body, stream: true as const, stream_options: { include_usage: true } };
      const { data: chunks, response: head } = await client.chat.completions.create(streamed).withResponse();
      response = head;
      for await (const { choices, usage: counted } of chunks) {
        for (const { delta, finish_reason } of choices) add(delta, finish_reason);
        usage = counted ?? usage;
      }
    } else {
      const { data: completion, response: head } = await client.chat.completions.create(body).withResponse();
      response = head;
      for (const { message, finish_reason } of completion.choices) add(message, finish_reason);
      ({ usage } = completion);
    }
    expect(text).toBe(drawn.text);
    expect(images).toEqual([{ type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` }, index: 0 }]);
    expect(finishes).toEqual(["stop"]);
    expect(usage).toMatchObject({ prompt_tokens: drawn.usage["input"] ?? 0, completion_tokens: outputOf(drawn) });
    await expectReceipt(response, drawn, "translated");
  });

  test.each(DRAWN)("anthropic ← $case: the text says that there was an image", async (drawn) => {
    const one = mediaCase(drawn.case);
    const client = new Anthropic({
      baseURL: `${harness.gateway.url}/api/msg`,
      apiKey: harness.gateway.key,
      maxRetries: 0,
    });
    const body = {
      model: `recorded/${one.id}`,
      max_tokens: 4096,
      messages: [{ role: "user" as const, content: "Draw." }],
    };
    const { data: message, response } = one.recording.stream
      ? await finalMessage(client, body)
      : await client.messages.create(body).withResponse();
    const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    expect(text).toBe(drawn.text + OMITTED);
    expect(message.stop_reason).toBe("end_turn");
    expect(message.usage).toMatchObject({ input_tokens: drawn.usage["input"] ?? 0, output_tokens: outputOf(drawn) });
    await expectReceipt(response, drawn, "translated");
  });
});

async function finalMessage(client: Anthropic, body: Anthropic.MessageCreateParamsNonStreaming) {
  const stream = client.messages.stream(body);
  const { response } = await stream.withResponse();
  return { data: await stream.finalMessage(), response };
}
