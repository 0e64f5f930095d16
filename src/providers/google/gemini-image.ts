// https://ai.google.dev/gemini-api/docs/image-generation

import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Usage } from "../../canon/usage.ts";
import { bareFinishReason, decodeStop } from "../../dialects/genai/answer/stop-reason.ts";
import { decodeUsage } from "../../dialects/genai/answer/usage.ts";
import type { ImageAdapter, JobState, MediaAnswer } from "../../media/adapter.ts";
import type { InlineImage } from "../../media/image.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageResult, UpstreamImageReply } from "../../media/image-reply.ts";
import { imageType } from "../media-adapters/image-type.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { googleError } from "./errors.ts";
import { type GoogleHost, verbPath } from "./host.ts";

const RATIOS = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"];

/** Finish reasons of a refused image, in addition to those of refused text. */
const REFUSALS: ReadonlySet<string> = new Set(["NO_IMAGE", "IMAGE_OTHER"]);

/** The contract's settings for people in images, as `imageConfig` spells them. */
const PERSON_GENERATION: ReadonlyMap<string, string> = new Map([
  ["dont_allow", "ALLOW_NONE"],
  ["allow_adult", "ALLOW_ADULT"],
  ["allow_all", "ALLOW_ALL"],
]);

/** The generation of models without a size has one level only, and takes fewer images. */
const isOld = (model: string): boolean => /^gemini-2/.test(model);

/** Models that answer with text and images, by `generateContent`. */
export function geminiImage(host: GoogleHost): ImageAdapter {
  const vertex = host.name === "vertex";
  return {
    serves: (model) => model.startsWith("gemini") && model.includes("-image"),
    capabilities: (model) => ({
      maxCount: 4,
      perCall: 1,
      takes: vertex ? ["seed", "personGeneration"] : ["seed"],
      seeds: { min: -2_147_483_648, max: 2_147_483_647 },
      sizes: { kind: "ratio", ratios: RATIOS, tiers: isOld(model) ? [] : ["1K", "2K", "4K"] },
      maxInputs: isOld(model) ? 3 : 14,
      mask: false,
      formats: vertex ? ["image/png", "image/jpeg"] : ["image/png"],
      compresses: vertex,
    }),
    submit: (call, context) => ({
      method: "POST",
      url: verbPath(host, context, "generateContent"),
      body: {
        json: {
          contents: [{ role: "user", parts: [...call.inputs.map(inlineData), { text: call.prompt }] }],
          generationConfig: {
            // Some models reject a request for images only.
            responseModalities: ["TEXT", "IMAGE"],
            ...withoutAbsent({ seed: call.seed }),
            imageConfig: {
              ...withoutAbsent({ aspectRatio: call.aspectRatio }),
              ...(isOld(context.model) ? {} : { imageSize: call.tier ?? "1K" }),
              ...(vertex ? vertexConfig(call) : {}),
            },
          },
        },
      },
    }),
    readSubmit,
    error: googleError,
  };
}

function vertexConfig({ personGeneration, outputMimeType, compression }: FittedImageCall): JsonObject {
  return {
    ...(personGeneration === undefined
      ? {}
      : { personGeneration: PERSON_GENERATION.get(personGeneration) ?? personGeneration.toUpperCase() }),
    ...withoutAbsent({ outputMimeType, outputCompressionQuality: compression }),
  };
}

const inlineData = ({ mimeType, base64 }: InlineImage): JsonObject => ({ inlineData: { mimeType, data: base64 } });

function readSubmit({ body }: MediaAnswer): JobState<UpstreamImageReply> {
  const [candidate] = arrayAt(body, "candidates");
  const feedback = objectAt(body, "promptFeedback");
  const blockReason = stringAt(feedback, "blockReason");
  if (candidate === undefined && blockReason !== undefined) {
    const message = stringAt(feedback, "blockReasonMessage");
    throw new GatewayError("content_blocked", message ?? `The provider rejected the prompt (${blockReason}).`);
  }
  if (!body || candidate === undefined) throw emptyAnswer("a candidate");
  const result = readCandidate(candidate);
  const usage = readUsage(body, result.kind === "made");
  return { state: "done", reply: { results: [result], ...withoutAbsent({ usage }) } };
}

/** One image was asked for: the first is the answer; drafts among the thoughts do not count. */
function readCandidate(candidate: unknown): ImageResult<InlineImage> {
  const parts = arrayAt(objectAt(candidate, "content"), "parts").filter(
    (part) => isObject(part) && part["thought"] !== true,
  );
  for (const part of parts) {
    const data = objectAt(part, "inlineData");
    const base64 = stringAt(data, "data");
    if (base64 === undefined) continue;
    const mimeType = imageType(base64, stringAt(data, "mimeType"));
    return { kind: "made", image: { mimeType, base64 } };
  }
  const words = parts.map((part) => stringAt(part, "text") ?? "").join("");
  const finish = stringAt(candidate, "finishReason") ?? "";
  const explanation = (stringAt(candidate, "finishMessage") ?? words).trim();
  if (decodeStop(finish).unified === "filter" || REFUSALS.has(bareFinishReason(finish))) {
    return { kind: "filtered", reason: explanation || `The provider blocked the image (${finish}).` };
  }
  const message = explanation
    ? `The model returned text instead of an image: ${explanation}`
    : `The model did not generate an image (${finish || "no reason given"}).`;
  return { kind: "failed", error: new GatewayError("upstream_failed", message) };
}

/** Where a host does not report image tokens separately, all output tokens count as the image's. */
function readUsage(body: JsonObject, made: boolean): Usage | undefined {
  const usage = decodeUsage(body);
  if (!usage) return undefined;
  const detailed = arrayAt(objectAt(body, "usageMetadata"), "candidatesTokensDetails").length > 0;
  const { output = 0 } = usage;
  return {
    ...usage,
    ...(made && !detailed && output > 0 ? { output: 0, imageOutput: output } : {}),
    images: made ? 1 : 0,
  };
}
