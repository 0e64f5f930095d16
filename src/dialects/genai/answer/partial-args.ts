import { arrayAt, type ExactNumber, isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { type ErrorKind, GatewayError } from "../../../canon/error.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import { requireFewPieces } from "../../answer/answer-bounds.ts";

/** Objects are maps, because the model chooses their keys and their order must be kept. */
type Node = Map<string, Node> | Node[] | Leaf;
type Leaf = string | number | ExactNumber | boolean | null;

/** The limit for one call's arguments in characters. No legitimate call comes close. */
const MAX_ARGUMENTS = 8 * 1024 * 1024;
const MAX_DEPTH = 256;

/** One step of a path: `.name`, `[0]`, `["name"]` or `['name']`. */
const STEP = /\.([^.[\]]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\['((?:[^'\\]|\\.)*)'\]/y;

/** A call whose arguments arrive in chunks, each a leaf or the next piece of a string. */
export class CallAssembly {
  readonly #fault: ErrorKind;
  #root: Map<string, Node> = new Map();
  #size = 0;
  #values = 0;

  /** `fault`: the kind of error for a chunk that does not fit. */
  constructor(fault: ErrorKind) {
    this.#fault = fault;
  }

  /** Adds the content of one `functionCall`. */
  add(call: JsonObject): void {
    const args = call["args"] ?? undefined;
    if (isObject(args)) this.#root = nodeOf(args) as Map<string, Node>;
    else if (args !== undefined)
      throw new GatewayError(this.#fault, "The arguments of a function call are not an object.");
    for (const chunk of arrayAt(call, "partialArgs")) {
      const value = leafOf(chunk);
      // A chunk without a value only announces more of a string.
      if (value !== undefined) this.#put(stringAt(chunk, "jsonPath") ?? "", value);
    }
  }

  get input(): string {
    return textOf(this.#root);
  }

  #put(path: string, value: Leaf): void {
    this.#size += path.length + JSON.stringify(value).length;
    const steps = this.#size > MAX_ARGUMENTS ? undefined : stepsOf(path);
    const made = steps && position(this.#root, steps, value);
    if (made === undefined) {
      throw new GatewayError(
        this.#fault,
        `A function call has an argument piece that does not fit the others: ${path}`,
      );
    }
    this.#values += made;
    if (this.#fault === "upstream_failed") requireFewPieces(this.#values);
  }
}

/** More chunks of this call will follow. */
export const continues = (call: JsonObject): boolean => call["willContinue"] === true;

/** A chunk of a call rather than a complete one. */
export const isPartial = (call: JsonObject): boolean => continues(call) || call["partialArgs"] !== undefined;

function leafOf(chunk: unknown): Leaf | undefined {
  if (!isObject(chunk)) return undefined;
  if ("nullValue" in chunk) return null;
  const value = chunk["stringValue"] ?? chunk["numberValue"] ?? chunk["boolValue"];
  if (typeof value === "number" || JSON.isRawJSON(value)) return value;
  return typeof value === "string" || typeof value === "boolean" ? value : undefined;
}

function stepsOf(path: string): (string | number)[] | undefined {
  if (!path.startsWith("$")) return undefined;
  const steps: (string | number)[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const match = STEP.exec(path);
    if (match === null) return undefined;
    const [, name, index, double, single] = match;
    if (index !== undefined) steps.push(Number(index));
    else steps.push(name ?? unescaped(double ?? single ?? ""));
  }
  return steps.length === 0 || steps.length > MAX_DEPTH ? undefined : steps;
}

function unescaped(text: string): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|.)/g, (_, code: string) => {
    if (code.length === 5) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }[code] ?? code;
  });
}

/** How many values were added; undefined if the path crosses a value or leaves a gap in an array. */
function position(root: Node, steps: readonly (string | number)[], value: Leaf): number | undefined {
  let parent = root;
  let made = 0;
  for (const [at, step] of steps.entries()) {
    const before = childOf(parent, step);
    if (before === undefined) return undefined;
    const { node } = before;
    const next = steps[at + 1];
    const inner = node ?? (typeof next === "number" ? [] : new Map<string, Node>());
    const joined = typeof node === "string" && typeof value === "string" ? node + value : value;
    const child = next === undefined ? joined : inner;
    if (!setChild(parent, step, child)) return undefined;
    if (node === undefined) made++;
    parent = child;
  }
  return made;
}

function childOf(parent: Node, step: string | number): { node: Node | undefined } | undefined {
  if (parent instanceof Map) return typeof step === "string" ? { node: parent.get(step) } : undefined;
  if (Array.isArray(parent) && typeof step === "number") return { node: parent[step] };
  return undefined;
}

function setChild(parent: Node, step: string | number, child: Node): boolean {
  if (parent instanceof Map && typeof step === "string") {
    parent.set(step, child);
    return true;
  }
  if (!Array.isArray(parent) || typeof step !== "number" || step > parent.length) return false;
  parent[step] = child;
  return true;
}

function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) return value.map(nodeOf);
  if (isObject(value)) return new Map(Object.entries(value).map(([key, one]) => [key, nodeOf(one)]));
  return value as Node;
}

function textOf(node: Node): string {
  if (node instanceof Map) {
    const members = [...node].map(([key, value]) => `${stringifyInOrder({ [key]: 0 }).slice(1, -2)}${textOf(value)}`);
    return `{${members.join(",")}}`;
  }
  if (Array.isArray(node)) return `[${node.map(textOf).join(",")}]`;
  return JSON.stringify(node);
}
