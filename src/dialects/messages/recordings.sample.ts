import { existsSync, readFileSync } from "node:fs";
import { isOptional } from "../../../testing/is-present.ts";
import type { JsonObject } from "../../base/json.ts";
import { readFrames, type SseFrame } from "../../wire/sse.ts";

/** Recorded traffic of this dialect for tests. The recordings are stored outside the project and may be absent. */
interface Recording {
  dialect: string;
  status: number | null;
  request_file: string | null;
  response_file: string;
}

const FOLDER = new URL("../../../../shared/transcripts/", import.meta.url);
const MANIFEST = new URL("manifest.jsonl", FOLDER);

export const recordingsThere = isOptional(
  existsSync(MANIFEST),
  "recordings of messages, because ../shared/transcripts is not there",
);

const read = (file: string): string => readFileSync(new URL(file, FOLDER), "utf8");

function recordings(): Recording[] {
  if (!recordingsThere) return [];
  const lines = read("manifest.jsonl").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Recording).filter(({ dialect }) => dialect.endsWith("-messages"));
}

export const recordedStreams = (): [string, SseFrame[]][] =>
  recordings()
    .filter(({ response_file }) => response_file.endsWith(".sse"))
    .map(({ response_file }) => [
      response_file,
      readFrames(read(response_file)).filter(({ data }) => data !== undefined),
    ]);

export const recordedAnswers = (): [string, number, JsonObject][] =>
  recordings()
    .filter(({ response_file }) => response_file.endsWith(".json"))
    .map(({ response_file, status }) => [response_file, status ?? 200, JSON.parse(read(response_file)) as JsonObject]);

export const recordedRequests = (): [string, JsonObject][] =>
  recordings().flatMap(({ request_file }) =>
    request_file === null ? [] : [[request_file, JSON.parse(read(request_file)) as JsonObject] as [string, JsonObject]],
  );
