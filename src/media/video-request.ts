import type { FieldNote } from "../canon/receipt.ts";
import type { VideoField } from "./fit-video-call.ts";
import type { VideoCall } from "./video-call.ts";

/** A client's request for videos, from any endpoint. */
export interface VideoRequest {
  call: VideoCall;
  /** The path of each canonical field in the client's request. */
  paths: Readonly<Record<VideoField, string>>;
  /** Frames given by URL that are still to be fetched. */
  links: readonly VideoLink[];
  notes: FieldNote[];
}

export interface VideoLink {
  url: string;
  field: "image" | "lastFrame";
}
