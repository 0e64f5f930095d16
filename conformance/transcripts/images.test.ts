import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as Genai2 from "@google/genai";
import * as Genai1 from "genai-1";
import OpenAi7 from "openai";
import OpenAi5 from "openai-5";
import { withoutAbsent } from "../../src/base/without-absent.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { type Json, object, present, requestOf, textOf } from "../../testing/recordings.ts";
import {
  imageAt,
  keyOf,
  MEDIA_LEFT_OUT,
  type MediaCase,
  type MediaHarness,
  mediaCase,
  mediaCases,
  mediaRecordings,
  startMediaHarness,
} from "../support/recorded-media.ts";
import { FAILURES, type SdkFailure } from "../support/sdk-failure.ts";

/**
 * Recorded responses with images, sent through the running gateway: every package that requests images gets the
 * recorded ones, byte for byte (most were truncated when recorded, which must not matter), and the ledger the recorded
 * usage.
 */

interface ReportedImage {
  base64?: string;
  mimeType?: string;
  revisedPrompt?: string;
  filtered?: string;
}

interface Reported {
  images: ReportedImage[];
  receiptId: string;
  /** Tokens, if the protocol has a field for them. */
  totalTokens?: number;
}

interface ImageClient {
  name: string;
  protocol: "chat" | "genai";
  /** What the protocol, or its package, can show of the host's revised prompt. */
  revises: boolean;
  ask(one: MediaCase, count: number, mimeType?: string): Promise<Reported>;
}

let harness: MediaHarness;
beforeAll(async () => {
  harness = await startMediaHarness();
});
afterAll(() => harness.stop());

const promptOf = ({ recording }: MediaCase): string => {
  const request = requestOf(recording) ?? {};
  const [instance] = (request["instances"] as Json[] | undefined) ?? [];
  return String(request["prompt"] ?? instance?.["prompt"] ?? "an image");
};

type GptBody = OpenAi5.ImageGenerateParamsNonStreaming;

/** The fields of the recorded request that a client of the same protocol sets itself. */
function recordedFields({ recording }: MediaCase): Pick<GptBody, "size" | "quality" | "user"> {
  const { model: _model, prompt: _prompt, n: _n, images: _images, ...fields } = requestOf(recording) ?? {};
  return recording.dialect === "openai-images" ? fields : {};
}

const gptClients: ImageClient[] = [
  { version: "7", generate: (body: GptBody) => new OpenAi7(gptSetup()).images.generate(body).withResponse() },
  { version: "5", generate: (body: GptBody) => new OpenAi5(gptSetup()).images.generate(body).withResponse() },
].map(({ version, generate }) => ({
  name: `openai ${version}`,
  protocol: "chat",
  revises: true,
  ask: async (one, count) => {
    const body = { ...recordedFields(one), model: `recorded/${one.id}`, prompt: promptOf(one), n: count };
    const { data: answer, response } = await generate(body);
    const { data = [], output_format: format, usage } = answer;
    return {
      images: data.map(({ b64_json: base64, revised_prompt: revisedPrompt }) =>
        withoutAbsent({ base64, mimeType: format && `image/${format}`, revisedPrompt }),
      ),
      receiptId: response.headers.get("x-trivium-receipt") ?? "",
      ...(usage === undefined ? {} : { totalTokens: usage.total_tokens }),
    };
  },
}));

/** The events of a stream have no field for the prompt as the host revised it. */
const streamingClient: ImageClient = {
  name: "openai 7, streamed",
  protocol: "chat",
  revises: false,
  ask: async (one, count) => {
    const body = { ...recordedFields(one), model: `recorded/${one.id}`, prompt: promptOf(one), n: count };
    const { data: events, response } = await new OpenAi7(gptSetup()).images
      .generate({ ...body, stream: true })
      .withResponse();
    const reported: Reported = { images: [], receiptId: response.headers.get("x-trivium-receipt") ?? "" };
    for await (const event of events) {
      expect(event.type).toBe("image_generation.completed");
      reported.images.push({ base64: event.b64_json, mimeType: `image/${event.output_format}` });
      if ("usage" in event && event.usage) reported.totalTokens = event.usage.total_tokens;
    }
    return reported;
  },
};

const gptSetup = () => ({ baseURL: `${harness.gateway.url}/api/v1`, apiKey: harness.gateway.key, maxRetries: 0 });

/** Since its second generation the package requests images in one of its modes only. */
const genaiClients: ImageClient[] = [
  { version: "2", Client: Genai2.GoogleGenAI, vertexai: true },
  { version: "1", Client: Genai1.GoogleGenAI, vertexai: true },
  { version: "1", Client: Genai1.GoogleGenAI, vertexai: false },
].map(({ version, Client, vertexai }) => ({
  name: `genai ${version}, ${vertexai ? "vertex mode at the contract door" : "api mode at the drop-in door"}`,
  protocol: "genai",
  revises: vertexai,
  ask: async (one, count, mimeType = "image/png") => {
    const client = new Client(genaiSetup(vertexai));
    const { generatedImages = [], sdkHttpResponse } = await client.models.generateImages({
      model: `recorded/${one.id}`,
      prompt: promptOf(one),
      // Without it images of another type are converted to PNG there, and these are cut.
      config: { numberOfImages: count, outputMimeType: mimeType },
    });
    return {
      images: generatedImages.map(({ image, enhancedPrompt, raiFilteredReason }) =>
        withoutAbsent({
          base64: image?.imageBytes,
          mimeType: image?.mimeType,
          revisedPrompt: enhancedPrompt,
          filtered: raiFilteredReason,
        }),
      ),
      receiptId: sdkHttpResponse?.headers?.["x-trivium-receipt"] ?? "",
    };
  },
}));

const genaiSetup = (vertexai: boolean) => {
  const { url, key } = harness.gateway;
  const httpOptions = vertexai ? { baseUrl: `${url}/api/genai`, apiVersion: "v1" } : { baseUrl: url };
  return { vertexai, apiKey: key, httpOptions };
};

const CLIENTS = [...gptClients, streamingClient, ...genaiClients];

/** Read by hand from the recording. */
function recordedImages({ recording }: MediaCase): ReportedImage[] {
  const body = JSON.parse(textOf(recording)) as Record<"data" | "predictions" | "candidates", Json[] | undefined>;
  const parts = (body.candidates ?? []).flatMap((candidate) => object(candidate["content"])["parts"] as Json[]);
  const found = [...(body.data ?? []), ...(body.predictions ?? []), ...parts.map((part) => object(part["inlineData"]))];
  return found.flatMap((item) => {
    const url = item["url"] as string | undefined;
    const linked = url && imageAt(url.replace(/^https:\/\/[^/]+/, "")).toString("base64");
    const base64 = (item["b64_json"] ?? item["bytesBase64Encoded"] ?? item["data"] ?? linked) as string | undefined;
    const revisedPrompt = (item["revised_prompt"] ?? item["prompt"]) as string | undefined;
    return base64 === undefined ? [] : [withoutAbsent({ base64, revisedPrompt })];
  });
}

interface WantedImages {
  case: string;
  mimeType: "image/png" | "image/jpeg";
  /** As the receipt shows it; counters that are not here must be null there. */
  usage: Readonly<Record<string, number>>;
  costNanoUsd: number;
}

// biome-ignore format: a table is read in columns
const WANTED: readonly WantedImages[] = [
  { case: "ddtrace.image-create-b64-json", mimeType: "image/png", usage: { images: 1 }, costNanoUsd: 40_000_000 },
  { case: "openllmetry.image-gen-metrics", mimeType: "image/png", usage: { images: 1 }, costNanoUsd: 40_000_000 },
  { case: "ruby-openai.images-generate", mimeType: "image/png", usage: { images: 1 }, costNanoUsd: 40_000_000 },
  { case: "ruby-openai.images-variations", mimeType: "image/png", usage: { images: 2 }, costNanoUsd: 80_000_000 },
  { case: "ruby-llm.image-basic-functionality-xai", mimeType: "image/jpeg", usage: { images: 1 }, costNanoUsd: 40_000_000 },
  { case: "weave.image-generation-async", mimeType: "image/png", usage: { images: 1 }, costNanoUsd: 40_000_000 },
  { case: "js-genai.client-tests-generateimages", mimeType: "image/jpeg", usage: { images: 1 }, costNanoUsd: 40_000_000 },
  { case: "ruby-llm.image-basic-functionality-openai", mimeType: "image/png", usage: { input: 10, image_input: 0, output: 0, image_output: 4160, images: 1 }, costNanoUsd: 10 * 1000 + 4160 * 4000 },
  // The recording lists two queries, one of them empty; both are counted.
  { case: "pydantic-ai.google-image-generation", mimeType: "image/jpeg", usage: { input: 33, output: 660, reasoning: 529, image_output: 1120, searches: 1, images: 1 }, costNanoUsd: 33 * 1000 + (660 + 529) * 2000 + 1120 * 4000 + 35_000_000 },
];

const IMAGE_TOKENS = ["input", "image_input", "output", "image_output", "reasoning"];

async function receiptOf(id: string): Promise<ReceiptData> {
  return harness.gateway.receipt(new Response(null, { headers: { "x-trivium-receipt": id } }));
}

const known = ({ usage }: ReceiptData) =>
  Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== null));

describe.skipIf(!present)("contract 2.4, 2.5, 2.14: recorded images by every package", () => {
  for (const { name, protocol, revises, ask } of CLIENTS) {
    test.each(WANTED)(`${name} ← $case`, async (wanted) => {
      const one = mediaCase(wanted.case);
      const recorded = recordedImages(one);
      expect(recorded).toHaveLength(wanted.usage["images"] ?? 0);
      const { images, receiptId, totalTokens } = await ask(one, recorded.length, wanted.mimeType);
      const { mimeType } = wanted;
      const expected = recorded.map(({ revisedPrompt, ...image }) => ({
        ...image,
        mimeType,
        ...(revisedPrompt === undefined || !revises ? {} : { revisedPrompt }),
      }));
      expect(images).toEqual(expected);
      const receipt = await receiptOf(receiptId);
      expect(known(receipt)).toEqual(wanted.usage);
      expect(receipt).toMatchObject({ usage_source: "measured", cost_nano_usd: wanted.costNanoUsd, provider: one.id });
      const tokens = IMAGE_TOKENS.reduce((sum, counter) => sum + (wanted.usage[counter] ?? 0), 0);
      if (protocol === "chat") expect(totalTokens).toBe(tokens > 0 ? tokens : undefined);
    });
  }

  test("a complete response to a streamed request is passed on, and not requested again", async () => {
    const before = harness.upstream.seen.length;
    const { images } = await streamingClient.ask(mediaCase("ruby-llm.image-basic-functionality-openai"), 1);
    expect(images).toHaveLength(1);
    const asked = harness.upstream.seen.slice(before).map(({ body }) => JSON.parse(body) as Json);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ stream: true });
  });

  test("S07: a recorded URL is fetched without the provider's key", async () => {
    const one = mediaCase("ruby-openai.images-variations");
    const before = harness.upstream.seen.length;
    await gptClients[0]?.ask(one, 2);
    const [made, ...fetched] = harness.upstream.seen.slice(before);
    expect(made?.headers.authorization).toBe(`Bearer ${keyOf(one.id)}`);
    expect(fetched.map(({ method, path }) => `${method} ${path.slice(0, path.lastIndexOf("/img-"))}`)).toEqual(
      new Array(2).fill(
        `GET /${one.id}/kept/private/org-XXXXXXXXXXXXXXXXXXXXXXXX/user-XXXXXXXXXXXXXXXXXXXXXXXX`,
      ) as string[],
    );
    for (const { headers } of fetched) expect(JSON.stringify(headers)).not.toContain(keyOf(one.id));
  });
});

describe.skipIf(!present)("contract 2.4: the requests that produced the recorded responses", () => {
  const asked = (present ? WANTED : [])
    .map(({ case: name }) => mediaCase(name))
    .filter(({ recording }) => /\/generations$|:predict$/.test(recording.http));
  test.each(asked.map((one) => [one.recording.case, one] as const))("%s is requested again", async (_name, one) => {
    const { recording, upstreamModel } = one;
    const client = recording.dialect === "openai-images" ? gptClients[0] : genaiClients[0];
    const before = harness.upstream.seen.length;
    await client?.ask(one, 1);
    const [seen] = harness.upstream.seen.slice(before);
    // One of the hosts names its version, project and location in the URL; these are the configuration's affair.
    const pathOf = ({ path }: { path: string }) => path.slice(path.search(/\/images\/|\/models\//));
    expect(pathOf({ path: seen?.path ?? "" })).toBe(pathOf({ path: recording.http }));
    // The oldest model has one quality. The type is requested only if the client does, and links never are.
    const { quality, response_format: _format, parameters, ...fields } = requestOf(recording) ?? {};
    const { outputOptions: _output, includeSafetyAttributes: _attributes, ...settings } = object(parameters);
    const sent = JSON.parse(seen?.body ?? "") as Json;
    expect(sent).toMatchObject({
      ...fields,
      ...(quality === undefined || upstreamModel === "dall-e-2" ? {} : { quality }),
      ...(parameters === undefined ? {} : { parameters: settings }),
    });
  });
});

/** Both generations of the package report errors by the same members. */
async function failureOf({ ask }: ImageClient, one: MediaCase, count: number): Promise<Partial<SdkFailure>> {
  try {
    await ask(one, count);
  } catch (thrown) {
    if (!(thrown instanceof OpenAi7.APIError || thrown instanceof OpenAi5.APIError)) throw thrown;
    const { status, type, code, message } = thrown;
    return { status, type: type ?? "", code, message };
  }
  throw new Error("the call succeeded");
}

const ofProtocol = (protocol: ImageClient["protocol"]) => CLIENTS.filter((client) => client.protocol === protocol);

const reasonsIn = ({ recording }: MediaCase) =>
  (JSON.parse(textOf(recording)) as { predictions: { raiFilteredReason?: string }[] }).predictions.flatMap(
    ({ raiFilteredReason: reason }) => (reason === undefined ? [] : [reason]),
  );

describe.skipIf(!present)("contract 2.5, choices 4: recorded blocked images, and refusals", () => {
  const allFiltered = () => mediaCase("firebase-mock.unary-failure-generate-images-all-filtered");
  const someFiltered = () => mediaCase("firebase-mock.unary-failure-generate-images-gcs-some-filtered");
  const blocked = () => mediaCase("firebase-mock.unary-failure-generate-images-prompt-blocked");

  for (const { name, ask } of ofProtocol("genai")) {
    test(`${name}: a response whose images are all blocked says why, once for each, and costs nothing`, async () => {
      const [reason = ""] = reasonsIn(allFiltered());
      expect(reason).toContain("Support codes: 39322892");
      const { images, receiptId } = await ask(allFiltered(), 2);
      expect(images).toEqual([{ filtered: reason }, { filtered: reason }]);
      const receipt = await receiptOf(receiptId);
      expect(known(receipt)).toEqual({ images: 0 });
      expect(receipt.cost_nano_usd).toBe(0);
    });

    test(`${name}: one reason covers all blocked images; images in a bucket were not delivered`, async () => {
      const [reason = ""] = reasonsIn(someFiltered());
      expect(reason).toContain("filtered out 2 generated images");
      const { images, receiptId } = await ask(someFiltered(), 4);
      expect(images).toEqual([{}, {}, { filtered: reason }, { filtered: reason }]);
      expect((await receiptOf(receiptId)).cost_nano_usd).toBe(0);
    });

    test(`${name}: a refused prompt counts as blocked images`, async () => {
      const { images, receiptId } = await ask(blocked(), 2);
      const { error } = JSON.parse(textOf(blocked().recording)) as { error: { message: string } };
      expect(images).toEqual([{ filtered: error.message }, { filtered: error.message }]);
      expect((await receiptOf(receiptId)).cost_nano_usd).toBe(0);
    });
  }

  for (const client of ofProtocol("chat")) {
    test(`${client.name}: a response whose images are all blocked is a refusal`, async () => {
      const [reason = ""] = reasonsIn(allFiltered());
      const failure = await failureOf(client, allFiltered(), 1);
      expect(failure).toMatchObject({ type: "invalid_request_error", code: "content_filter" });
      expect(failure.message).toContain(reason);
    });

    test(`${client.name}: a refused prompt`, async () => {
      const failure = await failureOf(client, blocked(), 1);
      expect(failure).toMatchObject({ status: 400, type: "invalid_request_error", code: "content_filter" });
      expect(failure.message).toContain("This prompt contains sensitive words");
    });

    test(`${client.name}: images in a bucket were not delivered, and nothing else was made`, async () => {
      const failure = await failureOf(client, someFiltered(), 4);
      expect(failure).toMatchObject({ type: "api_error" });
      expect(failure.message).toContain("bucket");
    });
  }

  const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const EDIT = "ruby-llm.image-edit-functionality-with--url-having-invalid-content-type";

  test("openai 7: an edit whose image the host could not read", async () => {
    const client = new OpenAi7(gptSetup());
    const image = new File([Buffer.from(PNG, "base64")], "logo.png", { type: "image/png" });
    const edit = { model: `recorded/${mediaCase(EDIT).id}`, prompt: "turn the logo to green", image };
    const failure = await client.images.edit(edit).then(() => undefined, FAILURES.chat);
    expect(failure).toMatchObject({ class: "BadRequestError", status: 400, code: "invalid_image_file" });
    expect(failure?.message).toContain("Invalid image data.");
  });

  test("genai 3: an edit whose image the host could not read", async () => {
    const client = new Genai2.GoogleGenAI(genaiSetup(true));
    const reference = new Genai2.RawReferenceImage();
    reference.referenceImage = { imageBytes: PNG, mimeType: "image/png" };
    reference.referenceId = 1;
    const edit = { model: `recorded/${mediaCase(EDIT).id}`, prompt: "turn it", referenceImages: [reference] };
    const failure = await client.models.editImage(edit).then(() => undefined, FAILURES.genai);
    expect(failure).toMatchObject({ class: "ApiError", status: 400, type: "INVALID_ARGUMENT" });
    expect(failure?.message).toContain("Invalid image data.");
  });
});

test.skipIf(!present)(
  "every recording of images and videos is replayed, or excluded for a reason that still holds",
  () => {
    const leftOut = mediaRecordings.filter(({ case: name }) => name in MEDIA_LEFT_OUT);
    expect(leftOut.map(({ case: name }) => name)).toEqual(Object.keys(MEDIA_LEFT_OUT));
    expect(mediaCases.length + leftOut.length).toBe(mediaRecordings.length);
  },
);
