import { type JsonObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CallSettings, CanonCall, Extra } from "../../../canon/call.ts";
import { Fields } from "../../../canon/fields.ts";
import type { Effort, ReasoningRequest } from "../../../canon/reasoning.ts";
import type { ToolChoice } from "../../../canon/tool.ts";
import { decodeToolChoice } from "./tools.ts";

const NAME = "generation_config";

/** Numbers by their names on the wire. */
export const NUMBERS = {
  max_output_tokens: "maxOutputTokens",
  temperature: "temperature",
  top_p: "topP",
  seed: "seed",
} as const satisfies Record<string, keyof CallSettings>;

const LEVELS: readonly Effort[] = ["minimal", "low", "medium", "high"];

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

interface DecodedConfig {
  settings: CallSettings;
  paths: CanonCall["paths"];
  reasoning: ReasoningRequest | undefined;
  toolChoice: ToolChoice | undefined;
  extras: Extra[];
}

export function decodeSettings(raw: JsonObject | undefined): DecodedConfig {
  const fields = new Fields(raw);
  const settings: Writable<CallSettings> = {};
  const paths: Writable<CanonCall["paths"]> = {};
  for (const [wire, name] of Object.entries(NUMBERS)) {
    const value = fields.number(wire);
    if (value === undefined) continue;
    settings[name] = value;
    paths[name] = `${NAME}.${wire}`;
  }
  const stop = fields.array("stop_sequences")?.filter((one) => typeof one === "string");
  if (stop !== undefined && stop.length > 0) {
    settings.stop = stop;
    paths.stop = `${NAME}.stop_sequences`;
  }
  const toolChoice = decodeToolChoice(fields.peek("tool_choice"));
  if (toolChoice !== undefined) {
    paths.toolChoice = `${NAME}.tool_choice`;
    if (raw?.["tool_choice"] !== "validated") fields.skip("tool_choice");
  }
  const reasoning = decodeReasoning(raw);
  const level = stringAt(raw, "thinking_level");
  // An unknown level goes to the extras: hosts of this protocol validate it, and for others it is reported.
  if (level === undefined || LEVELS.some((known) => known === level)) fields.skip("thinking_level");
  fields.skip("thinking_summaries");
  const extras = Object.entries(fields.rest() ?? {}).map(([key, value]): Extra => ({ keys: [NAME, key], value }));
  return { settings, paths, reasoning, toolChoice, extras };
}

/** How much to think, and whether to show a summary. */
export function decodeReasoning(config: JsonObject | undefined): ReasoningRequest | undefined {
  const level = stringAt(config, "thinking_level");
  const amount = LEVELS.find((known) => known === level);
  const summaries = stringAt(config, "thinking_summaries");
  const show = summaries === undefined ? undefined : summaries !== "none";
  if (amount === undefined && show === undefined) return undefined;
  const path = `${NAME}.${amount === undefined ? "thinking_summaries" : "thinking_level"}`;
  return { path, ...withoutAbsent({ amount, show }) };
}
