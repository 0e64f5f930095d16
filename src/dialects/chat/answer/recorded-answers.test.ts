import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { fold } from "../../../canon/fold.ts";
import type { CanonReply } from "../../../canon/reply.ts";
import { promptTokens } from "../../../canon/usage.ts";
import { chatCodec } from "../codec.ts";
import { decodeBytes, decodeContext, decodeText, encodeContext, encodeEvents } from "../contexts.sample.ts";
import { chatRecordings, readRecordedJson, readRecording, recordingsPresent } from "../recordings.sample.ts";

/** The fields that all recorded answers share. */
interface RecordedBody {
  choices?: { index: number; delta?: RecordedMessage; message?: RecordedMessage; finish_reason?: string | null }[];
  usage?: RecordedUsage | null;
}

interface RecordedUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number; cache_write_tokens?: number } | null;
}

/** H38: some hosts report fewer prompt tokens than they read from a cache and wrote to it. */
function promptOf(usage: RecordedUsage | null | undefined): number {
  const { cached_tokens = 0, cache_write_tokens = 0 } = usage?.prompt_tokens_details ?? {};
  const prompt = usage?.prompt_tokens ?? 0;
  // A host that counts what it wrote to its cache as read too has no longer prompt.
  const isTwice = cache_write_tokens > 0 && Math.max(cached_tokens, cache_write_tokens) <= prompt;
  return isTwice ? prompt : Math.max(prompt, cached_tokens + cache_write_tokens);
}

interface RecordedMessage {
  content?: string | { type: string; text: string; thinking?: { text: string }[] }[] | null;
  refusal?: string | null;
  reasoning?: string | null;
  reasoning_content?: string | null;
  reasoning_details?: { summary?: string }[];
  tool_calls?: RecordedCall[] | null;
  function_call?: RecordedCall["function"];
}

interface RecordedCall {
  function: { name?: string; arguments?: string };
}

interface Reading {
  text: string;
  reasoning: string;
  calls: { name: string; input: string }[];
  finish: string;
  prompt: number;
  generated: number;
}

/** Reads the same answer without the code under test, by lines and field names. */
function readIndependently(text: string): Reading {
  const reading: Reading = { text: "", reasoning: "", calls: [], finish: "", prompt: 0, generated: 0 };
  for (const line of text.split(/\r?\n/)) {
    if (!line.startsWith("data: {")) continue;
    const data = JSON.parse(line.slice(6)) as RecordedBody;
    const choice = data.choices?.find((one) => one.index === 0);
    const delta = choice?.delta ?? {};
    reading.reasoning += delta.reasoning_content ?? delta.reasoning ?? "";
    if (typeof delta.content === "string") reading.text += delta.content;
    for (const part of Array.isArray(delta.content) ? delta.content : []) {
      if (part.type === "text") reading.text += part.text;
      for (const chunk of part.thinking ?? []) reading.reasoning += chunk.text;
    }
    if (delta.refusal) reading.text += delta.refusal;
    for (const call of [
      ...(delta.tool_calls ?? []),
      ...(delta.function_call ? [{ function: delta.function_call }] : []),
    ]) {
      if (call.function.name) {
        reading.calls.push({ name: call.function.name, input: "" });
      }
      const last = reading.calls.at(-1);
      if (last) last.input += call.function.arguments ?? "";
    }
    if (choice?.finish_reason) reading.finish = choice.finish_reason;
    if (data.usage) {
      reading.prompt = data.usage.prompt_tokens;
      reading.generated = Math.max(data.usage.completion_tokens, data.usage.total_tokens - data.usage.prompt_tokens);
    }
  }
  return reading;
}

function readReply({ parts, stop, usage = {} }: CanonReply): Reading {
  const textOf = (...types: string[]) =>
    parts.map((part) => (types.includes(part.type) && "text" in part ? part.text : "")).join("");
  return {
    text: textOf("text", "refusal"),
    reasoning: textOf("reasoning"),
    calls: parts.flatMap((part) => (part.type === "tool-call" ? [{ name: part.name, input: part.input }] : [])),
    finish: stop.raw,
    prompt: promptTokens(usage),
    generated: (usage.output ?? 0) + (usage.reasoning ?? 0),
  };
}

/** Law 4. */
function expectBalanced(events: readonly CanonEvent[]): void {
  const open = new Set<number>();
  const begun = new Set<number>();
  for (const event of events) {
    if (event.type.endsWith("-start") && "block" in event) {
      expect(begun.has(event.block)).toBe(false);
      begun.add(event.block);
      open.add(event.block);
    } else if (event.type.endsWith("-end") && "block" in event) expect(open.delete(event.block)).toBe(true);
    else if ("block" in event && event.type !== "whole") expect(open.has(event.block)).toBe(true);
  }
  const ends = events.filter(({ type }) => type === "finish" || type === "error");
  expect(ends).toHaveLength(1);
  expect(events.at(-1)).toBe(ends[0] as CanonEvent);
  if (ends[0]?.type === "finish") expect(open.size).toBe(0);
}

/** The answer as far as this protocol can express it. */
function asReported(reply: CanonReply): CanonReply {
  const { stop, parts, logprobs, ...rest } = reply;
  const unified = stop.unified === "other" || stop.unified === "pause" ? "stop" : stop.unified;
  // Counters that a host does not report are sent as 0 (choices 5).
  const usage = rest.usage && { cacheRead: 0, reasoning: 0, ...rest.usage };
  return { ...rest, ...(usage ? { usage } : {}), ...(logprobs ? { logprobs } : {}), parts, stop: { unified, raw: "" } };
}

const withoutRaw = (reply: CanonReply): CanonReply => ({ ...reply, stop: { ...reply.stop, raw: "" } });

const streams = chatRecordings.filter(({ stream, status }) => stream && status === 200);
const failing = streams.filter(({ response_file }) => /error/.test(response_file));
const answering = streams.filter((recording) => !failing.includes(recording));

describe.skipIf(!recordingsPresent)("recorded streams", () => {
  const named = answering.map(({ response_file }) => [response_file, readRecording(response_file)] as const);

  test("as many recordings exist as the index lists", () => {
    expect(chatRecordings).toHaveLength(47);
    expect(named).toHaveLength(23);
  });

  test.each(named)("the fold matches the recorded bytes: %s", (_name, bytes) => {
    const events = decodeBytes([bytes]);
    expectBalanced(events);
    expect(readReply(fold(events))).toEqual(readIndependently(bytes.toString()));
  });

  test.each(named)("law 3: encoded for a client and decoded again, it is the same answer: %s", (_name, bytes) => {
    const events = decodeBytes([bytes]);
    const written = encodeEvents(events);
    expect(written.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(withoutRaw(fold(decodeText(written)))).toEqual(asReported(fold(events)));
  });

  test.each(named)("law 6: chunks of any size give the same events: %s", (_name, bytes) => {
    const whole = decodeBytes([bytes]);
    for (const size of [1, 7, 64, 1021]) {
      if (bytes.length / size > 40_000) continue;
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      expect(decodeBytes(chunks)).toEqual(whole);
    }
  });

  test.each(named)("law 7, H16: a cut before the finish reason is an error: %s", (_name, bytes) => {
    const finish = bytes.toString("latin1").search(/"finish_reason":\s*"/);
    const endOfFinish = bytes.indexOf("\n\n", finish);
    const step = Math.max(1, Math.floor(endOfFinish / 150));
    for (let cut = 0; cut < endOfFinish - 1; cut += step) {
      const events = decodeBytes([bytes.subarray(0, cut)]);
      expectBalanced(events);
      expect(events.at(-1)?.type).toBe("error");
    }
    expect(decodeBytes([bytes.subarray(0, endOfFinish)]).at(-1)?.type).toBe("finish");
  });

  test.each(failing.map(({ response_file }) => [response_file]))("H16: an error chunk ends the stream: %s", (file) => {
    const events = decodeBytes([readRecording(file)]);
    expectBalanced(events);
    expect(events.at(-1)).toMatchObject({ type: "error", error: expect.any(GatewayError) });
  });
});

describe.skipIf(!recordingsPresent)("recorded answers in one piece", () => {
  const unary = chatRecordings.filter(({ stream, status }) => !stream && status === 200);

  test.each(unary.map(({ response_file }) => [response_file]))("%s", (file) => {
    const body = readRecordedJson(file);
    const reply = chatCodec.decodeResponse(body, decodeContext());
    const { choices = [], usage } = body as RecordedBody;
    const { message = {}, finish_reason } = choices[0] ?? {};
    const details = message.reasoning_details ?? [];
    expect(readReply(reply)).toMatchObject({
      text: String(message.content ?? message.refusal ?? ""),
      reasoning: message.reasoning_content ?? details.map(({ summary = "" }) => summary).join(""),
      finish: finish_reason ?? "",
      prompt: promptOf(usage),
    });
    expect(readReply(reply).calls).toHaveLength(message.tool_calls?.length ?? 0);
    const again = JSON.parse(chatCodec.encodeResponse(reply, encodeContext()));
    expect(withoutRaw(chatCodec.decodeResponse(again, decodeContext()))).toEqual(asReported(reply));
  });

  const errors = chatRecordings.filter(({ status }) => status !== 200);
  test.each(errors.map(({ response_file, status }) => [response_file, status] as const))(
    "an error body is an error under any status: %s",
    (file, status) => {
      expect(() => chatCodec.decodeResponse(readRecordedJson(file), decodeContext())).toThrow(GatewayError);
      const failure = { status, body: readRecording(file).toString() };
      expect(chatCodec.decodeError(failure)).toBeInstanceOf(GatewayError);
    },
  );
});
