import { describe, expect, test } from "bun:test";
import { bytesOf, nameOf, present, textOf } from "../../../../testing/recordings.ts";
import { ByteBuffer } from "../../../base/byte-buffer.ts";
import { isObject, type JsonObject, parseObject } from "../../../base/json.ts";
import { EventSplitter, readFrames } from "../../../wire/sse.ts";
import type { NativeAnswerContext } from "../../dialect.ts";
import { patchAnswer } from "../native.ts";
import { DEFAULT_RESPONSES_QUIRKS } from "../quirks.ts";
import { recordedAnswers } from "../recordings.sample.ts";
import { ResponsesTap } from "./tap.ts";

const PUBLIC = "acme/public";

interface Kept {
  context: NativeAnswerContext;
  answers: JsonObject[];
}

function context(request: JsonObject = {}): Kept {
  const answers: JsonObject[] = [];
  return {
    answers,
    context: {
      publicModel: PUBLIC,
      request,
      options: undefined,
      makeId: () => "made",
      receivedAtMs: 0,
      nowSeconds: () => 9,
      costUsd: () => 0,
      quirks: DEFAULT_RESPONSES_QUIRKS,
      keep: (answer) => answers.push(answer),
    },
  };
}

function tapped(bytes: Uint8Array, chunk: number, { context: answerContext }: Kept) {
  const tap = new ResponsesTap(answerContext);
  const output = new ByteBuffer();
  const splitter = new EventSplitter();
  for (let at = 0; at < bytes.length; at += chunk) {
    const events = splitter.pushBytes(bytes.subarray(at, at + chunk));
    if (events.length > 0) tap.push(events, output);
  }
  if (tap.state !== "ended" && !tap.failure) tap.end(splitter.end(), output);
  return { tap, text: output.view().toString("utf8") };
}

const eventsOf = (text: string): JsonObject[] =>
  readFrames(text).flatMap(({ data }): JsonObject[] => {
    const event = parseObject(data ?? "");
    return event === undefined ? [] : [event];
  });

const streams = recordedAnswers.filter(({ stream, features }) => stream && !features.includes("mid-stream-error"));
const wholes = recordedAnswers.filter(({ stream }) => !stream);

/** Applies the gateway's own changes; the rest of an event stays as received. `as`: the recorded event, whose members are compared. */
function asTheClientGets(event: JsonObject, as: JsonObject | undefined = event): JsonObject {
  const { response, sequence_number: _number, ...rest } = event;
  const { name: _name, ...unnamed } = rest;
  const kept = event["type"] === "response.function_call_arguments.done" ? unnamed : rest;
  return isObject(response) ? { ...kept, response: withoutPatched(response, as["response"]) } : kept;
}

const PATCHED: ReadonlySet<string> = new Set(["model", "store", "previous_response_id", "usage", "output"]);
const NUMBERS: ReadonlySet<string> = new Set(["temperature", "top_p"]);

/** Members that the host left out are added by the gateway, and so are null numbers. */
function withoutPatched(response: JsonObject, recorded: unknown = response): JsonObject {
  const known = isObject(recorded) ? recorded : {};
  const isOpen = (key: string) => known[key] === undefined || (known[key] === null && NUMBERS.has(key));
  return Object.fromEntries(Object.entries(response).filter(([key]) => !PATCHED.has(key) && !isOpen(key)));
}

describe.skipIf(!present)("recorded native answers", () => {
  test("include some of each kind", () => {
    expect(streams.length).toBeGreaterThan(40);
    expect(wholes.length).toBeGreaterThan(40);
  });

  test.each(streams.map((one) => [nameOf(one), one] as const))(
    "R20: a stream passes as received, numbered without gaps: %s",
    (_name, recording) => {
      const bytes = bytesOf(recording);
      const kept = context();
      const { tap, text } = tapped(bytes, bytes.length, kept);
      expect(tapped(bytes, 7, context()).text).toBe(text);
      expect([tap.state, tap.failure]).toEqual(["ended", undefined]);
      const events = eventsOf(text);
      const recorded = eventsOf(textOf(recording)).filter(({ type }) => String(type).startsWith("response."));
      expect(events.map((event, at) => asTheClientGets(event, recorded[at]))).toEqual(
        recorded.map((event) => asTheClientGets(event)),
      );
      expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
      for (const { response } of events) if (isObject(response)) expect(response["model"]).toBe(PUBLIC);
      for (const { event, data } of readFrames(text)) if (data) expect(parseObject(data)?.["type"]).toBe(event);
      // R2: the last event has all items, and its usage is the one that is billed.
      const last = events.at(-1)?.["response"] as JsonObject;
      const done = recorded.filter(({ type }) => type === "response.output_item.done");
      expect((last["output"] as unknown[]).length).toBe(done.length);
      expect(kept.answers).toEqual([last]);
      expect(tap.usage?.output).toBeNumber();
      expect(tap.stop).toBeDefined();
    },
  );

  test.each(wholes.map((one) => [nameOf(one), one] as const))(
    "a whole answer passes as received: %s",
    (_name, recording) => {
      const text = textOf(recording);
      const body = JSON.parse(text) as JsonObject;
      const kept = context({ previous_response_id: "resp_before" });
      const answer = patchAnswer(text, body, kept.context);
      const got = JSON.parse(answer.text) as JsonObject;
      expect(withoutPatched(got, body)).toEqual(withoutPatched(body));
      expect(got["output"]).toEqual(body["output"]);
      expect([got["model"], got["store"], got["previous_response_id"]]).toEqual([PUBLIC, true, "resp_before"]);
      expect(kept.answers).toEqual([got]);
      expect(answer.usage).toBeDefined();
    },
  );
});
