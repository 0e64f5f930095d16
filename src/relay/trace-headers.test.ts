import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { KeptTraces } from "../../testing/kept-traces.ts";
import type { Script } from "../../testing/memory-network.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { plainPng } from "../media/images.sample.ts";
import { SpanTexts } from "../telemetry/otlp/span-texts.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const HEADERS = { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, tracestate: "rojo=1", baggage: "user=jo" };
const PNG = plainPng(8, 8).base64;

/** The same hosts twice: with trace propagation and without. */
const HOSTS = [
  ["openai", "openai", "/v1"],
  ["flux", "black-forest-labs", "/flux/v1"],
  ["cohere", "cohere", ""],
];
const MODELS = [
  ["vectors", "embeddings", "openai text-embedding-3-small"],
  ["judge", "moderation", "openai omni-moderation-latest"],
  ["writer", "text", "openai gpt-3.5-turbo-instruct"],
  ["chatter", "text", "openai gpt-5"],
  ["voice", "audio", "openai tts-1"],
  ["ear", "transcription", "openai whisper-1"],
  ["painter", "image", "openai gpt-image-1"],
  ["flux", "image", "flux flux-2-pro"],
  ["ranks", "rerank", "cohere rerank-v3.5"],
];
const config = {
  providers: Object.fromEntries(
    ["told", "untold"].flatMap((side) =>
      HOSTS.map(([name, kind, path]) => [
        `${side}-${name}`,
        { kind, base_url: `${UPSTREAM_URL}/${side}${path}`, api_key: "k", trace_context: side === "told" },
      ]),
    ),
  ),
  models: ["told", "untold"].flatMap((side) =>
    MODELS.map(([name, output, words = ""]) => {
      const [provider, model] = words.split(" ");
      const given = output === "image" ? ["text", "image"] : ["text"];
      const offers = [{ provider: `${side}-${provider}`, model }];
      return { id: `${side}/${name}`, input_modalities: given, output_modalities: [output], offers };
    }),
  ),
  keys: [{ name: "tests", key: TEST_KEY }],
};

const kept = new KeptTraces();
let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config, tracing: kept.tracing });
});
beforeEach(() => {
  kept.calls.length = 0;
});
afterAll(() => harness.storage.close());

type Form = Record<string, string>;
const asForm = (fields: Form, file: File, name: string): FormData => {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append(name, file);
  return form;
};
const sound = new File([new Uint8Array(8_000)], "said.mp3", { type: "audio/mpeg" });
const image = new File([Buffer.from(PNG, "base64")], "fox.png", { type: "image/png" });

const json = (value: unknown): Script[] => [harness.upstream.json(value)];
const text = (type: string, body: string): Script => {
  return (reply) => {
    reply.head(200, { "content-type": type });
    void reply.write(body);
    reply.end();
  };
};
const painted = () => json({ created: 1, data: [{ b64_json: PNG }] });

type Asked = object | ((side: string) => FormData);

/** An endpoint, what a client sends there, and what the host answers to each of its requests. */
const ENDPOINTS: [name: string, path: string, body: Asked, scripts: () => Script[]][] = [
  [
    "embeddings",
    "/v1/embeddings",
    { model: "vectors", input: "hello" },
    () => json({ data: [{ index: 0, embedding: [0.5, 1] }], usage: { prompt_tokens: 1, total_tokens: 1 } }),
  ],
  [
    "moderations",
    "/v1/moderations",
    { model: "judge", input: "hello" },
    () => json({ id: "m", results: [{ flagged: false }] }),
  ],
  [
    "completions",
    "/v1/completions",
    { model: "writer", prompt: "hello" },
    () =>
      json({
        id: "c",
        object: "text_completion",
        choices: [{ index: 0, text: "Good day", finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      }),
  ],
  [
    "rerank",
    "/v1/rerank",
    { model: "ranks", query: "fox", documents: ["a fox", "a cat"] },
    () =>
      json({
        id: "r",
        results: [
          { index: 0, relevance_score: 0.9 },
          { index: 1, relevance_score: 0.1 },
        ],
        meta: { billed_units: { search_units: 1 } },
      }),
  ],
  [
    "speech",
    "/v1/audio/speech",
    { model: "voice", voice: "alloy", input: "hello" },
    () => [text("audio/mpeg", "sound")],
  ],
  [
    "transcriptions",
    "/v1/audio/transcriptions",
    (side) => asForm({ model: `${side}/ear` }, sound, "file"),
    () => json({ text: "hello", usage: { type: "duration", seconds: 1 } }),
  ],
  [
    "translations",
    "/v1/audio/translations",
    (side) => asForm({ model: `${side}/ear` }, sound, "file"),
    () => json({ text: "hello" }),
  ],
  ["images", "/v1/images/generations", { model: "painter", prompt: "a fox" }, painted],
  [
    "streamed images",
    "/v1/images/generations",
    { model: "painter", prompt: "a fox", stream: true },
    () => [
      text("text/event-stream", `data: ${JSON.stringify({ type: "image_generation.completed", b64_json: PNG })}\n\n`),
    ],
  ],
  [
    "image edits",
    "/v1/images/edits",
    (side) => asForm({ model: `${side}/painter`, prompt: "a fox" }, image, "image"),
    painted,
  ],
  [
    "images of a conversation",
    "/v1/chat/completions",
    {
      model: "painter",
      modalities: ["image"],
      messages: [{ role: "user", content: "a fox" }],
    },
    painted,
  ],
  [
    "chat",
    "/v1/chat/completions",
    { model: "chatter", messages: [{ role: "user", content: "hello" }] },
    () =>
      json({
        id: "1",
        choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
  ],
];

async function send(side: string, path: string, body: Asked, scripts: () => Script[]): Promise<void> {
  harness.upstream.play(...scripts());
  const sent =
    typeof body === "function"
      ? harness.sendRaw(path, body(side), HEADERS)
      : harness.sendPost(path, { ...body, model: `${side}/${(body as { model: string }).model}` }, TEST_KEY, HEADERS);
  const answer = await harness.clock.until(sent.answer);
  expect([answer.status, answer.status === 200 ? "" : answer.text]).toEqual([200, ""]);
}

const attemptSpan = () => {
  const spans = kept.calls.flatMap(
    (call) => JSON.parse(`[${new SpanTexts().of(call)}]`) as { traceId: string; spanId: string }[],
  );
  expect(spans.map(({ traceId }) => traceId)).toEqual([TRACE, TRACE, TRACE]);
  return spans[2]?.spanId;
};
const told = () =>
  harness.upstream.requests.map(({ headers: { traceparent, tracestate, baggage } }) => ({
    traceparent,
    tracestate,
    baggage,
  }));

test.each(ENDPOINTS)(
  "decision 0057: %s: your own host receives the attempt's span",
  async (_name, path, body, scripts) => {
    await send("told", path, body, scripts);
    const traceparent = `00-${TRACE}-${attemptSpan()}-01`;
    expect(told()).toEqual([{ traceparent, tracestate: "rojo=1", baggage: undefined }]);
  },
);

test.each(ENDPOINTS)(
  "decision 0057: %s: a vendor's host receives no trace headers",
  async (_name, path, body, scripts) => {
    await send("untold", path, body, scripts);
    expect(told()).toEqual([{ traceparent: undefined, tracestate: undefined, baggage: undefined }]);
  },
);

test("0057: polls for an image are part of the attempt, and another host that it is polled at gets no trace headers", async () => {
  const result = "https://results.test/fox.png";
  harness.web.files.set(result, { bytes: Buffer.from(PNG, "base64"), mimeType: "image/png" });
  const { upstream } = harness;
  const polledAt = async (url: string) => {
    upstream.play(
      upstream.json({ id: "job-1", polling_url: url }),
      upstream.json({ id: "job-1", status: "Pending" }),
      upstream.json({ id: "job-1", status: "Ready", result: { sample: result } }),
    );
    const body = { model: "told/flux", prompt: "a fox" };
    const sent = harness.sendPost("/v1/images/generations", body, TEST_KEY, HEADERS);
    expect((await harness.clock.until(sent.answer)).status).toBe(200);
    const traceparent = `00-${TRACE}-${attemptSpan()}-01`;
    return told().map((one) => (one.traceparent === traceparent ? "told" : one.traceparent));
  };
  expect(await polledAt(`${UPSTREAM_URL}/told/flux/v1/get_result?id=job-1`)).toEqual(["told", "told", "told"]);
  kept.calls.length = 0;
  expect(await polledAt("https://elsewhere.test/get_result?id=job-1")).toEqual(["told", undefined, undefined]);
});
