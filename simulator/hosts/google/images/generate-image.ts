import type { Exchange } from "../../../exchange.ts";
import { HostError } from "../../../host-error.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { chooseOutcome } from "../../../media/choose-outcome.ts";
import type { MediaContext } from "../../../media/media-host.ts";
import type { Outcome } from "../../../media/outcome.ts";
import { playImmediateOutcome, waitFor } from "../../../media/play-outcome.ts";
import { StreamedAnswer } from "../../../media/streamed-answer.ts";
import { immediateErrors, noSuchModel } from "../refusals.ts";
import type { GoogleHost } from "../text/errors.ts";
import { frameText } from "../text/framing.ts";
import { readImageCall } from "./image-call.ts";
import { type ImageResult, imageChunks } from "./image-chunks.ts";

const MODELS =
  /^(?:standard-image|gemini-\d(?:\.\d)?-(?:flash|flash-lite|pro)-image(?:-preview|-\d+)*|gemini-2\.0-flash-(?:preview|exp)-image-generation)$/;

interface ImageRequest {
  exchange: Exchange;
  context: MediaContext;
  host: GoogleHost;
  model: string;
  caller: string;
  streams: boolean;
}

/** Names that the host of text leaves to this one. `standard` is its own, so that here it is called `standard-image`. */
export function isImageModel(model: string): boolean {
  return model.includes("image") && !model.startsWith("imagen");
}

/** Chunks joined to the one answer of a call that does not stream. */
function joined(chunks: readonly JsonObject[]): JsonObject {
  const last = chunks.at(-1) ?? {};
  const candidates = chunks.flatMap((chunk) =>
    Array.isArray(chunk.candidates) ? chunk.candidates.filter(isObject) : [],
  );
  const ending = candidates.at(-1);
  if (ending === undefined) return last;
  const parts: Json[] = candidates.flatMap(({ content }) =>
    isObject(content) && Array.isArray(content.parts) ? content.parts : [],
  );
  const content = parts.length === 0 ? {} : { content: { parts, role: "model" } };
  return { ...last, candidates: [{ ...ending, ...content }] };
}

function streamed(chunks: readonly JsonObject[], exchange: Exchange, host: GoogleHost): Response {
  const events = exchange.url.searchParams.get("alt") === "sse";
  async function* frames(): AsyncGenerator<string> {
    for (const [at, chunk] of chunks.entries()) {
      if (exchange.signal.aborted) return;
      yield frameText(chunk, host, events, at === 0);
      await exchange.state.wait(exchange.state.tokenDelayMs, exchange.signal);
    }
    if (!events) yield "]\n";
  }
  const contentType = events ? "text/event-stream" : "application/json; charset=UTF-8";
  return new StreamedAnswer(exchange, contentType, frames());
}

function resultOf(outcome: Outcome | undefined): ImageResult {
  if (outcome === "blocked") return "blocked";
  if (outcome === "moderated") return "IMAGE_SAFETY";
  return outcome === "fails" ? "IMAGE_OTHER" : "drawn";
}

async function answer({ exchange, context, host, model, caller, streams }: ImageRequest): Promise<Response> {
  if (!MODELS.test(model)) throw noSuchModel(host, model, "generateContent", exchange.url.pathname);
  const call = readImageCall(exchange, host, model);
  const outcome = chooseOutcome(call.prompt, 1, exchange, caller);
  const { blocked: _, ...refusals } = immediateErrors(model, host);
  // A blocked prompt is not an error in this protocol; the response reports it.
  const immediate = playImmediateOutcome(outcome, refusals);
  if (immediate !== undefined) return immediate;
  const result = resultOf(outcome);
  if (result !== "blocked") {
    const id = crypto.randomUUID();
    const job = context.jobs.create({ id, host: `${host} generate`, key: caller, request: null, outcome });
    if (outcome === "slow") await waitFor(job, context, exchange.signal);
  }
  const chunks = await imageChunks(call, host, model, result, context.nowMs());
  return streams ? streamed(chunks, exchange, host) : Response.json(joined(chunks));
}

/** generateContent and streamGenerateContent of the models that draw, one image for each call. */
export async function generateImage(request: ImageRequest): Promise<Response> {
  const { exchange, streams } = request;
  exchange.countModel(request.model);
  try {
    return await answer(request);
  } catch (error) {
    // Without events even the error of a streaming call comes inside an array.
    const inArray = streams && exchange.url.searchParams.get("alt") !== "sse";
    if (!(error instanceof HostError) || !inArray) throw error;
    throw new HostError(error.status, `[${error.body.trimEnd()}\n]\n`, error.headers);
  }
}
