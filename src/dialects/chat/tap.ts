import { GatewayError } from "../../canon/error.ts";
import { arrayAt, isObject, type JsonObject, objectAt, parseObject, stringAt } from "../../canon/json.ts";
import { changeValue, findValue, ObjectEdit } from "../../wire/json-text.ts";
import type { SseFrame } from "../../wire/sse.ts";
import type { NativeAnswerContext } from "../dialect.ts";
import { TapBase } from "../tap-base.ts";
import { decodeErrorObject } from "./errors.ts";
import { hidesReasoning, mirrorReasoning, wantsCost, wantsUsage } from "./native.ts";
import { contractFinishReason, decodeStop } from "./stop-reason.ts";
import { ToolCallIndexer } from "./tool-calls.ts";
import { decodeUsage } from "./usage.ts";

/** An event that holds none of these says nothing that the ledger or a patch needs: only its model name is changed. */
const MARKS = ['"finish_reason":"', '"usage":{', '"error"', '"tool_calls"', '"reasoning', '"function_call"'];

/** Bytes of an ordinary chunk behind its model name that are not generated text. */
const ENVELOPE_AFTER_MODEL = 90;

export class ChatTap extends TapBase {
  readonly #context: NativeAnswerContext;
  readonly #toolCalls: ToolCallIndexer;
  readonly #hideReasoning: boolean;
  readonly #showUsage: boolean;
  /** The chunks of one stream begin alike, up to the model name. Learned once; `null` where a host's do not. */
  #prefix: { upstream: string; client: string } | null | undefined;
  #id: string | undefined;

  constructor(context: NativeAnswerContext) {
    super();
    this.#context = context;
    this.#toolCalls = new ToolCallIndexer(context.makeId);
    this.#hideReasoning = hidesReasoning(context.request);
    this.#showUsage = wantsUsage(context.request);
  }

  push(events: string): string {
    if (this.#prefix && !MARKS.some((mark) => events.includes(mark))) {
      const quick = this.#pushAlike(events, this.#prefix);
      if (quick !== undefined) return quick;
    }
    return this.pushCarefully(events);
  }

  override end(): string {
    if (this.state !== "complete") return "";
    this.state = "ended";
    // Some hosts close right after the finish reason; clients of this protocol wait for the sentinel.
    return "data: [DONE]\n\n";
  }

  #pushAlike(events: string, prefix: { upstream: string; client: string }): string | undefined {
    let text = "";
    for (let at = 0; at < events.length; ) {
      if (!events.startsWith(prefix.upstream, at)) return undefined;
      const rest = at + prefix.upstream.length;
      const end = events.indexOf("\n\n", rest);
      if (end < 0) return undefined;
      text += prefix.client + events.slice(rest, end + 2);
      this.generatedCharacters += Math.max(0, end - rest - ENVELOPE_AFTER_MODEL);
      at = end + 2;
    }
    return text;
  }

  protected frame(frame: SseFrame): string {
    if (frame.data === undefined) return frame.raw;
    if (frame.data === "[DONE]") {
      this.state = "ended";
      return "data: [DONE]\n\n";
    }
    const chunk = parseObject(frame.data);
    if (!chunk) {
      this.failure = new GatewayError("upstream_failed", "The provider sent an event that is not JSON.");
      return "";
    }
    if (isObject(chunk["error"])) {
      this.failure = decodeErrorObject(chunk, 200);
      return "";
    }
    const choices = arrayAt(chunk, "choices");
    this.#readUsage(chunk);
    if (choices.length === 0 && isObject(chunk["usage"]) && !this.#showUsage) return "";
    const data = this.#patch(frame.data, chunk, choices);
    if (data === undefined) return "";
    if (this.#prefix === undefined && this.contentSeen) this.#learnPrefix(frame);
    return `data: ${data}\n\n`;
  }

  #readUsage(chunk: JsonObject): void {
    const usage =
      decodeUsage(chunk["usage"]) ??
      decodeUsage(objectAt(chunk, "x_groq")?.["usage"]) ??
      decodeUsage(objectAt(arrayAt(chunk, "choices")[0], "usage"));
    if (usage) this.usageSeen = usage;
  }

  #patch(text: string, chunk: JsonObject, choices: readonly unknown[]): string | undefined {
    let data = text;
    for (const [position, choice] of choices.entries()) {
      const patched = this.#patchChoice(data, position, choice);
      if (patched === undefined) return undefined;
      data = patched;
    }
    if (isObject(chunk["usage"]) && this.usage && wantsCost(this.#context.request)) {
      const cost = String(this.#context.costUsd(this.usage));
      data = changeValue(data, ["usage"], (value) => new ObjectEdit(value).set("cost", cost).toString());
    }
    const edit = new ObjectEdit(data);
    this.#id ||= stringAt(chunk, "id");
    if (choices.length > 0 && !chunk["id"]) {
      this.#id ||= `chatcmpl-${this.#context.makeId()}`;
      edit.set("id", JSON.stringify(this.#id));
    }
    if (choices.length > 0 && !chunk["object"]) edit.set("object", '"chat.completion.chunk"');
    return edit.set("model", JSON.stringify(this.#context.publicModel)).toString();
  }

  #patchChoice(text: string, position: number, choice: unknown): string | undefined {
    const delta = objectAt(choice, "delta") ?? {};
    const finish = stringAt(choice, "finish_reason");
    let data = text;
    if (finish) {
      this.stop = decodeStop(finish);
      if (this.state === "open") this.state = "complete";
      const word = contractFinishReason(finish);
      if (word !== finish) data = changeValue(data, ["choices", position, "finish_reason"], () => JSON.stringify(word));
    }
    this.#count(delta);
    const path = ["choices", position, "delta"];
    const calls = this.#toolCalls.mend(delta);
    if (calls) data = changeValue(data, [...path, "tool_calls"], () => JSON.stringify(calls));
    const reasoning = mirrorReasoning(delta, this.#hideReasoning);
    if (!reasoning) return data;
    if (reasoning.emptied && !finish && !objectAt(choice, "usage")) return undefined;
    return changeValue(data, path, reasoning.change);
  }

  #count(delta: JsonObject): void {
    let characters = 0;
    for (const key of ["content", "reasoning_content", "refusal"]) characters += stringAt(delta, key)?.length ?? 0;
    if (delta["reasoning_content"] === undefined) characters += stringAt(delta, "reasoning")?.length ?? 0;
    for (const call of arrayAt(delta, "tool_calls")) {
      characters += stringAt(objectAt(call, "function"), "arguments")?.length ?? 0;
    }
    this.generatedCharacters += characters;
    if (characters > 0 || Array.isArray(delta["content"]) || delta["tool_calls"] || delta["function_call"]) {
      this.contentSeen = true;
    }
  }

  /** Only compact JSON with the model before the choices: anything else keeps to the careful road. */
  #learnPrefix(frame: SseFrame): void {
    this.#prefix = null;
    const data = frame.data ?? "";
    const span = findValue(data, ["model"]);
    if (!span || frame.raw !== `data: ${data}\n\n` || !/^\{"\w+":[^\s]/.test(data)) return;
    if (span.start > data.indexOf('"choices"') || !/"finish_reason":(null|")|^((?!"finish_reason").)*$/.test(data))
      return;
    const before = `data: ${data.slice(0, span.start)}`;
    this.#prefix = {
      upstream: `data: ${data.slice(0, span.end)}`,
      client: before + JSON.stringify(this.#context.publicModel),
    };
  }
}
