import { describe, expect, test } from "bun:test";
import { ByteBuffer } from "../../src/base/byte-buffer.ts";
import { completionTokens, promptTokens } from "../../src/canon/usage.ts";
import type { NativeAnswerContext, Tap } from "../../src/dialects/dialect.ts";
import { quirksOf } from "../../src/dialects/quirks.ts";
import { EventSplitter, readFrames } from "../../src/wire/sse.ts";
import {
  bytesOf,
  DIALECT_OF,
  dialectOf,
  type Json,
  nameOf,
  object,
  present,
  type Recording,
  recordedTotals,
  recordings,
  textOf,
} from "../../testing/recordings.ts";

const streams = recordings.filter(
  ({ stream, status, response_file }) => stream && status === 200 && response_file.endsWith(".sse"),
);
/** The helper that recorded this case wrote two answers into one file. */
const TWO_ANSWERS = "cererebras-structured-output-tools-1";

const RECEIVED_AT_MS = 1_700_000_000_000;
let made = 0;
const context = (recording: Recording): NativeAnswerContext => ({
  publicModel: "public/model",
  request: { stream_options: { include_usage: true } },
  options: { bareFinishReason: true, arrayFraming: false },
  receivedAtMs: RECEIVED_AT_MS,
  nowSeconds: () => RECEIVED_AT_MS / 1000,
  makeId: () => `made${made++}`,
  costUsd: () => 0,
  quirks: quirksOf(dialectOf(recording).name),
});

function run(recording: Recording, bytes: Uint8Array, sizes: (at: number) => number): { text: string; tap: Tap } {
  made = 0;
  const tap = dialectOf(recording).native.createTap(context(recording));
  const splitter = new EventSplitter();
  const output = new ByteBuffer();
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + sizes(at));
    const events = splitter.pushBytes(bytes.slice(at, end));
    if (events.length > 0) tap.push(events, output);
    at = end;
  }
  tap.end(splitter.end(), output);
  return { text: output.view().toString(), tap };
}

/** The recorded events with the documented patches of choices 3 made by hand: what a client must get. */
function expectedEvents(recording: Recording): unknown[] {
  const dialect = DIALECT_OF[recording.dialect];
  const events: unknown[] = [];
  const counted: Json = {};
  for (const { data } of readFrames(textOf(recording))) {
    if (data === undefined) continue;
    if (data === "[DONE]") {
      events.push("[DONE]");
      break;
    }
    const event = JSON.parse(data) as Json;
    if (event["error"] || event["type"] === "error") break;
    if (dialect === "chat") event["model"] = "public/model";
    if (dialect === "genai") stamp(event, (events[0] as Json | undefined)?.["responseId"] ?? "made0");
    if (event["type"] === "message_start") {
      object(event["message"])["model"] = "public/model";
      Object.assign(counted, object(event["message"])["usage"]);
      object(object(event["message"])["usage"])["output_tokens"] = 0;
    }
    if (event["type"] === "message_delta") {
      const reported = object(event["usage"]);
      event["usage"] = { ...reported, ...uncounted({ ...counted, ...reported }) };
      object(event["delta"])["usage"] = event["usage"];
    }
    events.push(event);
    if (event["type"] === "message_stop") break;
  }
  return events;
}

/** Contract 2.7: what every response and chunk states about itself, and the contract's name of citations. */
function stamp(answer: Json, id: unknown): Json {
  answer["createTime"] ??= new Date(RECEIVED_AT_MS).toISOString();
  answer["responseId"] ??= id;
  for (const candidate of (answer["candidates"] as Json[] | undefined) ?? []) {
    const cited = candidate["citationMetadata"] as Json | undefined;
    if (cited?.["citationSources"]) cited["citations"] ??= cited["citationSources"];
  }
  return answer;
}

/** Contract 2.11: the counters that a host leaves out. */
function uncounted(usage: Json): Json {
  const written = Number(usage["cache_creation_input_tokens"] ?? 0);
  const none: Json = {
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: "standard",
  };
  const missing = Object.fromEntries(Object.entries(none).filter(([key]) => (usage[key] ?? null) === null));
  const served = usage["server_tool_use"] as Json | null | undefined;
  return served ? { ...missing, server_tool_use: { ...(none["server_tool_use"] as Json), ...served } } : missing;
}

/** A host's text and thoughts as parts of one content, for which the contract has separate fields. */
function splitContent(parts: readonly Json[]): { text: string; thought: string } {
  const textOf = (part: Json) => String(part["text"] ?? "");
  const thoughtOf = (part: Json) => ((part["thinking"] as Json[] | undefined) ?? []).map(textOf).join("");
  return { text: parts.map(textOf).join(""), thought: parts.map(thoughtOf).join("") };
}

/** What the tap adds to chat chunks if a host falls short of the protocol, removed again for the comparison. */
function withoutRepairs(event: unknown): unknown {
  if (typeof event !== "object" || event === null || !("choices" in event)) return event;
  const copy = structuredClone(event) as Json & { choices: Json[] };
  for (const choice of copy.choices) {
    const delta = object(choice["delta"]);
    const inContent = Array.isArray(delta["content"]) ? splitContent(delta["content"] as Json[]) : undefined;
    if (inContent) delta["content"] = inContent.text;
    const reasoning = inContent?.thought || (delta["reasoning_content"] ?? delta["reasoning"]);
    delete delta["reasoning"];
    delete delta["reasoning_content"];
    if (reasoning) delta["thought"] = reasoning;
    for (const call of (delta["tool_calls"] as Json[] | undefined) ?? []) {
      for (const key of ["index", "id", "type"]) delete call[key];
      const { name: _name, ...fragment } = object(call["function"]);
      call["function"] = fragment;
    }
    if (choice["finish_reason"] === "eos") choice["finish_reason"] = "stop";
  }
  if (!copy["id"]) delete copy["id"];
  if (!copy["object"]) delete copy["object"];
  return copy;
}

const eventsIn = (text: string) =>
  readFrames(text).flatMap(({ data }) =>
    data === undefined ? [] : [data === "[DONE]" ? data : (JSON.parse(data) as unknown)],
  );

function totalsOf(usage: Tap["usage"]): ReturnType<typeof recordedTotals> {
  if (!usage) return undefined;
  return { input: promptTokens(usage), output: completionTokens(usage), cached: usage.cacheRead ?? 0 };
}

describe.skipIf(!present)("recorded streams through the native lane", () => {
  const ofOneAnswer = streams.filter((recording) => !recording.case.includes(TWO_ANSWERS));
  test.each(ofOneAnswer.map((recording) => [nameOf(recording), recording] as const))(
    "%s: the same events, patched as documented",
    (_name, recording) => {
      const { text, tap } = run(recording, bytesOf(recording), () => 1 << 20);
      const failed = recording.features.includes("mid-stream-error");
      expect(tap.failure !== undefined).toBe(failed);
      expect(tap.state === "open").toBe(failed);
      const expected = expectedEvents(recording);
      const closing = expected.at(-1) === "[DONE]" || recording.dialect !== "openai-chat" || failed ? [] : ["[DONE]"];
      expect(eventsIn(text).map(withoutRepairs)).toEqual([...expected, ...closing].map(withoutRepairs));
      if (!failed) expect(totalsOf(tap.usage)).toEqual(recordedTotals(recording));
    },
  );

  test.each(streams.map((recording) => [nameOf(recording), recording] as const))(
    "H07: %s: any cut into reads gives the same text",
    (_name, recording) => {
      const bytes = bytesOf(recording);
      made = 0;
      const whole = run(recording, bytes, () => 1 << 20);
      for (const size of bytes.length <= 60_000 ? [1, 2, 3, 7, 61] : [997]) {
        made = 0;
        const inChunks = run(recording, bytes, () => size);
        expect(inChunks.text).toBe(whole.text);
        expect(inChunks.tap.usage).toEqual(whole.tap.usage);
        expect(inChunks.tap.stop).toEqual(whole.tap.stop);
      }
    },
  );

  test("H16: a small stream cut at every byte before its end is open, failed, or complete, and never invents text", () => {
    const small = streams.filter(
      (recording) => bytesOf(recording).length <= 6000 && !recording.features.includes("mid-stream-error"),
    );
    expect(small.length).toBeGreaterThan(10);
    for (const recording of small) {
      const bytes = bytesOf(recording);
      const whole = run(recording, bytes, () => 1 << 20);
      const firstEnd = finishOffset(recording, bytes);
      const said = (stream: string) => stream.replaceAll(/[\r\n]+|data: \[DONE\]/g, "\n");
      const saidInAll = said(whole.text);
      for (let cut = 0; cut < bytes.length; cut++) {
        const { text, tap } = run(recording, bytes.slice(0, cut), () => 1 << 20);
        if (cut < firstEnd) expect(tap.state === "open" || tap.failure !== undefined).toBe(true);
        expect(saidInAll).toStartWith(said(text).trimEnd());
      }
    }
  });
});

/** The offset of the event with the stop reason: a stream cut before it is certainly unfinished. */
function finishOffset(recording: Recording, bytes: Uint8Array): number {
  const mark = { chat: /"finish_reason":\s*"/, messages: /message_stop/, genai: /"finishReason"|"blockReason"/ }[
    DIALECT_OF[recording.dialect] ?? "chat"
  ];
  let at = 0;
  for (const frame of readFrames(new TextDecoder().decode(bytes))) {
    if (mark.test(frame.raw)) return at;
    at += new TextEncoder().encode(frame.raw).length;
  }
  return at;
}

describe.skipIf(!present)("recorded non-streamed responses and errors", () => {
  const whole = recordings.filter(({ stream, status }) => !stream && status === 200);
  test.each(whole.map((recording) => [nameOf(recording), recording] as const))(
    "%s: patched as documented, usage as recorded",
    (_name, recording) => {
      const text = textOf(recording);
      const body = JSON.parse(text) as Json;
      const answer = dialectOf(recording).native.patchAnswer(text, body, context(recording));
      const patched = JSON.parse(answer.text) as Json;
      if (recording.dialect !== "gemini-generate") {
        expect(patched["model"]).toBe("public/model");
        patched["model"] = body["model"];
      } else stamp(body, patched["responseId"]);
      if (recording.dialect === "anthropic-messages") {
        body["usage"] = { ...object(body["usage"]), ...uncounted(object(body["usage"])) };
      }
      if (recording.dialect === "openai-chat") countOnce(object(body["usage"]));
      expect(stripReasoning(patched)).toEqual(stripReasoning(body));
      expect(totalsOf(answer.usage)).toEqual(recordedTotals(recording));
      expect(answer.stop).toBeDefined();
    },
  );

  /** What was written to a cache was not read from it as well. */
  function countOnce({ prompt_tokens: prompt, prompt_tokens_details: details }: Json): void {
    const { cached_tokens: read = 0, cache_write_tokens: written = 0 } = object(details) as Record<string, number>;
    if (written > 0 && read + written > Number(prompt)) object(details)["cached_tokens"] = Number(prompt) - written;
  }

  /** Reasoning under both names, and ids for calls without one: what a chat response may gain. */
  function stripReasoning(answer: Json): Json {
    const copy = structuredClone(answer);
    for (const choice of (copy["choices"] as Json[] | undefined) ?? []) {
      const message = object(choice["message"]);
      delete message["reasoning"];
      delete message["reasoning_content"];
      for (const call of (message["tool_calls"] as Json[] | undefined) ?? []) delete call["id"];
    }
    return copy;
  }

  const KINDS: Readonly<Record<string, string>> = {
    "openai-chat 400": "invalid_request",
    "openai-chat 401": "upstream_credentials",
    "openai-chat 404": "not_found",
    "openai-chat 429": "rate_limited",
    "anthropic-messages 400": "invalid_request",
    "anthropic-messages 401": "upstream_credentials",
    "anthropic-messages 404": "not_found",
    "anthropic-messages 529": "overloaded",
    "gemini-generate 403": "upstream_credentials",
    "gemini-generate 404": "not_found",
    "gemini-generate 429": "rate_limited",
  };
  const errors = recordings.filter(({ status }) => status >= 400);
  test.each(errors.map((recording) => [nameOf(recording), recording] as const))(
    "choices 4: %s arrives as the right kind",
    (name, recording) => {
      const error = dialectOf(recording).codec.decodeError({ status: recording.status, body: textOf(recording) });
      const wrongKey = recording.dialect === "gemini-generate" && recording.status === 400;
      expect(error.kind).toBe(
        (wrongKey ? "upstream_credentials" : (KINDS[`${recording.dialect} ${recording.status}`] ?? name)) as never,
      );
      expect(error.message.length).toBeGreaterThan(10);
    },
  );
});
