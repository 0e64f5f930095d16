import type { DialectName } from "../src/canon/dialect-name.ts";
import { wire } from "./upstream-wire.ts";
import { interactionsAnswer, interactionsUsage, interactionsWire, outputStep } from "./wires/interactions-wire.ts";
import { ResponsesScript, responsesAnswer, responsesUsage } from "./wires/responses-wire.ts";

/** So many tokens, as an upstream of the dialect reports them. */
export function plainUsage(dialect: DialectName, input: number, output: number): object {
  return {
    chat: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    messages: { input_tokens: input, output_tokens: output },
    genai: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
    responses: responsesUsage(input, output),
    interactions: interactionsUsage(input, output),
  }[dialect];
}

const STOPS: Readonly<Record<DialectName, string>> = {
  chat: "stop",
  messages: "end_turn",
  genai: "STOP",
  responses: "completed",
  interactions: "completed",
};

interface PlainAnswer {
  text: string;
  usage: object;
  /** The proper end of an answer where absent. */
  stop?: string;
  model?: string;
}

/** A non-streamed answer of an upstream, with a text and nothing else. */
export function plainAnswer(
  dialect: DialectName,
  { text, usage, stop = STOPS[dialect], model = "upstream-model" }: PlainAnswer,
): object {
  return {
    chat: {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model,
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: stop }],
      usage,
    },
    messages: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model,
      content: [{ type: "text", text }],
      stop_reason: stop,
      stop_sequence: null,
      usage,
    },
    genai: {
      candidates: [{ content: { role: "model", parts: [{ text }] }, finishReason: stop, index: 0 }],
      usageMetadata: usage,
      modelVersion: model,
    },
    responses: { ...responsesAnswer(text, usage), model, status: stop },
    interactions: interactionsAnswer([outputStep(text)], { usage, status: stop, model }),
  }[dialect];
}

function responsesStream(first: string, second: string, usage: object): string {
  const script = new ResponsesScript();
  return [script.begin(), script.delta(first), script.delta(second), script.close(), script.completed(usage)].join("");
}

/** The same streamed, in two chunks. */
export function plainStream(dialect: DialectName, [first, second]: readonly [string, string], usage: object): string {
  return {
    chat: [
      wire.chatChunk({ content: first }),
      wire.chatChunk({ content: second }),
      wire.chatChunk({}, "stop"),
      wire.chatUsage(usage),
      wire.done,
    ].join(""),
    messages: wire.messageStart() + wire.textBlock(first, second) + wire.messageEnd(usage),
    genai:
      wire.genaiChunk(first, undefined, {}) +
      wire.genaiChunk(second, undefined, {}) +
      wire.genaiChunk("", "STOP", usage),
    responses: responsesStream(first, second, usage),
    interactions:
      interactionsWire.begin() + interactionsWire.text(0, first, second) + interactionsWire.completed({ usage }),
  }[dialect];
}
