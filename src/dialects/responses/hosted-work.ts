import { arrayAt, type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { WEB_SEARCH } from "../../canon/billable.ts";
import { addToolUse, countAt, type Usage } from "../../canon/usage.ts";
import { toolName } from "./tool-name.ts";

const CALL = /^(\w+)_call$/;
/** Calls that the client answers. */
const BY_THE_CALLER: ReadonlySet<string> = new Set([
  "function",
  "custom_tool",
  "computer",
  "local_shell",
  "apply_patch",
]);
/** What an item is called that is no call, and shows a tool at work all the same. */
const OTHER_ITEMS: Readonly<Record<string, string>> = { program: "programmatic_tool_calling" };

/** What a host did besides generating tokens, and bills: of most of it only the items of an answer tell. */
export class HostedWork {
  readonly #uses = new Map<string, number>();
  /** Of any tool that the host ran, after which it called the model again. */
  #calls = 0;

  /** Of an answer in one piece. */
  static in(response: JsonObject): HostedWork {
    const work = new HostedWork();
    for (const item of arrayAt(response, "output")) work.count(item);
    work.report(response);
    return work;
  }

  /** An item that is done. */
  count(item: unknown): void {
    const type = stringAt(item, "type") ?? "";
    const tool = CALL.exec(type)?.[1] ?? OTHER_ITEMS[type];
    if (tool === undefined || BY_THE_CALLER.has(tool)) return;
    // The model reads of a failure as it reads a result.
    this.#calls++;
    if (stringAt(item, "status") === "failed") return;
    const name = toolName(item as JsonObject, tool);
    this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1);
  }

  /** Some hosts also count their tools: what they did may not be among the items. */
  report(response: JsonObject): void {
    const details = objectAt(objectAt(response, "usage"), "server_side_tool_usage_details");
    for (const key in details) {
      if (key.endsWith("_calls")) this.#atLeast(key.slice(0, -"_calls".length), countAt(details, key));
    }
    this.#atLeast(WEB_SEARCH, countAt(objectAt(objectAt(response, "tool_usage"), WEB_SEARCH), "num_requests"));
  }

  #atLeast(name: string, uses = 0): void {
    if (uses > (this.#uses.get(name) ?? 0)) this.#uses.set(name, uses);
  }

  addTo(usage: Usage | undefined): Usage | undefined {
    let counted = this.#calls === 0 ? usage : { ...usage, rounds: this.#calls + 1 };
    for (const [name, uses] of this.#uses) {
      counted = name === WEB_SEARCH ? { ...counted, searches: uses } : addToolUse(counted, name, uses);
    }
    return counted;
  }
}
