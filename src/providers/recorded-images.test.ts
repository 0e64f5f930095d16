import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { isOptional } from "../../testing/is-present.ts";
import type { JsonObject } from "../base/json.ts";
import { completionTokens, promptTokens } from "../canon/usage.ts";
import type { ImageAdapter } from "../media/adapter.ts";
import { adapterContext, imageCall, jsonOf, mediaAnswer } from "./media-adapters/media-calls.sample.ts";
import { openaiImages } from "./openai/images.ts";
import { xAiImages } from "./x-ai/images.ts";

interface ImageRecording {
  case: string;
  provider: string;
  model: string | null;
  status: number;
  /** Method and path. */
  http: string;
  response_file: string;
  request_file: string | null;
}

const FOLDER = new URL("../../../shared/transcripts/", import.meta.url);
const MANIFEST = new URL("manifest.jsonl", FOLDER);
const present = isOptional(existsSync(MANIFEST), "image recordings, because ../shared/transcripts is not there");

const WIRES: Readonly<Record<string, ImageAdapter>> = { openai: openaiImages, xai: xAiImages };
const textOf = (file: string) => readFileSync(new URL(file, FOLDER), "utf8");
const recordings = present
  ? textOf("manifest.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as ImageRecording & { dialect: string })
      .filter(({ dialect, provider }) => dialect === "openai-images" && provider in WIRES)
  : [];

function adapterOf({ provider }: ImageRecording): ImageAdapter {
  const adapter = WIRES[provider];
  if (adapter === undefined) throw new Error(`no adapter for ${provider}`);
  return adapter;
}

/** The host's default was the oldest model where a request named none. */
const modelOf = (recording: ImageRecording) => recording.model ?? "dall-e-2";

describe.skipIf(!present)("providers 2.1, 2.11: recorded answers", () => {
  test("there are recordings of both hosts, and one of a refusal", () => {
    expect(new Set(recordings.map(({ provider }) => provider))).toEqual(new Set(["openai", "xai"]));
    expect(recordings.some(({ status }) => status === 400)).toBe(true);
  });

  test.each(recordings.filter(({ status }) => status === 200))("$provider/$case is read completely", (recording) => {
    const text = textOf(recording.response_file);
    const body = JSON.parse(text) as { data: JsonObject[]; usage?: JsonObject; output_format?: string };
    const context = adapterContext(modelOf(recording));
    const state = adapterOf(recording).readSubmit(mediaAnswer(text), imageCall(), context);
    if (state.state !== "done") throw new Error(`its state is ${state.state}`);
    const { results, usage } = state.reply;
    expect(results).toHaveLength(body.data.length);
    for (const [index, result] of results.entries()) {
      if (result.kind !== "made") throw new Error(`image ${index} is ${result.kind}`);
      const { b64_json: base64, url, revised_prompt: revised } = body.data[index] ?? {};
      if (typeof base64 === "string") expect(result.image).toEqual({ mimeType: "image/png", base64 });
      else expect(result.image).toMatchObject({ url });
      expect(result.revisedPrompt).toEqual(revised as string);
    }
    const total = body.usage?.["total_tokens"];
    if (total === undefined) expect(usage).toBeUndefined();
    else {
      const { images, ...tokens } = usage ?? {};
      expect(images).toBe(results.length);
      expect<unknown>(promptTokens(tokens) + completionTokens(tokens)).toBe(total);
    }
  });

  test.each(recordings.filter(({ status }) => status >= 400))("$provider/$case keeps its message", (recording) => {
    const text = textOf(recording.response_file);
    const { message, param, code } = (JSON.parse(text) as { error: Record<string, string> }).error;
    const error = adapterOf(recording).error(mediaAnswer(text, recording.status));
    expect<unknown>(error).toMatchObject({ kind: "invalid_request", message, path: param, code });
  });

  const asked = recordings.filter(({ http, request_file }) => http.endsWith("/generations") && request_file !== null);
  test.each(asked)("$provider/$case: the adapter sends what a client sent", (recording) => {
    const sent = JSON.parse(textOf(recording.request_file ?? "")) as JsonObject;
    const [width, height] = String(sent["size"] ?? "")
      .split("x")
      .map(Number);
    const call = imageCall({
      prompt: String(sent["prompt"]),
      ...(width && height ? { pixels: { width, height } } : {}),
      ...(typeof sent["quality"] === "string" ? { quality: sent["quality"] } : {}),
      extras: sent,
    });
    const request = adapterOf(recording).submit(call, adapterContext(modelOf(recording)));
    expect(`POST /v1${request.url}`).toBe(recording.http);
    // The oldest model has one quality, and the option is dropped before.
    const { quality, response_format, ...others } = sent;
    expect(jsonOf(request)).toMatchObject(
      modelOf(recording) === "dall-e-2" ? others : { ...others, ...(quality ? { quality } : {}) },
    );
    if (response_format !== undefined) expect(jsonOf(request)).toMatchObject({ response_format });
  });
});
