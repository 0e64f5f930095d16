import { type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { WEB_SEARCH } from "../../../canon/billable.ts";
import { addToolUse, countAt, type Usage } from "../../../canon/usage.ts";

/** How the counters of `server_tool_use` end that each count the calls of one tool. */
export const REQUESTS = "_requests";

/** Calls of the host's own tools, by the blocks of an answer: its usage counts some of them alone. */
export class ServerTools {
  readonly #uses = new Map<string, number>();
  #openSearches = 0;

  static in(content: readonly unknown[]): ServerTools {
    const tools = new ServerTools();
    for (const block of content) tools.count(block);
    return tools;
  }

  /** Searches that have begun and have found nothing yet: where the answer breaks off, they are paid for (H26). */
  get openSearches(): number {
    return Math.max(0, this.#openSearches);
  }

  /** Searches are counted by what they have found. */
  count(block: unknown): void {
    const type = stringAt(block, "type");
    if (type === "web_search_tool_result") this.#openSearches--;
    const name = type === "mcp_tool_use" ? "mcp" : type === "server_tool_use" ? stringAt(block, "name") : undefined;
    if (name === WEB_SEARCH) this.#openSearches++;
    if (name === undefined || name === WEB_SEARCH) return;
    // All of these run in one container.
    const tool = name.endsWith(CODE_EXECUTION) ? CODE_EXECUTION : name;
    const counted = this.#uses.has(tool) || this.#uses.size < MAX_NAMES ? tool : OTHER;
    this.#uses.set(counted, (this.#uses.get(counted) ?? 0) + 1);
  }

  /** The usage with the calls that were seen, or with those that it reports where these are more. */
  addTo(usage: Usage | undefined, raw: JsonObject | undefined): Usage | undefined {
    const reported = objectAt(raw, "server_tool_use");
    const names = new Set(this.#uses.keys());
    for (const key in reported) if (key.endsWith(REQUESTS)) names.add(key.slice(0, -REQUESTS.length));
    names.delete(WEB_SEARCH);
    let counted = usage;
    for (const name of names) {
      const uses = Math.max(this.#uses.get(name) ?? 0, countAt(reported, name + REQUESTS) ?? 0);
      if (uses > 0) counted = addToolUse(counted, name, uses);
    }
    return counted;
  }
}

/** A host decides how many tools it names, and each costs time whenever the usage is reported (S18). */
const MAX_NAMES = 64;
const OTHER = "other";
const CODE_EXECUTION = "code_execution";
