import { type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { WEB_SEARCH } from "../../../canon/billable.ts";
import { addToolUse, countAt, type Usage } from "../../../canon/usage.ts";

/** The suffix of the `server_tool_use` counters, each of which counts the calls of one tool. */
export const REQUESTS = "_requests";

/** Counts calls of hosted tools by the blocks of a response, since the usage counts only some of them. */
export class ServerTools {
  readonly #uses = new Map<string, number>();
  #openSearches = 0;

  static in(content: readonly unknown[]): ServerTools {
    const tools = new ServerTools();
    for (const block of content) tools.count(block);
    return tools;
  }

  /** Searches that have started without a result. If the response is cut off, they are billed (H26). */
  get openSearches(): number {
    return Math.max(0, this.#openSearches);
  }

  /** Searches are counted by their results. */
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

  /** The usage with the calls that were seen, or with the host's count if that is larger. */
  addTo(usage: Usage | undefined, raw: JsonObject | undefined): Usage | undefined {
    const reported = objectAt(raw, "server_tool_use");
    if (this.#uses.size === 0 && reported === undefined) return usage;
    const names = new Set(this.#uses.keys());
    for (const key in reported) if (key.endsWith(REQUESTS)) names.add(key.slice(0, -REQUESTS.length));
    names.delete(WEB_SEARCH);
    // Its tokens are billed.
    if (usage?.passes?.some(({ kind }) => kind === "advisor_message")) names.delete("advisor");
    let counted = usage;
    for (const name of names) {
      const uses = Math.max(this.#uses.get(name) ?? 0, countAt(reported, name + REQUESTS) ?? 0);
      if (uses > 0) counted = addToolUse(counted, name, uses);
    }
    return counted;
  }
}

/** The host decides how many tools it names, and each costs time whenever usage is reported (S18). */
const MAX_NAMES = 64;
const OTHER = "other";
const CODE_EXECUTION = "code_execution";
