import { arrayAt, isObject, type JsonObject } from "../../../base/json.ts";

/** How many characters of deltas are collected. A longer completion is not stored. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

interface CollectedChoice {
  message: Record<string, unknown>;
  calls: Map<number, Record<string, unknown>>;
  logprobs: Record<string, unknown[]> | undefined;
  /** Everything else that the last chunk with it says. */
  rest: Record<string, unknown>;
}

/** Assembles a completion from the choices of its chunks, as the client's SDK does. */
export class CollectedCompletion {
  readonly #choices = new Map<number, CollectedChoice>();
  #characters = 0;

  /** The choices in order; undefined if more was sent than is collected. */
  get choices(): JsonObject[] | undefined {
    if (this.#characters > MAX_CHARACTERS) return undefined;
    return [...this.#choices.entries()].sort(([one], [other]) => one - other).map(([index, one]) => whole(index, one));
  }

  /** Takes the choices of a chunk as the client gets them. `characters`: their length. */
  take(choices: readonly unknown[], characters: number): void {
    this.#characters += characters;
    if (this.#characters > MAX_CHARACTERS) {
      this.#choices.clear();
      return;
    }
    for (const choice of choices) if (isObject(choice)) this.#add(choice);
  }

  #add(choice: JsonObject): void {
    const { index: at, delta, logprobs, ...rest } = choice;
    const index = typeof at === "number" ? at : 0;
    let open = this.#choices.get(index);
    if (open === undefined) {
      open = {
        message: { role: "assistant", content: null, refusal: null },
        calls: new Map(),
        logprobs: undefined,
        rest: {},
      };
      this.#choices.set(index, open);
    }
    for (const [name, value] of Object.entries(rest)) if (value !== null) open.rest[name] = value;
    if (isObject(logprobs)) open.logprobs = joinedLogprobs(open.logprobs, logprobs);
    if (!isObject(delta)) return;
    for (const call of arrayAt(delta, "tool_calls")) if (isObject(call)) addCall(open.calls, call);
    for (const [name, value] of Object.entries(delta)) {
      if (name !== "tool_calls" && value !== null) open.message[name] = joined(open.message[name], value, name);
    }
  }
}

/** Members of a delta that name something, and so are not continued. */
const NAMES: ReadonlySet<string> = new Set(["role", "id", "type", "name"]);

/** Text continues text, lists and objects are extended. */
function joined(before: unknown, value: unknown, name: string): unknown {
  if (before === undefined || before === null || NAMES.has(name)) return copied(value);
  if (typeof before === "string" && typeof value === "string") return before + value;
  if (Array.isArray(before) && Array.isArray(value)) {
    // The list was copied when it was first seen, so that a long stream copies nothing twice.
    for (const item of value) before.push(item);
    return before;
  }
  if (isObject(before) && isObject(value)) {
    const extended = before as Record<string, unknown>;
    for (const [key, member] of Object.entries(value)) {
      if (member !== null) extended[key] = joined(extended[key], member, key);
    }
    return extended;
  }
  return value;
}

const copied = (value: unknown): unknown =>
  Array.isArray(value) ? [...(value as unknown[])] : isObject(value) ? { ...value } : value;

function addCall(calls: CollectedChoice["calls"], call: JsonObject): void {
  const { index: at, ...members } = call;
  const index = typeof at === "number" ? at : calls.size;
  const open = calls.get(index) ?? {};
  calls.set(index, joined(open, members, "") as Record<string, unknown>);
}

function joinedLogprobs(
  before: Record<string, unknown[]> | undefined,
  logprobs: JsonObject,
): Record<string, unknown[]> {
  const together = before ?? {};
  for (const name of ["content", "refusal"]) {
    const tokens = arrayAt(logprobs, name);
    if (tokens.length === 0) continue;
    together[name] ??= [];
    together[name].push(...tokens);
  }
  return together;
}

function whole(index: number, { message, calls, logprobs, rest }: CollectedChoice): JsonObject {
  const ordered = [...calls.entries()].sort(([one], [other]) => one - other).map(([, call]) => call);
  const { finish_reason: finish = null, ...more } = rest;
  return {
    index,
    message: ordered.length === 0 ? message : { ...message, tool_calls: ordered },
    logprobs: logprobs === undefined ? null : { content: null, refusal: null, ...logprobs },
    finish_reason: finish,
    ...more,
  };
}

/** The completion that a client assembles from the chunks. */
export function completionOf(
  chunk: JsonObject,
  choices: readonly JsonObject[],
  usage: JsonObject | undefined,
): JsonObject {
  const { object: _object, choices: _choices, usage: _usage, obfuscation: _padding, ...head } = chunk;
  return { ...head, object: "chat.completion", choices, ...(usage === undefined ? {} : { usage }) };
}
