import { existsSync, readFileSync } from "node:fs";
import type { MediaAnswer } from "../../media/adapter.ts";
import { mediaAnswer } from "../media-adapters/media-calls.sample.ts";

const FOLDER = new URL("../../../../shared/transcripts/", import.meta.url);

/** Whether recordings of the vendor's answers are available. For tests. */
export const recordingsThere = existsSync(new URL("manifest.jsonl", FOLDER));
if (!recordingsThere)
  console.log("skipped: recordings of images and videos, because ../shared/transcripts is not there");
if (!recordingsThere && process.env["CI"] === "true") {
  throw new Error("../shared/transcripts is missing, and CI must not pass without it");
}

export const recordedAnswer = (file: string, status = 200): MediaAnswer =>
  mediaAnswer(readFileSync(new URL(file, FOLDER), "utf8"), status);
