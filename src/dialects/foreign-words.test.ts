import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../base/json.ts";
import { decodeErrorObject } from "./answer/error-object.ts";
import { decodeException } from "./answer/framed-exception.ts";
import * as chatStops from "./chat/answer/stop-reason.ts";
import { decodeMedia } from "./chat/media.ts";
import { withExtras } from "./chat/part-fields.ts";
import * as converseStops from "./converse/stop-reason.ts";
import * as genaiStops from "./genai/answer/stop-reason.ts";
import * as genaiMedia from "./genai/media.ts";
import { decodeThinking } from "./genai/request/reasoning.ts";
import * as messagesErrors from "./messages/answer/errors.ts";
import * as messagesStops from "./messages/answer/stop-reason.ts";
import { decodeCitation } from "./messages/citations.ts";
import { CLIENT_SOURCE } from "./messages/opaque-values.ts";

/** Every JavaScript object has members with these names. No table may mistake one for its own. */
const WORDS = ["constructor", "__proto__", "toString", "hasOwnProperty"];

describe.each(WORDS)("H16, H21: %s is treated like any other unknown word", (word) => {
  test("as the reason why an answer stopped", () => {
    for (const { decodeStop } of [chatStops, messagesStops, genaiStops, converseStops]) {
      expect(decodeStop(word)).toEqual({ unified: "other", raw: word });
    }
    expect(chatStops.contractFinishReason(word)).toBe(word);
    expect(chatStops.decodeStopSequence("stop", word)).toEqual({ stopSequence: word });
    expect(genaiStops.encodeStop({ unified: "other", raw: word }, true)).toBe("OTHER");
    expect(messagesStops.encodeStop({ unified: "other", raw: word })).toBe("end_turn");
  });

  test("as the code or type of a host's error", () => {
    const error = { message: "no", code: word, type: word };
    expect(decodeErrorObject({ error }, 503).kind).toBe(decodeErrorObject({}, 503).kind);
    expect(messagesErrors.decodeErrorObject({ error: { type: word } }).message).not.toContain("function");
    expect(decodeException({ type: word }).message).toBe(decodeException({ type: "x" }).message);
  });

  test("as the type of a part, a citation or a media item", () => {
    expect(decodeMedia({ type: word })).toBeUndefined();
    expect(decodeMedia(JSON.parse(`{"type":"${word}","${word}":{"url":"x"}}`))).toBeUndefined();
    expect(decodeCitation({ type: word }, CLIENT_SOURCE)).toBeUndefined();
    expect(genaiMedia.guessMimeType(`https://example.org/a.${word}`)).toBeUndefined();
    expect(decodeThinking({ thinkingLevel: word })).toEqual({ rest: { thinkingLevel: word } });
    const sound = decodeMedia({ type: "input_audio", input_audio: { data: "AAAA", format: word } });
    expect(sound?.source).toEqual({ type: "data", mimeType: `audio/${word}`, data: "AAAA" });
  });

  test("as the name of a field that is sent back to its origin (H09)", () => {
    const extras = JSON.parse(`{"${word}":{"a":1}}`) as JsonObject;
    expect(JSON.stringify(withExtras({ type: "text" }, extras))).toBe(`{"type":"text","${word}":{"a":1}}`);
  });
});
