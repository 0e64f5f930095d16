import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import { requireFewCalls } from "../../answer/answer-bounds.ts";
import { argumentsText } from "../../answer/arguments-text.ts";
import { CallInput } from "./call-input.ts";

interface KnownCall {
  /** Its position in the answer. */
  readonly index: number;
  /** Undefined if the provider sent none. */
  hostId: string | undefined;
  hostIndex: number | undefined;
  /** Undefined until a fragment contains it. */
  name: string | undefined;
  /** Complete arguments suggest that the next call may have begun. */
  readonly input: CallInput;
}

/** The identifying fields of one fragment. */
interface Fragment {
  id: string | undefined;
  index: number | undefined;
  name: string | undefined;
  input: string;
}

/**
 * Assigns each streamed tool call an index of its own (H03). Some providers send parallel calls under index 0, without an index or id, with
 * one id for all, or with id and name repeated on each fragment. Well-formed deltas pass unchanged.
 */
export class ToolCallIndexer {
  /** The last call for each id, for each index, and for each pair of both. */
  readonly #byId = new Map<string, KnownCall>();
  readonly #byIndex = new Map<number, KnownCall>();
  readonly #byIdAndIndex = new Map<string, KnownCall>();
  readonly #calls: KnownCall[] = [];
  readonly #makeId: () => string;

  constructor(makeId: () => string) {
    this.#makeId = makeId;
  }

  /** Whether the arguments of a call are incomplete so far. */
  get hasBroken(): boolean {
    return this.#calls.some(({ input }) => input.isBroken);
  }

  /** The corrected tool calls of the delta, or undefined if they are already correct. */
  repair(delta: JsonObject): JsonObject[] | undefined {
    const calls = arrayAt(delta, "tool_calls");
    if (calls.length === 0) return undefined;
    let changed = false;
    const repaired = calls.map((call) => {
      if (!isObject(call)) return {};
      const right = this.#repairOne(call);
      if (right !== call) changed = true;
      return right;
    });
    return changed ? repaired : undefined;
  }

  #repairOne(call: JsonObject): JsonObject {
    const fragment = readFragment(call);
    const known = this.#find(fragment);
    if (known === undefined) return this.#begin(call, fragment);
    const { index } = known;
    const { id, name } = fragment;
    known.input.push(fragment.input);
    // Readers concatenate names like arguments, so only a call's first name is passed on.
    const news = known.name === undefined && name !== undefined;
    known.name ??= name;
    if (call["index"] === index && id === undefined && (news || name === undefined)) return call;
    const { id: _id, type: _type, function: called, ...rest } = call;
    if (!isObject(called)) return { ...rest, index };
    return { ...rest, index, function: { ...(news ? { name } : {}), arguments: called["arguments"] ?? "" } };
  }

  #find(fragment: Fragment): KnownCall | undefined {
    const known = this.#lastLike(fragment);
    return known !== undefined && beginsAnother(fragment, known) ? undefined : known;
  }

  #lastLike({ id, index }: Fragment): KnownCall | undefined {
    if (id === undefined) return index === undefined ? this.#calls.at(-1) : this.#byIndex.get(index);
    const there = index === undefined ? undefined : this.#byIdAndIndex.get(placeOf(id, index));
    // An id is more reliable than an index, which providers get wrong.
    return there ?? this.#byId.get(id);
  }

  #begin(call: JsonObject, { id, index: hostIndex, name, input }: Fragment): JsonObject {
    const index = this.#calls.length;
    requireFewCalls(index + 1);
    const isNew = id !== undefined && !this.#byId.has(id);
    const known: KnownCall = { index, hostId: id, hostIndex, name, input: new CallInput(input) };
    this.#calls.push(known);
    if (hostIndex !== undefined) this.#byIndex.set(hostIndex, known);
    if (id !== undefined) this.#byId.set(id, known);
    if (id !== undefined && hostIndex !== undefined) this.#byIdAndIndex.set(placeOf(id, hostIndex), known);
    if (call["index"] === index && isNew) return call;
    return { ...call, index, id: isNew ? id : `call_${this.#makeId()}`, type: call["type"] ?? "function" };
  }
}

const placeOf = (id: string, index: number): string => `${index} ${id}`;

function readFragment(call: JsonObject): Fragment {
  const called = objectAt(call, "function");
  return {
    id: stringAt(call, "id") || undefined,
    index: numberAt(call, "index"),
    name: stringAt(called ?? objectAt(call, "custom"), "name") || undefined,
    input: argumentsText(called?.["arguments"]),
  };
}

/** Whether a fragment that could continue a known call starts another one. */
function beginsAnother({ id, index, name }: Fragment, known: KnownCall): boolean {
  if (name === undefined || known.name === undefined) return false;
  // A provider that sends ids sends one for each call.
  if (id === undefined && known.hostId !== undefined) return false;
  if (id === undefined) return name !== known.name || known.input.isWhole;
  const elsewhere = index !== undefined && index !== known.hostIndex;
  // One id is shared by several calls. In the middle of the arguments, id and name are merely repeated, under any index.
  return (name !== known.name || elsewhere) && (known.input.isEmpty || known.input.isWhole);
}

export const hasBroken = (calls: ToolCallIndexer): boolean => calls.hasBroken;
