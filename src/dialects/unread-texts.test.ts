import { describe, expect, test } from "bun:test";
import { everyRecording, textOf } from "../../testing/recordings.ts";
import { isObject, type JsonObject, parseObject } from "../base/json.ts";
import { GatewayError } from "../canon/error.ts";
import { UnreadTexts } from "../wire/unread-texts.ts";
import type { NativeAnswerContext } from "./dialect.ts";
import { DIALECTS } from "./index.ts";
import { DEFAULT_QUIRKS } from "./quirks.ts";

const RECORDED_AS = {
  chat: "openai-chat",
  messages: "anthropic-messages",
  genai: "gemini-generate",
  responses: "openai-responses",
} as const;
type Name = keyof typeof RECORDED_AS;

const LONG = 'Prüfe "alles"\n\\ – "model": "x", 構成 🙂 \u0007 '.repeat(40);

const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
const SAMPLES: Readonly<Record<Name, readonly JsonObject[]>> = {
  chat: [
    {
      id: "a",
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "eos" }],
      usage,
    },
    { model: "m", choices: [{ message: { content: "", reasoning: LONG, tool_calls: [{ function: { name: "f" } }] } }] },
    { model: "m", choices: [{ message: { content: [{ type: "text", text: LONG }] } }], usage },
    { choices: [], error: { message: "slow down" }, content: "" },
  ],
  messages: [
    {
      model: "m",
      content: [{ type: "text", text: "" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 1, output_tokens: 2 },
    },
    { id: "a", content: [{ type: "text", text: "" }], usage: { input_tokens: 1 } },
    { type: "error", error: { type: "overloaded_error", message: "busy" }, text: "" },
  ],
  genai: [
    {
      candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 3 },
    },
    { candidates: [{ content: { parts: [{ text: "", thought: true }, { text: "" }] }, finishReason: "" }] },
    { promptFeedback: { blockReason: "SAFETY" }, text: "" },
  ],
  responses: [
    {
      id: "a",
      status: "completed",
      model: "m",
      tools: [{ type: "function", name: "f", text: "" }],
      output: [{ type: "message", content: [{ type: "output_text", text: "" }] }],
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    },
    {
      status: "incomplete",
      model: "m",
      output: [
        { type: "message", content: [{ text: "" }, { text: "" }] },
        { type: "function_call", name: "f" },
      ],
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    },
    { model: "m", output: [{ type: "message", content: [{ type: "output_text", text: "" }] }] },
    { status: "failed", error: { code: "server_error", message: "no" }, output: [], text: "" },
  ],
};

/** With long texts in all members of these names. */
function lengthened(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => lengthened(one, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      names.has(name) && typeof inner === "string" ? inner + LONG : lengthened(inner, names),
    ]),
  );
}

const contextOf = (name: Name, request: JsonObject): NativeAnswerContext => ({
  publicModel: "acme/modèle",
  request,
  options: {},
  makeId: () => "made",
  receivedAtMs: 1_700_000_000_000,
  nowSeconds: () => 1,
  costUsd: () => 0.5,
  quirks: DEFAULT_QUIRKS[name],
});

/** Editing may put what it adds before or behind a space. */
const withoutSpaces = (json: string): string => json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");

function outcome(read: () => { text: string; usage: unknown; stop: unknown }): unknown {
  try {
    const { text, usage, stop } = read();
    return { text: withoutSpaces(text), usage, stop };
  } catch (error) {
    if (error instanceof GatewayError) return { kind: error.kind, message: error.message };
    throw error;
  }
}

function readWhole(name: Name, text: string, request: JsonObject): unknown {
  const body = parseObject(text);
  return body && outcome(() => DIALECTS[name].native.patchAnswer(text, body, contextOf(name, request)));
}

/** Undefined where the whole is to be read. */
function readRest(name: Name, text: string, request: JsonObject): { outcome: unknown } | undefined {
  const { patchAnswer, unreadTexts } = DIALECTS[name].native;
  const texts = unreadTexts && UnreadTexts.of(Buffer.from(text), unreadTexts.members);
  if (texts === undefined) return undefined;
  const body = parseObject(texts.rest);
  if (body === undefined) return { outcome: undefined };
  if (!unreadTexts?.isCounted(body)) return undefined;
  let isWhole = true;
  const read = outcome(() => {
    const answer = patchAnswer(texts.rest, body, contextOf(name, request));
    const sent = texts.putBack(answer.text);
    isWhole = sent !== undefined;
    return { ...answer, text: sent?.toString() ?? "" };
  });
  return isWhole ? { outcome: read } : undefined;
}

const REQUESTS: readonly JsonObject[] = [
  {},
  { usage: { include: true }, reasoning: { exclude: true }, store: false, instructions: "\ud800" },
];

describe.each(Object.keys(RECORDED_AS) as Name[])("%s", (name) => {
  const members = DIALECTS[name].native.unreadTexts?.members ?? new Set<string>();
  const recorded = everyRecording.filter(
    ({ dialect, stream, status }) => dialect === RECORDED_AS[name] && !stream && status === 200,
  );
  const bodies = [...SAMPLES[name], ...recorded.map((one) => parseObject(textOf(one)) ?? {})].map((body) =>
    lengthened(body, members),
  );

  test("a response with its long texts set aside is read and patched as a whole one", () => {
    let read = 0;
    for (const body of bodies) {
      for (const text of [JSON.stringify(body), JSON.stringify(body, null, 2)]) {
        for (const request of REQUESTS) {
          const rest = readRest(name, text, request);
          if (rest === undefined) continue;
          read++;
          expect(rest.outcome).toEqual(readWhole(name, text, request));
        }
      }
    }
    expect(read).toBeGreaterThan(3);
  });

  test("so is a damaged one", () => {
    let state = 11;
    const random = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state % below;
    };
    const pieces = ["", '"', "\\", "{", "}", ",", "null", "\n", '"model":"y",', '"id":"z",', "[", "]", "\\u006d"];
    let read = 0;
    for (let run = 0; run < 600; run++) {
      const text = JSON.stringify(bodies[random(bodies.length)]);
      // Most of a response is its texts: the places that matter are near a name.
      const names = [...text.matchAll(/"[a-zA-Z_]+":/g)];
      const at = (names[random(names.length)]?.index ?? 0) + random(4);
      const damaged = (text.slice(0, at) + pieces[random(pieces.length)] + text.slice(at + random(3))).toWellFormed();
      const rest = readRest(name, damaged, {});
      if (rest === undefined) continue;
      read++;
      expect(rest.outcome).toEqual(readWhole(name, damaged, {}));
    }
    expect(read).toBeGreaterThan(50);
  });
});
