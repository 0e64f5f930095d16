import { decodeName } from "../../exchange.ts";
import type { MediaHost } from "../../media/media-host.ts";
import { callerOf } from "./caller.ts";
import { generateImage, isImageModel } from "./images/generate-image.ts";
import { predictImages } from "./images/imagen.ts";
import { generateSpeech, isSpeechModel } from "./speech/generate-speech.ts";
import type { GoogleHost } from "./text/errors.ts";
import { sendToVideo, sendVideo } from "./videos/download.ts";
import { fetchOperation, showOperation, startVideo } from "./videos/veo.ts";

const CALLS = {
  gemini: /\/v1(?:beta|beta1)?\/models\/([^/]+):(\w+)$/,
  vertex: /\/publishers\/google\/models\/([^/]+):(\w+)$/,
} as const;
const OPERATION = /\/(models\/([^/]+)\/operations\/[^/]+)$/;
const DOWNLOAD = /\/download\/results\/[\w-]+\.mp4$/;
/** A name that the store of files made. */
const STORED = /^sim[0-9a-f]{16}$/;
const FILE = /\/files\/(\w+):download$/;

function googleMedia(host: GoogleHost): MediaHost {
  return async (exchange, context) => {
    const path = decodeName(exchange.url.pathname);
    if (exchange.method === "GET" && host === "gemini") {
      const file = FILE.exec(path)?.[1];
      // Those from batches are not videos.
      if (file !== undefined && !STORED.test(file)) return sendToVideo(exchange, context, file);
      if (DOWNLOAD.test(path)) return sendVideo(context, path);
      const [, name, model] = OPERATION.exec(path) ?? [];
      if (name === undefined || model === undefined) return undefined;
      return showOperation(name, model, context, host, callerOf(exchange, context, host));
    }
    const [, model, verb] = (exchange.method === "POST" ? CALLS[host].exec(path) : null) ?? [];
    if (model === undefined) return undefined;
    const caller = (): string => callerOf(exchange, context, host);
    switch (verb) {
      case "predict":
        return predictImages(exchange, context, host, model, caller());
      case "predictLongRunning":
        return startVideo(exchange, context, host, model, caller());
      case "fetchPredictOperation":
        return host === "vertex" ? fetchOperation(exchange, context, model, caller()) : undefined;
      case "generateContent":
      case "streamGenerateContent":
        if (isSpeechModel(model)) {
          return generateSpeech({ exchange, host, model, caller: caller(), streams: verb === "streamGenerateContent" });
        }
        if (!isImageModel(model)) return undefined;
        return generateImage({
          exchange,
          context,
          host,
          model,
          caller: caller(),
          streams: verb === "streamGenerateContent",
        });
      default:
        return undefined;
    }
  };
}

/** Images, videos and sound of the Gemini API. */
export const geminiMedia: MediaHost = googleMedia("gemini");
/** The same of Vertex AI. */
export const vertexMedia: MediaHost = googleMedia("vertex");
