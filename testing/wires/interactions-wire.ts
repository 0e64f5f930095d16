import { withoutAbsent } from "../../src/base/without-absent.ts";

const INTERACTION = { object: "interaction", model: "upstream-model" };
/** A host has no id for an interaction that it does not store. */
const BEGUN = { id: "", status: "in_progress", ...INTERACTION };

/** So many tokens, as a host of the Interactions protocol reports them. Thoughts are not part of the output. */
export const interactionsUsage = (input: number, output: number, thoughts = 0): object => ({
  total_tokens: input + output + thoughts,
  total_input_tokens: input,
  input_tokens_by_modality: [{ modality: "text", tokens: input }],
  total_cached_tokens: 0,
  total_output_tokens: output,
  total_tool_use_tokens: 0,
  total_thought_tokens: thoughts,
});

interface Ending {
  usage: object | undefined;
  status?: string;
  model?: string;
}

const ended = ({ usage, status = "completed", model = INTERACTION.model }: Ending) => ({
  id: "",
  status,
  ...withoutAbsent({ usage }),
  created: "2026-11-18T12:00:00Z",
  updated: "2026-11-18T12:00:01Z",
  service_tier: "standard",
  object: INTERACTION.object,
  model,
});

/** A non-streamed interaction with these steps; without usage if it is undefined. */
export const interactionsAnswer = (steps: readonly object[], ending: Ending): object => ({ ...ended(ending), steps });

export const outputStep = (text: string): object => ({ type: "model_output", content: [{ type: "text", text }] });

export const interactionsEvent = (name: string, members: object = {}): string =>
  `event: ${name}\ndata: ${JSON.stringify({ ...members, event_type: name })}\n\n`;

/** The events of a stream. */
export const interactionsWire = {
  begin: (): string =>
    interactionsEvent("interaction.created", { interaction: BEGUN }) +
    interactionsEvent("interaction.status_update", { interaction_id: "", status: "in_progress" }),
  start: (index: number, step: object): string => interactionsEvent("step.start", { index, step }),
  delta: (index: number, delta: object): string => interactionsEvent("step.delta", { index, delta }),
  stop: (index: number): string => interactionsEvent("step.stop", { index }),
  text: (index: number, ...texts: readonly string[]): string =>
    interactionsWire.start(index, { type: "model_output" }) +
    texts.map((text) => interactionsWire.delta(index, { text, type: "text" })).join("") +
    interactionsWire.stop(index),
  completed: (ending: Ending): string =>
    `${interactionsEvent("interaction.completed", { interaction: ended(ending) })}event: done\ndata: [DONE]\n\n`,
};
