import type { JsonObject } from "../../base/json.ts";
import type { Operation } from "../../canon/operation.ts";
import type { VideoRequest } from "../../media/video-request.ts";
import type { Operations } from "../../operations/operations.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { ReadForAdapter } from "../request/adapter-kind.ts";
import type { EnteredRequest } from "../request/enter-request.ts";

/** A request for videos as the server passes it on, before its body is read. */
export interface IncomingVideo extends IncomingRequest {
  protocol: VideoProtocol;
  /** The video in the path, if the protocol makes one from another. */
  videoInPath?: string | undefined;
}

/** The body of a request for videos, before its fields are checked. */
export interface ReadVideo extends Omit<ReadForAdapter<VideoRequest>, "request" | "paths" | "model"> {
  readonly model: string;
  /** The model as responses name it; its id if absent. */
  readonly namedModel?: string | undefined;
  /** Equal for equal requests. */
  readonly digested: string;
  decode(): VideoRequest;
}

/** A client protocol for videos. */
export interface VideoProtocol {
  read(incoming: IncomingVideo, entered: EnteredRequest, gateway: Gateway, operations: Operations): Promise<ReadVideo>;
  /** The response to a submit. */
  encode(operation: Operation): JsonObject;
}
