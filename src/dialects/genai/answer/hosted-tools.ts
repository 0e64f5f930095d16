import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { addToolUse, type Usage } from "../../../canon/usage.ts";

/** The tools of a request that the host's calls belong to. A call of another type keeps its own name, which has no price. */
const TOOL_OF_TYPE: ReadonlyMap<string, string> = new Map([
  ["URL_CONTEXT", "urlContext"],
  ["GOOGLE_MAPS", "googleMaps"],
  ["FILE_SEARCH", "fileSearch"],
  ["MEDIA_PROCESSING", "mediaProcessing"],
]);

const SEARCH_TYPES: ReadonlySet<string> = new Set(["GOOGLE_SEARCH_WEB", "GOOGLE_SEARCH_IMAGE"]);

/**
 * The tools that the host ran for a response, from its chunks. Most responses list what a tool found and not how often it was called, so
 * each tool counts once, except for searches, which are counted by their queries.
 */
export class HostedTools {
  readonly #names = new Set<string>();
  /** Queries of calls that the response shows, which need not have found anything. */
  #queries = 0;
  /** How often the response shows the result of code that the host ran, or a call of a tool other than search. */
  #runs = 0;

  static in(answer: JsonObject): HostedTools {
    const tools = new HostedTools();
    tools.read(answer);
    return tools;
  }

  read(chunk: JsonObject): void {
    for (const candidate of arrayAt(chunk, "candidates")) {
      this.#readGrounding(objectAt(candidate, "groundingMetadata"));
      for (const part of arrayAt(objectAt(candidate, "content"), "parts")) {
        if (objectAt(part, "codeExecutionResult") !== undefined) this.#runs++;
        const call = objectAt(part, "toolCall");
        if (call !== undefined) this.#readCall(call);
      }
    }
  }

  #readGrounding(grounding: JsonObject | undefined): void {
    if (grounding === undefined) return;
    if (grounding["googleMapsWidgetContextToken"]) this.#names.add("googleMaps");
    for (const chunk of arrayAt(grounding, "groundingChunks")) {
      if (!isObject(chunk)) continue;
      if (chunk["maps"] !== undefined) this.#names.add("googleMaps");
      const found = objectAt(chunk, "retrievedContext");
      if (found !== undefined) this.#names.add("fileSearchStore" in found ? "fileSearch" : "retrieval");
    }
  }

  #readCall(call: JsonObject): void {
    const type = stringAt(call, "toolType") ?? "other";
    if (SEARCH_TYPES.has(type)) {
      this.#queries += Math.max(1, arrayAt(objectAt(call, "args"), "queries").length);
      return;
    }
    this.#runs++;
    this.#names.add(TOOL_OF_TYPE.get(type) ?? type);
  }

  /** The host called the model again after each search, each code run and each call. */
  addTo(usage: Usage): Usage {
    let counted = usage;
    const searches = Math.max(usage.searches ?? 0, this.#queries);
    if (searches > (usage.searches ?? 0)) counted = { ...counted, searches };
    if (this.#runs > 0) counted = { ...counted, rounds: Math.max(usage.rounds ?? 1, this.#runs + searches + 1) };
    for (const name of this.#names) counted = addToolUse(counted, name);
    return counted;
  }
}
