import { existsSync, readFileSync } from "node:fs";
import { isOptional } from "../../../testing/is-present.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { mediaAnswer } from "../media-adapters/media-calls.sample.ts";

const FOLDER = new URL("../../../../shared/transcripts/", import.meta.url);

/** Whether recordings of the vendor's answers are available. For tests. */
export const recordingsThere = isOptional(
  existsSync(new URL("manifest.jsonl", FOLDER)),
  "recordings of images and videos, because ../shared/transcripts is not there",
);

export const recordedAnswer = (file: string, status = 200): MediaAnswer =>
  mediaAnswer(readFileSync(new URL(file, FOLDER), "utf8"), status);
