import { arrayAt, isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { Turn } from "../../../canon/call.ts";
import { distinctCallIds } from "../../../canon/calls/distinct-call-ids.ts";
import { Fields } from "../../../canon/fields.ts";
import { nativeOf, readThoughts } from "../../../canon/opaque-carriers.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../../../canon/part.ts";
import { parseInOrder, stringifyInOrder } from "../../../wire/ordered-json.ts";
import { argumentsText } from "../../answer/arguments-text.ts";
import { SignedParts } from "../../request/carriers.ts";
import { decodeContent, decodeContents } from "../content.ts";
import { CONTENT_TYPES } from "../schema/content.ts";
import { CLIENT_SOURCE, OWN_ORIGIN, readCarrier, readSignature } from "../signature.ts";

const CONTENT: ReadonlySet<string | undefined> = new Set(CONTENT_TYPES);

/** The conversation of a request: a text, one content, or a list of contents or steps. */
export function decodeInput(input: unknown): Turn[] {
  if (typeof input === "string") {
    return [{ role: "user", parts: [{ type: "text", text: input, path: "input" }], path: "input" }];
  }
  const reader = new StepsReader();
  if (isObject(input)) reader.read(input, "input");
  if (Array.isArray(input)) {
    for (const [index, step] of (input as readonly unknown[]).entries()) {
      if (isObject(step)) reader.read(step, `input[${index}]`);
    }
  }
  return reader.end();
}

/** Steps of one side that follow each other form one turn. */
class StepsReader {
  readonly #turns: Turn[] = [];
  #answer: SignedParts | undefined;
  #given: Part[] | undefined;

  read(step: JsonObject, path: string): void {
    const type = stringAt(step, "type");
    if (CONTENT.has(type)) {
      this.#user(path).push(decodeContent(step, path, true));
      return;
    }
    switch (type) {
      case "user_input":
        this.#endRun();
        this.#input(step, path);
        return;
      case "function_result":
        this.#user(path).push(decodeResult(step, path));
        return;
      case "model_output":
        for (const part of decodeContents(step["content"], `${path}.content`, true)) this.#said(path).push(part);
        return;
      case "function_call":
        this.#said(path).push(decodeCall(step, path));
        return;
      case "thought":
        this.#thought(step, path);
        return;
      default:
        this.#said(path).push({ type: "native", dialect: OWN_ORIGIN, name: type ?? "", raw: step, path });
    }
  }

  end(): Turn[] {
    this.#endRun();
    return distinctCallIds(this.#turns);
  }

  /** Some clients put the results of calls into the content. */
  #input(step: JsonObject, path: string): void {
    const parts = this.#user(path);
    for (const [index, raw] of arrayAt(step, "content").entries()) {
      if (!isObject(raw)) continue;
      const at = `${path}.content[${index}]`;
      parts.push(raw["type"] === "function_result" ? decodeResult(raw, at) : decodeContent(raw, at, true));
    }
  }

  /** A thought, or a carrier that the gateway made: of a signature, or of a block of another protocol (decision 0011). */
  #thought(step: JsonObject, path: string): void {
    const parts = this.#said(path);
    const fields = new Fields(step);
    fields.skip("type");
    const value = fields.string("signature");
    const text = summaryOf(step);
    if (text !== undefined) fields.skip("summary");
    const carrier = text === undefined || text === "" ? readCarrier(value) : undefined;
    if (carrier !== undefined) {
      parts.carry(carrier, path);
      return;
    }
    const signature = readSignature(value, CLIENT_SOURCE);
    const native = signature && nativeOf(signature, parseInOrder);
    const thoughts = signature && readThoughts(signature);
    const extras = fields.rest();
    if (native !== undefined) parts.push({ ...native, path });
    else if (thoughts !== undefined) {
      for (const thought of thoughts) parts.push({ type: "reasoning", ...thought, path });
    } else if (text || signature !== undefined || extras !== undefined) {
      parts.push({ type: "reasoning", text: text ?? "", path, ...withoutAbsent({ signature, extras }) });
    }
  }

  #user(path: string): Part[] {
    if (this.#given !== undefined) return this.#given;
    this.#endRun();
    this.#given = [];
    this.#turns.push({ role: "user", parts: this.#given, path });
    return this.#given;
  }

  #said(path: string): SignedParts {
    if (this.#answer !== undefined) return this.#answer;
    this.#endRun();
    this.#answer = new SignedParts();
    this.#turns.push({ role: "assistant", parts: this.#answer.parts, path });
    return this.#answer;
  }

  #endRun(): void {
    this.#answer?.end();
    this.#answer = undefined;
    this.#given = undefined;
  }
}

/** The text of a summary; undefined if it has anything else, which only this dialect can express. */
export function summaryOf(step: JsonObject): string | undefined {
  const summary = arrayAt(step, "summary");
  const texts = summary.map((part) => (stringAt(part, "type") === "text" ? stringAt(part, "text") : undefined));
  return texts.every((text) => text !== undefined) ? texts.join("") : undefined;
}

function decodeCall(step: JsonObject, path: string): ToolCallPart {
  const fields = new Fields(step);
  fields.skip("type");
  const id = fields.string("id") ?? "";
  const name = fields.string("name") ?? "";
  const input = argumentsText(fields.take("arguments")) || "{}";
  const signature = readSignature(fields.string("signature"), CLIENT_SOURCE);
  const extras = fields.rest();
  return { type: "tool-call", id, name, input, path, ...withoutAbsent({ signature, extras }) };
}

function decodeResult(step: JsonObject, path: string): ToolResultPart {
  const fields = new Fields(step);
  fields.skip("type");
  const callId = fields.string("call_id") ?? "";
  const name = fields.string("name");
  const isError = fields.boolean("is_error");
  const result = fields.take("result");
  const response = isObject(result) ? result : undefined;
  const extras = fields.rest();
  return {
    type: "tool-result",
    callId,
    content: contentOf(result, path),
    path,
    ...withoutAbsent({ name, isError: isError || undefined, response, extras }),
  };
}

/** An object is also shown as text, for protocols whose results are texts. */
function contentOf(result: unknown, path: string): ToolResultPart["content"] {
  const at = `${path}.result`;
  if (Array.isArray(result)) return decodeContents(result, at, true);
  if (result === undefined) return [];
  return [{ type: "text", text: typeof result === "string" ? result : stringifyInOrder(result), path: at }];
}
