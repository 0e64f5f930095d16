import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { WEB_SEARCH } from "../../../canon/billable.ts";
import { addToolUse, countAt, sumUsage, type Usage, type UsagePass } from "../../../canon/usage.ts";
import { generatedTokens } from "../../answer/generated-tokens.ts";
import { type KnownCounters, unknownCounters } from "../../answer/unknown-counters.ts";
import { toolName } from "./tool-name.ts";

/** The member of a usage that counts calls of hosted tools, and the suffix of its counters. */
export const TOOL_CALLS = "server_side_tool_usage_details";
export const CALLS = "_calls";

const CALL = /^(\w+)_call$/;
/** Calls that the client answers. */
const BY_THE_CALLER: ReadonlySet<string> = new Set([
  "function",
  "custom_tool",
  "computer",
  "local_shell",
  "apply_patch",
]);
/** Names of items that are not calls, but are the work of a tool. */
const OTHER_ITEMS: Readonly<Record<string, string>> = { program: "programmatic_tool_calling" };
/** Tools that run in a container, which is billed even if the code in it failed. */
const IN_CONTAINERS: ReadonlySet<string> = new Set(["code_interpreter", "shell"]);
/** Events that report progress of a call. */
const PROGRESS = /^response\.(\w+_call)\.\w+$/;

/** Billed work of a provider besides generating tokens. Mostly, only the items of a response show it. */
export class HostedToolUses {
  readonly #uses = new Map<string, number>();
  /** Calls of any tool that the provider ran, after each of which it called the model again. */
  #calls = 0;
  /** Calls that have begun, by tool. A started use is billed, even if its end was not received (H26). */
  readonly #begun = new Map<string, number>();
  readonly #ended = new Map<string, number>();
  /** Tokens of other models that tools called, one pass for each model. */
  readonly #passes: UsagePass[] = [];
  /** Counters that cannot be billed. */
  readonly #unknown = new Set<string>();

  /** For a whole response. */
  static in(response: JsonObject): HostedToolUses {
    const work = new HostedToolUses();
    for (const item of arrayAt(response, "output")) work.count(item);
    work.report(response);
    return work;
  }

  /** An announced item. */
  begin(item: unknown): void {
    const tool = hostedTool(stringAt(item, "type") ?? "");
    if (tool !== undefined) increment(this.#begun, tool);
  }

  /** An event that may report on a call that was not announced. */
  follow(event: string): void {
    const type = PROGRESS.exec(event)?.[1];
    const tool = type === undefined ? undefined : hostedTool(type);
    if (tool !== undefined && !this.#begun.has(tool)) increment(this.#begun, tool);
  }

  /** A finished item. */
  count(item: unknown): void {
    const tool = hostedTool(stringAt(item, "type") ?? "");
    if (tool === undefined) return;
    increment(this.#ended, tool);
    this.#reportUsageOf(item as JsonObject);
    // The model reads a failure like a result.
    this.#calls++;
    if (stringAt(item, "status") === "failed" && !IN_CONTAINERS.has(tool)) return;
    // Opening a page that a search found, and looking for something in it, are not charged.
    if (tool === WEB_SEARCH && !isSearch(item)) return;
    increment(this.#uses, toolName(item as JsonObject, tool));
  }

  /** Some providers also report counts of their tools, because not all their work is in the items. */
  report(response: JsonObject): void {
    const details = objectAt(objectAt(response, "usage"), TOOL_CALLS);
    for (const key in details) {
      if (key.endsWith(CALLS)) this.#atLeast(key.slice(0, -CALLS.length), countAt(details, key));
    }
    const searched = objectAt(objectAt(response, "tool_usage"), WEB_SEARCH);
    // The provider's own count holds, unless it is a zero beside searches (H39).
    const requests = countAt(searched, "num_requests");
    if (requests) this.#uses.set(WEB_SEARCH, requests);
    if (searched !== undefined) this.#addUnknown(`tool_usage.${WEB_SEARCH}`, searched, SEARCH_COUNTERS);
  }

  /** A tool may call another model, and report its tokens in the item. They are billed like any other pass of that model (H33). */
  #reportUsageOf(item: JsonObject): void {
    for (const key in item) {
      const usage = key.endsWith(ITEM_USAGE) ? item[key] : undefined;
      if (!isObject(usage)) continue;
      const model = stringAt(usage, "model");
      this.#addUnknown(key, usage, model === undefined ? NO_COUNTERS : ITEM_COUNTERS);
      if (model !== undefined) this.#addPass(key, model, tokensOf(usage));
    }
  }

  #addPass(kind: string, model: string, usage: Usage): void {
    const known = this.#passes.find((pass) => pass.model === model) ?? this.#passes[MAX_PASSES - 1];
    if (known === undefined) this.#passes.push({ kind, model, usage });
    else known.usage = sumUsage(known.usage, usage);
  }

  #addUnknown(holder: string, raw: JsonObject, known: KnownCounters): void {
    for (const name of unknownCounters(holder, raw, known) ?? []) this.#unknown.add(name);
  }

  #atLeast(name: string, uses = 0): void {
    if (uses > (this.#uses.get(name) ?? 0)) this.#uses.set(name, uses);
  }

  addTo(usage: Usage | undefined): Usage | undefined {
    let counted = this.#calls === 0 ? usage : { ...usage, rounds: this.#calls + 1 };
    if (this.#passes.length > 0) counted = { ...counted, passes: [...this.#passes] };
    for (const [name, uses] of this.#allUses()) {
      counted = name === WEB_SEARCH ? { ...counted, searches: uses } : addToolUse(counted, name, uses);
    }
    return this.#unknown.size === 0
      ? counted
      : { ...counted, unknown: [...(counted?.unknown ?? []), ...this.#unknown] };
  }

  /** Finished and started uses. */
  #allUses(): ReadonlyMap<string, number> {
    let uses: Map<string, number> | undefined;
    for (const [tool, begun] of this.#begun) {
      const open = begun - (this.#ended.get(tool) ?? 0);
      if (open <= 0) continue;
      uses ??= new Map(this.#uses);
      increment(uses, tool, open);
    }
    return uses ?? this.#uses;
  }
}

/** Older responses do not say what was done. */
function isSearch(item: unknown): boolean {
  const action = stringAt(objectAt(item, "action"), "type");
  return action === undefined || action === "search";
}

/** The hosted tool that an item of this type belongs to. */
function hostedTool(type: string): string | undefined {
  const tool = CALL.exec(type)?.[1] ?? OTHER_ITEMS[type];
  return tool === undefined || BY_THE_CALLER.has(tool) ? undefined : tool;
}

const SEARCH_COUNTERS: KnownCounters = { counts: ["num_requests"] };
const ITEM_USAGE = "_usage";
const NO_COUNTERS: KnownCounters = { counts: [] };
const ITEM_COUNTERS: KnownCounters = { counts: ["input_tokens", "output_tokens", "reasoning_tokens", "total_tokens"] };
/** No response calls more models. Those beyond the limit are billed with the last one. */
const MAX_PASSES = 8;

function tokensOf(raw: JsonObject): Usage {
  const input = countAt(raw, "input_tokens") ?? 0;
  const generated = generatedTokens({
    completion: countAt(raw, "output_tokens"),
    reasoning: countAt(raw, "reasoning_tokens"),
    behindPrompt: (countAt(raw, "total_tokens") ?? 0) - input,
  });
  return { input, output: generated?.said ?? 0, ...withoutAbsent({ reasoning: generated?.thought }) };
}

const increment = (counts: Map<string, number>, key: string, by = 1): void => {
  counts.set(key, (counts.get(key) ?? 0) + by);
};
