import type { Exchange } from "../../exchange.ts";
import type { MediaContext, MediaHost } from "../../media/media-host.ts";
import { withHostErrors } from "../../media/with-host-errors.ts";
import { SHAPES } from "../compatible/text/errors.ts";
import { answerSpeech } from "./audio/speech.ts";
import { answerTranscription } from "./audio/transcription.ts";
import { authenticate } from "./authenticate.ts";
import { makeImages } from "./images/images.ts";
import { answerModeration } from "./moderations/moderations.ts";
import { createVideo, deleteVideo, deriveVideo, remixVideo, sendVideo, tellVideo } from "./videos/videos.ts";

async function images(exchange: Exchange, context: MediaContext, keyHeader?: string): Promise<Response | undefined> {
  const image = /\/images\/(generations|edits)$/.exec(exchange.url.pathname)?.[1];
  if (image === undefined || exchange.method !== "POST") return undefined;
  const key = authenticate(exchange, context, keyHeader);
  return makeImages(exchange, context, key, image === "edits" ? "edit" : "generation");
}

async function audio(exchange: Exchange, context: MediaContext, keyHeader?: string): Promise<Response | undefined> {
  const [, verb] = /\/(audio\/(?:speech|transcriptions|translations)|moderations)$/.exec(exchange.url.pathname) ?? [];
  if (verb === undefined || exchange.method !== "POST") return undefined;
  const key = authenticate(exchange, context, keyHeader);
  if (verb === "moderations") return answerModeration(exchange);
  if (verb === "audio/speech") return answerSpeech(exchange, key);
  return answerTranscription(exchange, key, verb === "audio/translations" ? "translate" : "transcribe");
}

/** OpenAI's images, videos and sound, and its moderations. */
export const openaiMedia: MediaHost = async (exchange, context) => {
  const { method, url } = exchange;
  const [isVideo, id, part] = /\/videos(?:\/([\w-]+)(?:\/(content|remix))?)?$/.exec(url.pathname) ?? [];
  if (isVideo === undefined) return (await images(exchange, context)) ?? audio(exchange, context);
  const key = authenticate(exchange, context);
  if ((id === "edits" || id === "extensions") && method === "POST") return deriveVideo(exchange, context, key, id);
  if (id === undefined) return method === "POST" ? createVideo(exchange, context, key) : undefined;
  if (part === "content") return method === "GET" ? sendVideo(exchange, context, key, id) : undefined;
  if (part === "remix") return method === "POST" ? remixVideo(exchange, context, key, id) : undefined;
  if (method === "DELETE") return deleteVideo(context, key, id);
  return method === "GET" ? tellVideo(context, key, id) : undefined;
};

/** Azure's images and sound: the same models, with another header for the key and another shape of errors. */
export const azureMedia: MediaHost = (exchange, context) =>
  withHostErrors(
    SHAPES.azure.body,
    async () => (await images(exchange, context, "api-key")) ?? audio(exchange, context, "api-key"),
  );

/** Hosts that have the endpoints for sound and moderations as OpenAI has them. */
export const compatibleAudio: MediaHost = (exchange, context) => audio(exchange, context);
