import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../canon/json.ts";

interface KnownCall {
  id: string;
  upstreamIndex: unknown;
  /** Kept only where the host gives no ids: a whole set of arguments is the one sign that the next call has begun. */
  argumentsSoFar: string | undefined;
}

/**
 * Gives streamed tool calls the index of their identity (H03). Hosts were seen that send every parallel call under index
 * 0, without an index, without an id, or with id and name repeated on each fragment; well-formed deltas stay untouched.
 */
export class ToolCallIndexer {
  readonly #calls: KnownCall[] = [];
  readonly #makeId: () => string;

  constructor(makeId: () => string) {
    this.#makeId = makeId;
  }

  /** The delta's tool calls as they should read, or undefined when they are right already. */
  mend(delta: JsonObject): JsonObject[] | undefined {
    const calls = arrayAt(delta, "tool_calls");
    if (calls.length === 0) return undefined;
    let changed = false;
    const mended = calls.map((call) => {
      if (!isObject(call)) return {};
      const right = this.#mendOne(call);
      if (right !== call) changed = true;
      return right;
    });
    return changed ? mended : undefined;
  }

  #mendOne(call: JsonObject): JsonObject {
    const id = stringAt(call, "id") || undefined;
    const name = stringAt(objectAt(call, "function"), "name");
    const known = this.#find(call, id, name);
    if (!known) return this.#begin(call, id);
    const index = this.#calls.indexOf(known);
    if (known.argumentsSoFar !== undefined) known.argumentsSoFar += argumentsOf(call);
    if (call["index"] === index && id === undefined && !name) return call;
    const { id: _id, type: _type, function: fragment, ...rest } = call;
    return { ...rest, index, ...(isObject(fragment) ? { function: { arguments: fragment["arguments"] ?? "" } } : {}) };
  }

  #find(call: JsonObject, id: string | undefined, name: string | undefined): KnownCall | undefined {
    if (id !== undefined) return this.#calls.find((known) => known.id === id);
    const candidate =
      call["index"] === undefined
        ? this.#calls.at(-1)
        : this.#calls.findLast((known) => known.upstreamIndex === call["index"]);
    return candidate && name && isWhole(candidate.argumentsSoFar) ? undefined : candidate;
  }

  #begin(call: JsonObject, id: string | undefined): JsonObject {
    const index = this.#calls.length;
    const known: KnownCall = {
      id: id ?? `call_${this.#makeId()}`,
      upstreamIndex: call["index"],
      argumentsSoFar: id === undefined ? argumentsOf(call) : undefined,
    };
    this.#calls.push(known);
    if (call["index"] === index && id !== undefined) return call;
    return { ...call, index, id: known.id, type: call["type"] ?? "function" };
  }
}

function argumentsOf(call: JsonObject): string {
  return stringAt(objectAt(call, "function"), "arguments") ?? "";
}

function isWhole(text: string | undefined): boolean {
  if (!text) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Still in the middle of its arguments.
    return false;
  }
}
