import type { JsonObject } from "../../base/json.ts";
import type { ImageReply } from "../../media/image-reply.ts";
import type { ImageRequest } from "../../media/image-request.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { HeldMemory } from "../memory-budget.ts";

/** A request for images as the server hands it over, before its body is read. */
export interface IncomingImages extends IncomingRequest {
  /** genai: the path names the model; elsewhere the body does. */
  modelInPath?: string;
  protocol: ImageProtocol;
}

/** One of the protocols in which a client asks for images and is answered. */
export interface ImageProtocol {
  /** Reads and checks the body. */
  read(request: Request, memory: HeldMemory, gateway: Gateway): Promise<ReadImages>;
  /** A prompt that moderation blocks is reported in the answer, image by image (contract 7), and not as an error. */
  blockedInBand?: true;
  encode(reply: ImageReply, call: ImageAnswering, gateway: Gateway): Promise<JsonObject>;
}

/** A request for images, read. */
export interface ReadImages {
  /** Where the body names it. */
  model?: string;
  request: ImageRequest;
  /** What may speak to the gateway itself; of a form, those fields alone. */
  body: JsonObject;
  /** The texts of a form. */
  fields?: JsonObject;
  /** The body as it came, where it may be kept: of a form its fields, and of its files type and size. */
  sent(): string;
}

export interface ImageAnswering {
  /** As it was sent to the offer that answered. */
  request: ImageRequest;
  project: string;
  receiptId: string;
  nowMs: number;
}
