import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { isOptional } from "../../testing/is-present.ts";
import { checkChatRequest } from "./chat/schema/check-request.ts";
import { normaliseGenaiRequest } from "./genai/normalise.ts";
import { checkGenerateContentRequest } from "./genai/schema/check-request.ts";
import { checkMessagesRequest } from "./messages/schema/check-request.ts";
import type { CheckContext } from "./reading/check.ts";
import { AT_DROPIN_DOOR, refusalOf } from "./reading/refusal-table.ts";

interface Recording {
  dialect: string;
  model: string;
  request_file: string | null;
}

const FOLDER = new URL("../../../shared/transcripts/", import.meta.url);
const MANIFEST = new URL("manifest.jsonl", FOLDER);

const CHECKS: Record<string, (body: unknown, context: CheckContext) => void> = {
  "openai-chat": checkChatRequest,
  "anthropic-messages": checkMessagesRequest,
  "gemini-generate": (body, context) => checkGenerateContentRequest(normaliseGenaiRequest(body), context),
};

/** Recorded requests that violate the contract, and where. Their providers may have accepted them; the gateway does not. */
const REFUSED: Record<string, string> = {
  // n is 2; contract 2.12 only supports 1.
  "openai-chat/openai/otel.chat-completion-multiple-choices-streaming.request.json": "n",
  // "any" is one host's word for "required".
  "openai-chat/mistral/openinference.synchronous-streaming-chat-com--ponse-emits-expected-spans-false.request.json":
    "tool_choice",
  // A user message without content, recorded for the 400 that it got.
  "openai-chat/openai/envoy-aigw.chat-bad-request.request.json": "messages[0].content",
};

function recordings(): Recording[] {
  const lines = readFileSync(MANIFEST, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Recording).filter((recording) => recording.dialect in CHECKS);
}

const there = isOptional(existsSync(MANIFEST), "recorded requests, because ../shared/transcripts is not there");

describe.skipIf(!there)("every recorded request passes its check at the drop-in door", () => {
  const requests = there
    ? recordings().flatMap(({ request_file, ...rest }) => (request_file ? [{ request_file, ...rest }] : []))
    : [];

  test.each(requests.map((request) => [request.request_file, request] as const))("%s", (file, { dialect, model }) => {
    const recorded = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as Record<string, unknown>;
    // If a host has the model in the URL, a client of the gateway has it in the body.
    const body = dialect === "anthropic-messages" ? { model, ...recorded } : recorded;
    const check = CHECKS[dialect];
    const refusal = check === undefined ? undefined : refusalOf(check, body, AT_DROPIN_DOOR);
    expect(refusal?.path).toBe(REFUSED[file]);
  });

  test("there are recordings of all three dialects", () => {
    expect(new Set(requests.map((request) => request.dialect)).size).toBe(3);
  });
});
