import { isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { Turn } from "../../../canon/call.ts";
import { distinctCallIds } from "../../../canon/calls/distinct-call-ids.ts";
import { Fields } from "../../../canon/fields.ts";
import { nativeOf } from "../../../canon/opaque-carriers.ts";
import type { Part, TextPart, ToolCallPart, ToolResultPart } from "../../../canon/part.ts";
import { parseInOrder, stringifyInOrder } from "../../../wire/ordered-json.ts";
import { SignedParts, unwrapCarrier } from "../../request/carriers.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { builtInItem } from "./built-in-tools.ts";
import { decodeContent, isResultContent, nativePart } from "./content.ts";
import { isClientItem } from "./is-client-item.ts";
import type { Namespaces } from "./namespaces.ts";
import { CLIENT_SOURCE, decodeReasoningItem, OWN_ORIGIN } from "./reasoning.ts";

interface DecodedItems {
  system: TextPart[];
  turns: Turn[];
}

/**
 * The items of a request as turns. Consecutive output of the model is one turn, and so are the results of its calls (R8), because other
 * protocols have no answers in pieces.
 */
export function decodeInput(input: unknown, namespaces: Namespaces): DecodedItems {
  const reader = new ItemReader(namespaces);
  if (typeof input === "string") reader.message({ role: "user", content: input }, "input", "input");
  else for (const [index, item] of (Array.isArray(input) ? input : []).entries()) reader.item(item, `input[${index}]`);
  return reader.end();
}

class ItemReader {
  readonly #namespaces: Namespaces;
  readonly #system: TextPart[] = [];
  /** Leading system content other than text. */
  readonly #leading: Turn[] = [];
  readonly #turns: Turn[] = [];
  /** The answer that is being read, whose parts go into the last turn. */
  #answer: { signed: SignedParts; path: string } | undefined;
  #results: Part[] | undefined;
  /** Calls of tools that this dialect knows by their types, by each of their ids. */
  readonly #builtIn = new Map<string, string>();

  constructor(namespaces: Namespaces) {
    this.#namespaces = namespaces;
  }

  item(raw: unknown, path: string): void {
    const item = isObject(raw) ? raw : {};
    const type = stringAt(item, "type") ?? (typeof item["role"] === "string" ? "message" : "item_reference");
    switch (type) {
      case "message":
        this.message(item, path, `${path}.content`);
        return;
      case "reasoning":
        this.#reasoning(item, path);
        return;
      case "function_call":
        this.#said(path).push(this.#call(new Fields(item), path, false));
        return;
      case "custom_tool_call":
        this.#said(path).push(this.#call(new Fields(item), path, true));
        return;
      case "function_call_output":
        this.#result(new Fields(item), path, false);
        return;
      case "custom_tool_call_output":
        this.#result(new Fields(item), path, true);
        return;
      case "image_generation_call":
        this.#said(path).push(decodeImage(item, path) ?? nativePart(item, type, path));
        return;
      default:
        this.#other(item, type, path);
    }
  }

  /** An item of a tool that this dialect knows by its type, or one that exists only in it. */
  #other(item: JsonObject, type: string, path: string): void {
    const { tool, isResult } = builtInItem(type, item) ?? {};
    if (tool === undefined) this.#native(item, type, path);
    else if (!isResult) this.#said(path).push(this.#builtInCall(tool, item, path));
    else if (this.#builtIn.has(outputOf(item))) this.#given(path).push(this.#builtInResult(tool, item, path));
    else this.#native(item, type, path);
  }

  #builtInCall(tool: BuiltInTool, item: JsonObject, path: string): ToolCallPart {
    const ids = [stringAt(item, "call_id"), stringAt(item, "id")].filter((id) => id !== undefined);
    const [id = ""] = ids;
    for (const one of ids) this.#builtIn.set(one, id);
    const input = stringifyInOrder(tool.argumentsOf(item));
    const native = { dialect: "responses", tool: tool.name, raw: item };
    return { type: "tool-call", id, name: tool.name, input, native, path, ...callerOf(item) };
  }

  #builtInResult(tool: BuiltInTool, item: JsonObject, path: string): ToolResultPart {
    const callId = this.#builtIn.get(outputOf(item)) ?? "";
    const { content: given, isError } = tool.resultOf(item);
    const native = { dialect: "responses", tool: tool.name, raw: item };
    const content: ToolResultPart["content"] =
      typeof given === "string"
        ? [{ type: "text", text: given, path: `${path}.output` }]
        : decodeContent(given, `${path}.output`).filter(isResultContent);
    return { type: "tool-result", callId, content, ...withoutAbsent({ isError }), native, path, ...callerOf(item) };
  }

  message(item: JsonObject, path: string, contentPath: string): void {
    const fields = new Fields(item);
    const role = fields.string("role");
    const parts = decodeContent(fields.take("content"), contentPath);
    // Labels of the item, which only its creator needs.
    fields.skip("type", "id", "status");
    const rest = fields.rest();
    const own = rest === undefined ? {} : { extras: rest };
    if (role === "assistant") {
      const signed = this.#said(path);
      // The message's own fields are stored in an empty text before its others, because the turn contains more than this message.
      if (rest !== undefined) signed.push({ type: "text", text: "", path, extras: rest });
      for (const part of parts) signed.push(part);
      return;
    }
    this.#endRun();
    if (role === "user") this.#turns.push({ role, parts, path, ...own });
    else if (this.#turns.length > 0) this.#turns.push({ role: "system", parts, path, ...own });
    else this.#leadingSystem(parts, path, own);
  }

  #leadingSystem(parts: readonly Part[], path: string, own: { extras?: JsonObject }): void {
    if (own.extras !== undefined) this.#system.push({ type: "text", text: "", path, ...own });
    const others = parts.filter((part) => part.type !== "text");
    this.#system.push(...parts.filter((part) => part.type === "text"));
    if (others.length > 0) this.#leading.push({ role: "system", parts: others, path });
  }

  /**
   * A reasoning item is one thought, or a carrier that the gateway made: of a signature, or of a block of another protocol (decision 0011).
   */
  #reasoning(item: JsonObject, path: string): void {
    const signed = this.#said(path);
    const { summary, text, signature: value } = decodeReasoningItem(item, CLIENT_SOURCE);
    const signature = value?.kind === "text" ? undefined : value;
    const carrier = text === "" ? unwrapCarrier(stringAt(item, "encrypted_content") ?? "") : undefined;
    const native = signature && nativeOf(signature, parseInOrder);
    if (carrier !== undefined) signed.carry(carrier, path);
    else if (native !== undefined) signed.push({ ...native, path });
    else if (text !== "" || signature !== undefined) {
      // Clients see every thought as a summary. Only a provider of this protocol can really have made one.
      const summed = summary && signature?.origin === OWN_ORIGIN ? { summary } : {};
      const sealed = signature === undefined ? {} : { signature };
      signed.push({ type: "reasoning", text, ...summed, ...sealed, path });
    }
  }

  #call(fields: Fields, path: string, custom: boolean): ToolCallPart {
    fields.skip("type", "id", "status");
    const id = fields.string("call_id") ?? "";
    const name = this.#namespaces.flatName(fields.string("namespace"), fields.string("name") ?? "");
    const input = fields.string(custom ? "input" : "arguments") ?? "";
    const extras = fields.rest();
    return {
      type: "tool-call",
      id,
      name,
      input,
      ...(custom ? { custom } : {}),
      path,
      ...withoutAbsent({ extras }),
    };
  }

  /** Consecutive results form one user turn. */
  #result(fields: Fields, path: string, custom: boolean): void {
    fields.skip("type", "id", "status");
    const callId = fields.string("call_id") ?? "";
    const content = decodeContent(fields.take("output"), `${path}.output`).filter(isResultContent);
    const extras = fields.rest();
    const result: ToolResultPart = {
      type: "tool-result",
      callId,
      content,
      ...(custom ? { custom } : {}),
      path,
      ...withoutAbsent({ extras }),
    };
    this.#given(path).push(result);
  }

  #native(item: JsonObject, type: string, path: string): void {
    const part = nativePart(item, type, path);
    if (isClientItem(type)) this.#given(path).push(part);
    else this.#said(path).push(part);
  }

  /** The answer that continues here, or a new one. */
  #said(path: string): SignedParts {
    if (this.#answer !== undefined) return this.#answer.signed;
    this.#endRun();
    const signed = new SignedParts();
    this.#answer = { signed, path };
    this.#turns.push({ role: "assistant", parts: signed.parts, path });
    return signed;
  }

  #given(path: string): Part[] {
    if (this.#results !== undefined) return this.#results;
    this.#endRun();
    const results: Part[] = [];
    this.#results = results;
    this.#turns.push({ role: "user", parts: results, path });
    return results;
  }

  #endRun(): void {
    this.#answer?.signed.end();
    this.#answer = undefined;
    this.#results = undefined;
  }

  end(): DecodedItems {
    this.#endRun();
    return { system: this.#system, turns: distinctCallIds([...this.#leading, ...this.#turns]) };
  }
}

/** A program of the model called the tool. Only this dialect has such calls. */
function callerOf({ caller }: JsonObject): { extras?: JsonObject } {
  return stringAt(caller, "type") === "program" ? { extras: { caller } } : {};
}

/** One kind of result refers to its call by `id`. */
const outputOf = (item: JsonObject): string => stringAt(item, "call_id") ?? stringAt(item, "id") ?? "";

/** An image that the model created in an earlier turn. */
function decodeImage(item: JsonObject, path: string): Part | undefined {
  const fields = new Fields(item);
  const data = fields.string("result");
  if (!data) return undefined;
  const mimeType = `image/${fields.string("output_format") ?? "png"}`;
  return { type: "media", kind: "image", source: { type: "data", mimeType, data }, path };
}
