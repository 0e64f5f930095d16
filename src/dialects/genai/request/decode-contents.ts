import { isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import type { Turn } from "../../../canon/call.ts";
import { OpenCallsByWord } from "../../../canon/calls/open-calls.ts";
import { Fields } from "../../../canon/fields.ts";
import type { Part, ToolCallPart } from "../../../canon/part.ts";
import { argumentsText } from "../../answer/arguments-text.ts";
import { CallAssembly, continues, isPartial } from "../answer/partial-args.ts";
import { ThoughtRestorer } from "../carried-thoughts.ts";
import { decodePart } from "../content.ts";
import { leftOver } from "../part-extras.ts";
import { OWN_ORIGIN, type PartSource, readSignature } from "../signature.ts";
import { decodeToolResult } from "./tool-results.ts";

/** The conversation of a request. Calls without ids get ids by position; results without ids are matched by name. */
export function decodeContents(contents: readonly unknown[]): Turn[] {
  const reader = new ContentsReader();
  return contents.flatMap((content, index) => reader.read(content, index));
}

class ContentsReader {
  /** Calls without a result so far, oldest first. */
  readonly #byId = new OpenCallsByWord();
  readonly #byName = new OpenCallsByWord();
  /** How many of each the turn has so far. */
  #calls = 0;
  #results = 0;
  readonly #restorer = new ThoughtRestorer();
  /** A call that was streamed in chunks and is sent back in chunks. */
  #chunks: { part: ToolCallPart; assembly: CallAssembly } | undefined;

  read(content: unknown, index: number): Turn[] {
    const fields = new Fields(content);
    const path = `contents[${index}]`;
    const model = fields.string("role") === "model";
    const parts: Part[] = [];
    this.#calls = 0;
    this.#results = 0;
    if (!model) this.#restorer.nextTurn();
    for (const [position, raw] of (fields.array("parts") ?? []).entries()) {
      if (!isObject(raw)) continue;
      const part = this.#part(raw, `${path}.parts[${position}]`, index);
      if (part !== undefined) parts.push(...this.#restorer.restore(part));
    }
    // Later chunks of a call belong to the turn in which it started.
    if (parts.length === 0) return [];
    return [{ role: model ? "assistant" : "user", parts: joinThoughts(parts), path, ...leftOver(fields) }];
  }

  #part(raw: JsonObject, path: string, turn: number): Part | undefined {
    const source = { origin: OWN_ORIGIN, fromClient: true, path };
    const call = objectAt(raw, "functionCall");
    if (call !== undefined) return this.#call(raw, call, source, turn);
    if (objectAt(raw, "functionResponse") === undefined) return decodePart(raw, source);
    const position = this.#results++;
    return decodeToolResult(raw, source, (id, name) => this.#answer(id, name) ?? id ?? `call_${turn}_${position}`);
  }

  #call(raw: JsonObject, call: JsonObject, source: PartSource & { path: string }, turn: number): Part | undefined {
    const open = this.#chunks;
    if (open !== undefined && stringAt(call, "name") === undefined) {
      open.assembly.add(call);
      open.part.input = open.assembly.input;
      if (!continues(call)) this.#chunks = undefined;
      return undefined;
    }
    const outer = new Fields(raw);
    const inner = new Fields(outer.object("functionCall"));
    inner.skip("partialArgs", "willContinue");
    const name = inner.string("name");
    // The end of a call that had already ended.
    if (name === undefined) return undefined;
    const position = this.#calls++;
    const id = inner.string("id") ?? `call_${turn}_${position}`;
    const asked = { id, name, answered: false };
    this.#byId.push(id, asked);
    this.#byName.push(name, asked);
    const part: ToolCallPart = {
      type: "tool-call",
      id,
      name,
      input: argumentsText(inner.object("args")) || "{}",
      path: source.path,
      ...readSignature(outer.string("thoughtSignature"), source),
      ...leftOver(outer, { name: "functionCall", fields: inner }),
    };
    this.#chunks = undefined;
    if (isPartial(call)) {
      const assembly = new CallAssembly("invalid_request");
      assembly.add(call);
      part.input = assembly.input;
      if (continues(call)) this.#chunks = { part, assembly };
    }
    return part;
  }

  /** The call that a result belongs to: by its id, else the oldest open call with that name. */
  #answer(id: string | undefined, name: string): string | undefined {
    const asked = id === undefined ? this.#byName.first(name) : this.#byId.first(id);
    if (asked !== undefined) asked.answered = true;
    return asked?.id;
  }
}

/**
 * A streamed thought of another family comes back in as many chunks, with the signature on the last. It was signed as a whole, so
 * it is joined again; this dialect's own thoughts are not changed.
 */
function joinThoughts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    if (part.type !== "reasoning" || part.signature === undefined || part.signature.origin === OWN_ORIGIN) {
      joined.push(part);
      continue;
    }
    let { text } = part;
    for (let last = joined.at(-1); last?.type === "reasoning" && !last.signature; last = joined.at(-1)) {
      text = last.text + text;
      joined.pop();
    }
    joined.push({ ...part, text });
  }
  return joined;
}
