import { GatewayError } from "../../canon/error.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { EmbeddingCapabilities } from "./embedding-adapter.ts";
import type { EmbeddingCall, EmbeddingField, EmbeddingTask } from "./embedding-call.ts";

/** Throws if a host could only return vectors other than those requested. The path is the canonical field. */
export function requireEmbeddings({ inputs }: EmbeddingCall, capabilities: EmbeddingCapabilities, model: string): void {
  const { takes, tokens } = capabilities;
  const sized = inputs.find(({ settings }) => settings.dimensions !== undefined);
  if (sized !== undefined && !takes.includes("dimensions")) {
    const problem = `${model} has a fixed vector size; leave it out.`;
    throw new GatewayError("invalid_request", problem, { path: "dimensions" });
  }
  if (tokens === undefined && inputs.some(({ content }) => typeof content !== "string")) {
    const problem = `${model} does not accept tokens; send text.`;
    throw new GatewayError("invalid_request", problem, { path: "input" });
  }
}

/** Notes what a host does not honour: its vectors ignore the setting, or use the nearest task. */
export function noteEmbeddings(
  { inputs }: EmbeddingCall,
  { takes, tasks = {}, nearest = {} }: EmbeddingCapabilities,
  paths: Readonly<Record<EmbeddingField, string>>,
): FieldNote[] {
  const notes: FieldNote[] = [];
  for (const task of new Set(inputs.map(({ settings }) => settings.task))) {
    if (task === undefined || tasks[task] !== undefined) continue;
    const near = nearest[task];
    notes.push(
      near === undefined
        ? { path: paths.task, action: "dropped", reason: `this model does not support the task ${task}` }
        : { path: paths.task, action: "approximated", reason: `this model supports ${near}, not ${task}` },
    );
  }
  const given = {
    title: inputs.some(({ title }) => title !== undefined),
    truncate: inputs.some(({ settings }) => settings.truncate !== undefined),
  };
  for (const field of ["title", "truncate"] as const) {
    if (given[field] && !takes.includes(field))
      notes.push({
        path: paths[field],
        action: "dropped",
        reason: "this model's provider does not support this field",
      });
  }
  return notes;
}

/** The host's name for a task: the same, or the nearest. */
export const taskWord = (
  task: EmbeddingTask | undefined,
  { tasks = {}, nearest = {} }: Pick<EmbeddingCapabilities, "tasks" | "nearest">,
): string | undefined => (task === undefined ? undefined : (tasks[task] ?? nearest[task]));
