import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { nameOf, present } from "../../testing/recordings.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import {
  hostedRecordings,
  LEFT_OUT,
  RECORDED_HOSTS,
  type RecordedCase,
  type RecordedHarness,
  reasonToLeaveOut,
  recordedCases,
  recordedMeaning,
  startRecordedHarness,
} from "../support/recorded-harness.ts";
import { FAILURES, type SdkFailure } from "../support/sdk-failure.ts";
import { type Meaning, READERS } from "../support/sdk-meaning.ts";

/**
 * Every recorded response, rendered by the gateway to each of the four client protocols and read there by the vendor's
 * own SDK, has the content that the SDK of the recorded protocol reads from the recording itself, without any gateway.
 * Every recorded refusal is the error that choices 4 makes of it.
 */

const answers = recordedCases.filter(({ recording }) => recording.status === 200);
const refusals = recordedCases.filter(({ recording }) => recording.status !== 200);
const leftOut = hostedRecordings.filter((recording) => reasonToLeaveOut(recording) !== undefined);

let harness: RecordedHarness;
const table = new Map<string, { equal: number; total: number }>();

beforeAll(async () => {
  harness = await startRecordedHarness();
});

afterAll(async () => {
  await harness.stop();
  if (table.size > 0) printTable();
});

function count({ recording }: RecordedCase, client: ScriptedDialect): { equal: number; total: number } {
  const cell = `${recording.dialect} ${client}`;
  const found = table.get(cell) ?? { equal: 0, total: 0 };
  table.set(cell, found);
  found.total++;
  return found;
}

function printTable(): void {
  console.log("\nrecordings read by the SDKs of the four protocols: as recorded / all");
  const columns = ["recorded as", ...SCRIPTED_DIALECTS, "left out", "recordings"];
  const row = (cells: readonly string[]) => cells.map((cell, at) => cell.padEnd(at === 0 ? 22 : 12)).join("");
  console.log(row(columns));
  for (const dialect of Object.keys(RECORDED_HOSTS)) {
    const cells = SCRIPTED_DIALECTS.map((name) => {
      const { equal, total } = table.get(`${dialect} ${name}`) ?? { equal: 0, total: 0 };
      return `${equal}/${total}`;
    });
    const of = (list: typeof hostedRecordings) => String(list.filter((one) => one.dialect === dialect).length);
    console.log(row([dialect, ...cells, of(leftOut), of(hostedRecordings)]));
  }
  console.log(`${hostedRecordings.length} recordings, of which are left out:`);
  for (const recording of leftOut) console.log(`  ${nameOf(recording)}: ${reasonToLeaveOut(recording)}`);
}

const BASE_PATH: Record<ScriptedDialect, string> = {
  chat: "/api/v1",
  messages: "/api/msg",
  genai: "/api/genai",
  responses: "/api/v1",
};

const readThrough = (client: ScriptedDialect, id: string, stream: boolean): Promise<Meaning> =>
  READERS[client]({
    baseUrl: `${harness.gateway.url}${BASE_PATH[client]}`,
    apiKey: harness.gateway.key,
    model: `recorded/${id}`,
    stream,
  });

const byName = (cases: readonly RecordedCase[]) => cases.map((one) => [nameOf(one.recording), one] as const);

/** A stop reason that a protocol does not have is reported as the nearest that it has. */
function toldAs({ stop, calls, refused }: Meaning, client: ScriptedDialect): readonly Meaning["stop"][] {
  // Only one of the protocols has a field for a refusal; in the others the end shows it.
  if (refused) return [stop, "filter"];
  const tool: Meaning["stop"][] = calls.length > 0 && stop === "stop" ? ["tool"] : [];
  if (stop === "pause") return client === "messages" ? ["pause"] : ["length"];
  if (stop === "other") return ["other", "stop", "tool", "filter", "length"];
  return [stop, ...tool];
}

describe.skipIf(!present)("every recorded response in every protocol", () => {
  for (const client of SCRIPTED_DIALECTS) {
    test.each(byName(answers))(`${client} ← %s`, async (_name, one) => {
      const { recording, id } = one;
      const read = readThrough(client, id, recording.stream);
      const cell = count(one, client);
      if (recording.features.includes("mid-stream-error")) {
        await expect(read).rejects.toThrow();
        cell.equal++;
        return;
      }
      const want = await recordedMeaning(harness, one);
      const got = await read;
      const whole = want.calls.map(({ args }) => typeof args === "object");
      // A paragraph replaces the provider's search or the like, in protocols that have no place for it.
      const words = (text: string) => (client === "chat" || client === "genai" ? text.replace(/\s+/g, "") : text);
      expect(words(got.text)).toBe(words(want.text));
      expect(got.reasoning).toBe(want.reasoning);
      expect(got.calls.map(({ name }) => name)).toEqual(want.calls.map(({ name }) => name));
      // Arguments that the model broke cannot be sent in protocols that carry objects.
      for (const [index, call] of want.calls.entries())
        if (whole[index]) expect(got.calls[index]?.args).toEqual(call.args);
      expect(toldAs(want, client)).toContain(got.stop);
      if (want.usage) expect(got.usage).toEqual(want.usage);
      cell.equal++;
    });
  }
});

type Cause = "bad-request" | "unknown-model" | "credentials" | "rate-limit" | "overloaded";

interface Reported {
  class: string;
  status: number;
  type: string;
  code?: string;
}

// biome-ignore format: a table is read in columns
/** Rows of choices 4, with the class that each SDK has for them. */
const EXPECTED: Readonly<Record<Cause, Record<ScriptedDialect, Reported>>> = {
  "bad-request": {
    chat: { class: "BadRequestError", status: 400, type: "invalid_request_error" },
    messages: { class: "BadRequestError", status: 400, type: "invalid_request_error" },
    genai: { class: "ApiError", status: 400, type: "INVALID_ARGUMENT" },
    responses: { class: "BadRequestError", status: 400, type: "invalid_request_error" },
  },
  "unknown-model": {
    chat: { class: "NotFoundError", status: 404, type: "not_found_error", code: "model_not_found" },
    messages: { class: "NotFoundError", status: 404, type: "not_found_error" },
    genai: { class: "ApiError", status: 404, type: "NOT_FOUND" },
    responses: { class: "NotFoundError", status: 404, type: "not_found_error", code: "model_not_found" },
  },
  credentials: {
    chat: { class: "InternalServerError", status: 502, type: "api_error", code: "upstream_credentials" },
    messages: { class: "InternalServerError", status: 502, type: "api_error" },
    genai: { class: "ApiError", status: 502, type: "UNAVAILABLE" },
    responses: { class: "InternalServerError", status: 502, type: "api_error", code: "upstream_credentials" },
  },
  "rate-limit": {
    chat: { class: "RateLimitError", status: 429, type: "rate_limit_error", code: "rate_limit_exceeded" },
    messages: { class: "RateLimitError", status: 429, type: "rate_limit_error" },
    genai: { class: "ApiError", status: 429, type: "RESOURCE_EXHAUSTED" },
    responses: { class: "RateLimitError", status: 429, type: "rate_limit_error", code: "rate_limit_exceeded" },
  },
  overloaded: {
    chat: { class: "InternalServerError", status: 503, type: "api_error", code: "overloaded" },
    messages: { class: "OverloadedError", status: 529, type: "overloaded_error" },
    genai: { class: "ApiError", status: 503, type: "UNAVAILABLE" },
    responses: { class: "InternalServerError", status: 503, type: "api_error", code: "overloaded" },
  },
};

interface Refusal {
  case: string;
  cause: Cause;
  /** Which of the provider's words must arrive or, for errors that concern the operator, must not. */
  words: string;
  /** The provider's own code and field, which one of the protocols has fields for. */
  code?: string;
  retryAfter?: string;
}

// biome-ignore format: a table is read in columns
const REFUSALS: readonly Refusal[] = [
  { case: "pydantic-ai.tool-use-failed-error", cause: "bad-request", words: "Tool call validation failed", code: "tool_use_failed" },
  { case: "envoy-aigw.chat-bad-request", cause: "bad-request", words: "Use 'max_completion_tokens' instead", code: "unsupported_parameter" },
  { case: "envoy-aigw.chat-unknown-model", cause: "unknown-model", words: "`gpt-4.1-nano-wrong` does not exist" },
  { case: "mirascope.cassettes-test-authentication-error-openai", cause: "credentials", words: "invalid-*****2345" },
  { case: "mirascope.handles-optional-properties-in-strict-mode", cause: "bad-request", words: "'additionalProperties' is required", code: "invalid_function_parameters" },
  { case: "pydantic-ai.openrouter-errors-raised", cause: "rate-limit", words: "Provider returned error", retryAfter: "5" },
  { case: "mirascope.cassettes-test-model-not-found-anthropic", cause: "unknown-model", words: "model: this-model-does-not-exist-12345" },
  { case: "ruby-llm.chat-error-handling-with-anthr", cause: "credentials", words: "x-api-key" },
  { case: "ruby-llm.chat-real-error-scenarios-anth", cause: "bad-request", words: "prompt is too long: 3333404 tokens > 200000 maximum", code: "context_length_exceeded" },
  { case: "vercel-ai.quoted-529-overloaded", cause: "overloaded", words: "Overloaded" },
  { case: "mirascope.cassettes-test-model-not-found-google", cause: "unknown-model", words: "models/this-model-does-not-exist-12345 is not found" },
  // That host answers 400 to a wrong key; the caller's own key is fine all the same.
  { case: "ruby-llm.chat-error-handling-with-gemin", cause: "credentials", words: "Please pass a valid API key" },
  // The seconds are those of its RetryInfo; its text says 48.939935699.
  { case: "ruby-llm.chat-real-error-scenarios-gemi", cause: "rate-limit", words: "You exceeded your current quota", retryAfter: "48" },
  { case: "firebase-mock.unary-failure-iam-permission-denied", cause: "credentials", words: "test-project-id-1234" },
  { case: "ruby-llm.chat-error-handling-with-bedro", cause: "credentials", words: "security token" },
  { case: "ruby-llm.chat-real-error-scenarios-bedr", cause: "bad-request", words: "Number of input tokens exceeds maximum length", code: "context_length_exceeded" },
];

async function failureOf(client: ScriptedDialect, id: string, stream: boolean): Promise<SdkFailure> {
  try {
    await readThrough(client, id, stream);
  } catch (thrown) {
    return FAILURES[client](thrown);
  }
  throw new Error("the call succeeded");
}

describe.skipIf(!present)("choices 4: every recorded refusal in every protocol", () => {
  test("each of them is in the table above", () => {
    const unknown = refusals.filter(({ recording }) => !REFUSALS.some((one) => recording.case.startsWith(one.case)));
    expect(unknown.map(({ recording }) => recording.case)).toEqual([]);
    expect(refusals).toHaveLength(REFUSALS.length);
  });

  for (const client of SCRIPTED_DIALECTS) {
    test.each(byName(refusals))(`${client} ← %s`, async (_name, one) => {
      const cell = count(one, client);
      const refusal = REFUSALS.find(({ case: start }) => one.recording.case.startsWith(start));
      if (refusal === undefined) throw new Error("not in the table");
      const reported = EXPECTED[refusal.cause][client];
      const code = client === "chat" || client === "responses" ? (refusal.code ?? reported.code ?? null) : undefined;
      const failures = await Promise.all([false, true].map((stream) => failureOf(client, one.id, stream)));
      for (const [streamed, failure] of failures.entries()) {
        // R28: Responses reports this one inside the stream.
        const inside = client === "responses" && streamed === 1 && code === "context_length_exceeded";
        const { class: name, status } = inside ? { class: "APIError", status: undefined } : reported;
        expect(failure).toMatchObject({ class: name, status, type: reported.type });
        expect(failure.code).toBe(code);
        expect(failure.retryAfter).toBe(refusal.retryAfter);
        const helps = refusal.cause !== "credentials" && refusal.cause !== "overloaded";
        if (helps) expect(failure.message).toContain(refusal.words);
        else expect(failure.message).not.toContain(refusal.words);
      }
      cell.equal++;
    });
  }
});

test.skipIf(!present)("every recording is read, or excluded for a reason that still holds", () => {
  const names = Object.keys(LEFT_OUT).filter((start) => !leftOut.some(({ case: name }) => name.startsWith(start)));
  expect(names).toEqual([]);
  expect(answers.length + refusals.length + leftOut.length).toBe(hostedRecordings.length);
});
