import type { VideoDerivation } from "../../canon/operation.ts";
import { refuse } from "../../dialects/reading/check.ts";
import { defineBodyCheck } from "../check-body.ts";
import { VideoEditRequest, VideoExtendRequest, VideoRemixRequest } from "./schema.ts";

/** A request for a video that is made from an earlier one. */
export interface DerivedVideo {
  prompt: string;
  /** The id of the earlier video, unless the path has it. */
  videoId?: string;
  seconds?: number;
}

const checkRemix = defineBodyCheck(VideoRemixRequest, () => {});
const checkEdit = defineBodyCheck(VideoEditRequest, () => {});
const checkExtend = defineBodyCheck(VideoExtendRequest, () => {});

const DECODERS: Readonly<Record<VideoDerivation, (body: unknown) => DerivedVideo>> = {
  remix: (body) => ({ prompt: checkRemix(body).prompt }),
  edit: (body) => {
    const { prompt, video } = checkEdit(body);
    return { prompt, videoId: video.id };
  },
  extend: (body) => {
    const { prompt, video, seconds } = checkExtend(body);
    return { prompt, videoId: video.id, seconds: Number(seconds) };
  },
};

/** Reads the body of `/v1/videos/{id}/remix`, `/v1/videos/edits` or `/v1/videos/extensions`. */
export function decodeDerived(kind: VideoDerivation, body: Readonly<Record<string, unknown>>): DerivedVideo {
  if (typeof body["video"] === "string")
    refuse("video", 'must name a completed video by its id, {"id": "video_…"}; uploaded videos are not supported');
  return DECODERS[kind](body);
}
