import type { Principal } from "../../access/principal.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ImageReply } from "../../media/image-reply.ts";
import type { ImageRequest } from "../../media/image-request.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { ReadForAdapter } from "../request/adapter-kind.ts";
import type { HeldMemory } from "../request/memory-budget.ts";

/** A request for images as the server passes it on, before its body is read. */
export interface IncomingImages extends IncomingRequest {
  protocol: ImageProtocol;
}

/** A client protocol for images. */
export interface ImageProtocol {
  /** Reads and checks the body. */
  read(
    request: Request,
    caller: { memory: HeldMemory; principal: Principal },
    gateway: Gateway,
  ): Promise<ReadForAdapter<ImageRequest>>;
  /** A blocked prompt is reported in the response, image by image (contract 7), and not as an error. */
  blockedInBand?: true;
  encode(reply: ImageReply, call: ImageAnswering, gateway: Gateway): Promise<JsonObject>;
}

export interface ImageAnswering {
  /** As it was sent to the offer that answered. */
  request: ImageRequest;
  project: string;
  /** The key that the response is for. */
  keyId: string;
  receiptId: string;
  nowMs: number;
}
