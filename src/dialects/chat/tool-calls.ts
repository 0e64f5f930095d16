import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { inputOf, isWholeInput } from "./tool-call.ts";

/** Arguments of one call that are kept, in characters: a longer call is taken for unfinished (H20). */
const MAX_KEPT = 1024 * 1024;

interface KnownCall {
  /** Undefined where the host gave none. */
  hostId: string | undefined;
  hostIndex: number | undefined;
  /** Undefined until a fragment brings it. */
  name: string | undefined;
  /** Whole arguments are a sign that the next call may have begun. */
  input: string;
}

/** What one fragment says of itself. */
interface Fragment {
  id: string | undefined;
  index: number | undefined;
  name: string | undefined;
  input: string;
}

/**
 * Gives streamed tool calls the index of their identity (H03). Hosts were seen that send every parallel call under index
 * 0, without an index, without an id, with one id for all, or with id and name repeated on each fragment; well-formed
 * deltas stay untouched.
 */
export class ToolCallIndexer {
  readonly #calls: KnownCall[] = [];
  readonly #makeId: () => string;

  constructor(makeId: () => string) {
    this.#makeId = makeId;
  }

  /** Whether the arguments of one are not whole, as far as they have come. */
  get hasBroken(): boolean {
    return this.#calls.some(({ input }) => input.length <= MAX_KEPT && !isWholeInput(input || "{}"));
  }

  /** The delta's tool calls as they should read, or undefined when they are right already. */
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
    const index = this.#calls.indexOf(known);
    const { id, name } = fragment;
    if (known.input.length <= MAX_KEPT) known.input += fragment.input;
    // Readers put names together as they do arguments: a call's first one is news, and no other.
    const news = known.name === undefined && name !== undefined;
    known.name ??= name;
    if (call["index"] === index && id === undefined && (news || name === undefined)) return call;
    const { id: _id, type: _type, function: called, ...rest } = call;
    if (!isObject(called)) return { ...rest, index };
    return { ...rest, index, function: { ...(news ? { name } : {}), arguments: called["arguments"] ?? "" } };
  }

  #find(fragment: Fragment): KnownCall | undefined {
    const { id, index } = fragment;
    const alike = id === undefined ? this.#calls : this.#calls.filter(({ hostId }) => hostId === id);
    const there = index === undefined ? alike.at(-1) : alike.findLast(({ hostIndex }) => hostIndex === index);
    // An id says more than an index, which hosts get wrong.
    const known = there ?? (id === undefined ? undefined : alike.at(-1));
    return known !== undefined && beginsAnother(fragment, known) ? undefined : known;
  }

  #begin(call: JsonObject, { id, index: hostIndex, name, input }: Fragment): JsonObject {
    const index = this.#calls.length;
    const isNew = id !== undefined && !this.#calls.some(({ hostId }) => hostId === id);
    this.#calls.push({ hostId: id, hostIndex, name, input });
    if (call["index"] === index && isNew) return call;
    return { ...call, index, id: isNew ? id : `call_${this.#makeId()}`, type: call["type"] ?? "function" };
  }
}

function readFragment(call: JsonObject): Fragment {
  const called = objectAt(call, "function");
  return {
    id: stringAt(call, "id") || undefined,
    index: numberAt(call, "index"),
    name: stringAt(called ?? objectAt(call, "custom"), "name") || undefined,
    input: inputOf(called?.["arguments"]),
  };
}

/** Whether a fragment that might go on with a known call is the first of another one. */
function beginsAnother({ id, index, name }: Fragment, known: KnownCall): boolean {
  if (name === undefined || known.name === undefined) return false;
  // Who gives ids gives one to each call.
  if (id === undefined && known.hostId !== undefined) return false;
  if (id === undefined) return name !== known.name || isWholeInput(known.input);
  const elsewhere = index !== undefined && index !== known.hostIndex;
  // With one id for several calls; amid its arguments it is a call whose id and name are repeated, under whatever index.
  return (name !== known.name || elsewhere) && (known.input === "" || isWholeInput(known.input));
}

export const hasBroken = (calls: ToolCallIndexer): boolean => calls.hasBroken;
