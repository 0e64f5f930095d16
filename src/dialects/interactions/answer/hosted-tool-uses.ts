import { arrayAt, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { addToolUse, countAt, type Usage } from "../../../canon/usage.ts";
import { SEARCH } from "../request/tools.ts";

const CALL = /^(\w+)_call$/;
const FUNCTION = "function";
/** Work of the host that no tool of the request asked for. It is part of the tokens. */
const PROCESSING = "processing";

/**
 * How often hosts ran their tools: by the steps of a response, and by the usage, which counts only some tools. The higher count applies,
 * because what was counted was used.
 */
export class HostedToolUses {
  readonly #steps = new Map<string, number>();
  readonly #reported = new Map<string, number>();
  /** Steps after which the host called the model again. */
  #runs = 0;

  static in(interaction: JsonObject): HostedToolUses {
    const uses = new HostedToolUses();
    for (const step of arrayAt(interaction, "steps")) uses.count(step);
    uses.report(objectAt(interaction, "usage"));
    return uses;
  }

  /** A finished step. A search counts once for each of its queries. */
  count(step: unknown): void {
    const tool = CALL.exec(stringAt(step, "type") ?? "")?.[1];
    if (tool === undefined || tool === FUNCTION || tool === PROCESSING) return;
    const queries = arrayAt(objectAt(step, "arguments"), "queries").filter((query) => query !== "");
    const uses = tool === SEARCH ? Math.max(1, queries.length) : 1;
    this.#steps.set(tool, (this.#steps.get(tool) ?? 0) + uses);
    this.#runs++;
  }

  report(usage: JsonObject | undefined): void {
    for (const entry of arrayAt(usage, "grounding_tool_count")) {
      const tool = stringAt(entry, "type");
      const count = countAt(entry, "count");
      if (tool && count) this.#reported.set(tool, count);
    }
  }

  addTo(usage: Usage | undefined): Usage | undefined {
    let counted = usage;
    for (const tool of new Set([...this.#steps.keys(), ...this.#reported.keys()])) {
      const uses = Math.max(this.#steps.get(tool) ?? 0, this.#reported.get(tool) ?? 0);
      counted = tool === SEARCH ? { ...counted, searches: uses } : addToolUse(counted, tool, uses);
    }
    if (counted === undefined || this.#runs === 0) return counted;
    return { ...counted, rounds: Math.max(counted.rounds ?? 1, this.#runs + 1) };
  }
}
