import { existsSync, readFileSync } from "node:fs";
import { isOptional } from "../../../testing/is-present.ts";
import type { JsonObject } from "../../base/json.ts";

/** One recorded exchange with a provider of this dialect, for tests. */
interface ChatRecording {
  dialect: string;
  stream: boolean;
  status: number;
  response_file: string;
  request_file: string | null;
}

const FOLDER = new URL("../../../../shared/transcripts/", import.meta.url);
const MANIFEST = new URL("manifest.jsonl", FOLDER);

export const recordingsPresent = isOptional(
  existsSync(MANIFEST),
  "chat recordings, because ../shared/transcripts is not there",
);

export const chatRecordings: readonly ChatRecording[] = recordingsPresent
  ? readFileSync(MANIFEST, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as ChatRecording)
      .filter(({ dialect }) => dialect.endsWith("-chat"))
  : [];

export const readRecording = (file: string): Buffer => readFileSync(new URL(file, FOLDER));

export const readRecordedJson = (file: string): JsonObject => JSON.parse(readRecording(file).toString()) as JsonObject;
