import { arrayAt, isObject, type JsonObject, objectAt } from "../../../base/json.ts";
import { addToolUse, type Usage } from "../../../canon/usage.ts";

/**
 * The hosted tools, besides web search, that a response was grounded in. The response lists what they found, not how often they
 * were called, so each counts once.
 */
export class GroundedTools {
  readonly #names = new Set<string>();

  static in(answer: JsonObject): GroundedTools {
    const tools = new GroundedTools();
    for (const candidate of arrayAt(answer, "candidates")) tools.take(objectAt(candidate, "groundingMetadata"));
    return tools;
  }

  take(grounding: JsonObject | undefined): void {
    if (grounding === undefined) return;
    if (grounding["googleMapsWidgetContextToken"]) this.#names.add("googleMaps");
    for (const chunk of arrayAt(grounding, "groundingChunks")) {
      if (!isObject(chunk)) continue;
      if (chunk["maps"] !== undefined) this.#names.add("googleMaps");
      const found = objectAt(chunk, "retrievedContext");
      if (found !== undefined) this.#names.add("fileSearchStore" in found ? "fileSearch" : "retrieval");
    }
  }

  addTo(usage: Usage): Usage {
    let counted = usage;
    for (const name of this.#names) counted = addToolUse(counted, name);
    return counted;
  }
}
