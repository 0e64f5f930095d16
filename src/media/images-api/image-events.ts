import type { JsonObject } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { Usage } from "../../canon/usage.ts";
import { ERROR_WORDS } from "../../dialects/chat/answer/error-words.ts";
import type { InlineImage } from "../image.ts";
import type { ImageSettings } from "../image-reply.ts";
import type { ImageRequest } from "../image-request.ts";
import { encodeSettings } from "./settings.ts";
import { encodeImageUsage } from "./usage.ts";

/** Writes the events of contract 2.14. Each method returns the text of one server-sent event. */
export interface ImageEventEncoder {
  partial(image: InlineImage, settings?: ImageSettings): string;
  completed(image: InlineImage, about?: { settings?: ImageSettings; usage?: Usage }): string;
  /** Ends the stream. */
  error(error: GatewayError): string;
}

export function createImageEventEncoder(request: ImageRequest, createdSeconds: number): ImageEventEncoder {
  const family = request.edit ? "image_edit" : "image_generation";
  // Counted here: a second offer, or several concurrent calls, would each begin at zero.
  let partials = 0;
  return {
    partial(image, settings) {
      return write(`${family}.partial_image`, {
        b64_json: image.base64,
        created_at: createdSeconds,
        ...encodeSettings(request, settings, image.mimeType),
        partial_image_index: partials++,
      });
    },
    completed(image, { settings, usage } = {}) {
      const tokens = encodeImageUsage(usage);
      return write(`${family}.completed`, {
        b64_json: image.base64,
        created_at: createdSeconds,
        ...encodeSettings(request, settings, image.mimeType),
        ...(tokens === undefined ? {} : { usage: tokens }),
      });
    },
    error({ kind, message, path, code }) {
      const words = ERROR_WORDS[kind];
      return write("error", {
        error: { message, type: words.type, param: path ?? null, code: code ?? words.code },
      });
    },
  };
}

const write = (type: string, fields: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
