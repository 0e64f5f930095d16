import type { JsonObject } from "../../../json.ts";
import { encodeImage } from "../../../media/publish.ts";
import { Seed } from "../../../seed.ts";
import { sign } from "../../../text/signature.ts";
import { countTokens } from "../../../text/tokens.ts";
import type { GoogleHost } from "../text/errors.ts";
import { TEXT_PURPOSE } from "../text/read-contents.ts";
import type { ImageCall } from "./image-call.ts";

/** The result of the call: the image, or the reason why it is missing. */
export type ImageResult = "drawn" | "blocked" | "IMAGE_SAFETY" | "IMAGE_OTHER";

const THOUGHT_TOKENS = 180;

interface Chunk {
  part: JsonObject;
  /** By modality, what it adds to the usage. */
  text: number;
  image: number;
}

function imageTokens(call: ImageCall, model: string): number {
  if (model.startsWith("gemini-2")) return 1_290;
  return call.tier === "4K" ? 2_000 : 1_120;
}

async function contentOf(call: ImageCall, model: string, result: ImageResult): Promise<Chunk[]> {
  if (result === "blocked" || result === "IMAGE_SAFETY") return [];
  const thinks = !model.startsWith("gemini-2");
  const chunks: Chunk[] = [];
  if (thinks && call.showsThoughts) {
    chunks.push({ part: { text: "Simulated thoughts on the image.", thought: true }, text: 0, image: 0 });
  }
  if (call.writes) {
    const text = result === "drawn" ? "Here is the simulated image. " : "No image could be made of this. ";
    chunks.push({ part: { text }, text: countTokens(text), image: 0 });
  }
  if (call.draws && result === "drawn") {
    const data = await encodeImage({
      prompt: call.prompt,
      width: call.width,
      height: call.height,
      seed: Math.abs(call.seed),
      format: call.format,
      ...(call.quality === undefined ? {} : { quality: call.quality }),
      inputs: call.inputs,
      note: model,
    });
    const inlineData = { mimeType: `image/${call.format}`, data };
    const signed = thinks ? { thoughtSignature: sign(TEXT_PURPOSE, "", new Seed(`${model} ${call.prompt}`)) } : {};
    chunks.push({ part: { inlineData, ...signed }, text: 0, image: imageTokens(call, model) });
  }
  return chunks;
}

function usageOf(call: ImageCall, host: GoogleHost, thoughts: number, text: number, image: number): JsonObject {
  const details = (counts: Record<string, number>): JsonObject[] =>
    Object.entries(counts).flatMap(([modality, tokenCount]) => (tokenCount > 0 ? [{ modality, tokenCount }] : []));
  const prompt = call.textTokens + call.imageTokens;
  return {
    promptTokenCount: prompt,
    ...(text + image > 0 ? { candidatesTokenCount: text + image } : {}),
    totalTokenCount: prompt + text + image + thoughts,
    promptTokensDetails: details({ TEXT: call.textTokens, IMAGE: call.imageTokens }),
    ...(image > 0
      ? { candidatesTokensDetails: details({ ...(host === "vertex" ? { TEXT: text } : {}), IMAGE: image }) }
      : {}),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(host === "vertex" ? { trafficType: "ON_DEMAND" } : { serviceTier: "standard" }),
  };
}

/** The answer as the chunks of a stream, the last of which has the reason why it ends. */
export async function imageChunks(
  call: ImageCall,
  host: GoogleHost,
  model: string,
  result: ImageResult,
  nowMs: number,
): Promise<JsonObject[]> {
  const thoughts = model.startsWith("gemini-2") || result === "blocked" ? 0 : THOUGHT_TOKENS;
  const frame = {
    modelVersion: model,
    responseId: new Seed(`${model} ${call.prompt} ${call.seed}`).token("response", 22),
    ...(host === "vertex" ? { createTime: new Date(nowMs).toISOString() } : {}),
  };
  if (result === "blocked") {
    return [
      { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: usageOf(call, host, 0, 0, 0), ...frame },
    ];
  }
  let text = 0;
  let image = 0;
  const chunks: JsonObject[] = [];
  for (const chunk of await contentOf(call, model, result)) {
    text += chunk.text;
    image += chunk.image;
    const candidate = { content: { parts: [chunk.part], role: "model" }, index: 0 };
    chunks.push({ candidates: [candidate], usageMetadata: usageOf(call, host, thoughts, text, image), ...frame });
  }
  const ending =
    result === "drawn"
      ? { content: { role: "model" }, finishReason: "STOP", index: 0 }
      : { finishReason: result, finishMessage: `Simulated: no image (${result}). Rephrase the prompt.`, index: 0 };
  chunks.push({ candidates: [ending], usageMetadata: usageOf(call, host, thoughts, text, image), ...frame });
  return chunks;
}
