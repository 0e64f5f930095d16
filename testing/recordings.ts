import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DIALECTS } from "../src/dialects/index.ts";
import { readFrames } from "../src/wire/sse.ts";
import { isOptional } from "./is-present.ts";
import type { SampledDialect } from "./sampled-dialects.ts";

/** Recorded traffic of real providers: the witness that is not ours. */
const CORPUS = new URL("../../shared/transcripts/", import.meta.url).pathname;
export const present = isOptional(
  existsSync(join(CORPUS, "manifest.jsonl")),
  "the recorded transcripts are not next to this checkout (../shared/transcripts)",
);

export interface Recording {
  case: string;
  dialect: string;
  provider: string;
  stream: boolean;
  status: number;
  features: string[];
  response_file: string;
  request_file: string | null;
  model: string;
  /** Method and path of the recorded request. */
  http: string;
}

export const DIALECT_OF: Readonly<Record<string, SampledDialect>> = {
  "openai-chat": "chat",
  "anthropic-messages": "messages",
  "gemini-generate": "genai",
};

export const everyRecording = present
  ? readFileSync(join(CORPUS, "manifest.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Recording)
  : [];
/** Those of the three dialects that clients speak too. */
export const recordings = everyRecording.filter((recording) => recording.dialect in DIALECT_OF);
export const nameOf = (recording: Recording) => `${recording.dialect}/${recording.provider}/${recording.case}`;
export const bytesOf = (recording: Recording) => new Uint8Array(readFileSync(join(CORPUS, recording.response_file)));
export const requestOf = ({ request_file }: Recording) =>
  request_file?.endsWith(".json")
    ? (JSON.parse(readFileSync(join(CORPUS, request_file), "utf8")) as Record<string, unknown>)
    : undefined;
export const textOf = (recording: Recording) => new TextDecoder().decode(bytesOf(recording));
export const dialectOf = (recording: Recording) => DIALECTS[DIALECT_OF[recording.dialect] ?? "chat"];

export type Json = Record<string, unknown>;
export const object = (value: unknown) => (typeof value === "object" && value !== null ? (value as Json) : {});

/** The upstream's own usage, read straight from its wire: all input and all output, cached and reasoning included. */
export function recordedTotals(recording: Recording): { input: number; output: number; cached: number } | undefined {
  let totals: { input: number; output: number; cached: number } | undefined;
  const number = (value: unknown) => (typeof value === "number" ? value : 0);
  const merged: Json = {};
  const payloads = recording.stream
    ? readFrames(textOf(recording)).flatMap(({ data }) => (data && data !== "[DONE]" ? [JSON.parse(data) as Json] : []))
    : [JSON.parse(textOf(recording)) as Json];
  for (const payload of payloads) {
    const chat = object(payload["usage"] ?? object(payload["x_groq"])["usage"]);
    if (typeof chat["prompt_tokens"] === "number") {
      const details = object(chat["prompt_tokens_details"]);
      const output = Math.max(
        number(chat["completion_tokens"]),
        number(chat["total_tokens"]) - number(chat["prompt_tokens"]),
      );
      const prompt = number(chat["prompt_tokens"]);
      const written = number(details["cache_write_tokens"]);
      const read = number(details["cached_tokens"] ?? chat["prompt_cache_hit_tokens"] ?? chat["cached_tokens"]);
      // H36: what a host wrote to its cache, it did not also read from it.
      const cached = written > 0 && Math.max(read, written) <= prompt ? Math.min(read, prompt - written) : read;
      // H38: some hosts count less in a prompt than they have read from a cache and written to it.
      const input = Math.max(prompt, cached + written);
      totals = { input, output, cached };
    }
    const messages = object(payload["usage"] ?? object(payload["message"])["usage"]);
    if (typeof messages["output_tokens"] === "number") {
      for (const [key, value] of Object.entries(messages)) if (value !== null) merged[key] = value;
      const cached = number(merged["cache_read_input_tokens"]);
      const input = number(merged["input_tokens"]) + number(merged["cache_creation_input_tokens"]) + cached;
      totals = { input, output: number(merged["output_tokens"]), cached };
    }
    const genai = object(payload["usageMetadata"]);
    if (typeof genai["promptTokenCount"] === "number") {
      const output = number(genai["candidatesTokenCount"]) + number(genai["thoughtsTokenCount"]);
      const input = number(genai["promptTokenCount"]) + number(genai["toolUsePromptTokenCount"]);
      totals = { input, output, cached: number(genai["cachedContentTokenCount"]) };
    }
  }
  return totals;
}

/** Passes that the host ran by itself, and that the totals leave out (H33). */
export function recordedPasses(recording: Recording): { kind: string; input: number; output: number }[] {
  if (recording.stream || recording.dialect !== "anthropic-messages") return [];
  const usage = object((JSON.parse(textOf(recording)) as Json)["usage"]);
  const passes = (usage["iterations"] as Json[] | null | undefined) ?? [];
  return passes
    .map((pass) => ({
      kind: String(pass["type"]),
      input: Number(pass["input_tokens"]),
      output: Number(pass["output_tokens"]),
    }))
    .filter(({ kind }) => kind !== "message");
}
