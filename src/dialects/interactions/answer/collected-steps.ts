import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import { parseArguments } from "../../genai/arguments.ts";

/** How many characters of deltas are collected. A longer response is not stored. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

interface CollectedStep {
  step: Record<string, unknown>;
  /** The arguments of a call so far, which arrive as text. */
  input: string;
}

/** Assembles the steps of a response from the events of its stream, because the last event does not repeat them. */
export class CollectedSteps {
  readonly #steps = new Map<number, CollectedStep>();
  #characters = 0;

  /** More was sent than is collected. */
  get overflowed(): boolean {
    return this.#characters > MAX_CHARACTERS;
  }

  /** The index of the next step. */
  next = 0;

  /** The steps in order. */
  get steps(): JsonObject[] {
    return [...this.#steps.entries()].sort(([one], [other]) => one - other).map(([, { step }]) => step);
  }

  /** The client knows the step by another index. */
  move(from: number, to: number): void {
    const moved = this.#steps.get(from);
    this.#steps.delete(from);
    if (moved !== undefined) this.#steps.set(to, moved);
  }

  /** Takes an event. Returns the step that it ended. */
  take(event: JsonObject): JsonObject | undefined {
    const index = numberAt(event, "index");
    if (index === undefined) return undefined;
    if (event["event_type"] === "step.start") {
      this.#steps.set(index, { step: copied(objectAt(event, "step")), input: "" });
      this.next = Math.max(this.next, index + 1);
      return undefined;
    }
    const collected = this.#steps.get(index);
    if (collected === undefined) return undefined;
    if (event["event_type"] === "step.stop") return finished(collected);
    const delta = objectAt(event, "delta");
    if (delta !== undefined) this.#add(collected, delta);
    return undefined;
  }

  #add(collected: CollectedStep, delta: JsonObject): void {
    const { step } = collected;
    const { type, ...members } = delta;
    this.#characters += charactersOf(delta);
    if (this.overflowed) return;
    switch (type) {
      case "text":
        appendText(step, "content", delta);
        return;
      case "text_annotation_delta":
        annotate(step, arrayAt(delta, "annotations"));
        return;
      case "thought_summary": {
        const content = objectAt(delta, "content");
        if (content !== undefined) appendText(step, "summary", content);
        return;
      }
      case "thought_signature":
        step["signature"] = members["signature"];
        return;
      case "arguments_delta":
        collected.input += stringAt(delta, "arguments") ?? "";
        return;
      case "image":
      case "audio":
      case "video":
      case "document":
        listOf(step, "content").push(delta);
        return;
      default:
        // The work of a hosted tool: its members arrive as a whole.
        Object.assign(step, members);
    }
  }
}

const charactersOf = (delta: JsonObject): number =>
  (stringAt(delta, "text") ?? stringAt(delta, "data") ?? stringAt(delta, "arguments") ?? "").length +
  (stringAt(delta["content"], "text") ?? "").length;

const LISTS = ["content", "summary"] as const;
type Step = CollectedStep["step"];

/** The event may be needed unchanged, so its lists are not extended. */
function copied(step: JsonObject | undefined): Step {
  const copy: Step = { ...step };
  for (const list of LISTS) if (Array.isArray(copy[list])) copy[list] = [...arrayAt(copy, list)];
  return copy;
}

function listOf(step: Step, member: (typeof LISTS)[number]): unknown[] {
  if (!Array.isArray(step[member])) step[member] = [];
  return step[member] as unknown[];
}

/** Text continues the text before it; anything else follows it. */
function appendText(step: Step, member: (typeof LISTS)[number], content: JsonObject): void {
  const list = listOf(step, member);
  const last = list.at(-1);
  const text = stringAt(content, "text");
  if (text !== undefined && isObject(last) && last["type"] === "text" && last["annotations"] === undefined) {
    list[list.length - 1] = { ...last, text: `${stringAt(last, "text") ?? ""}${text}` };
  } else list.push(text === undefined ? content : { type: "text", text });
}

function annotate(step: Step, annotations: readonly unknown[]): void {
  const content = listOf(step, "content");
  const last = content.at(-1);
  if (!isObject(last) || last["type"] !== "text") return;
  content[content.length - 1] = { ...last, annotations: [...arrayAt(last, "annotations"), ...annotations] };
}

function finished({ step, input }: CollectedStep): JsonObject {
  if (input !== "") step["arguments"] = parseArguments(input) ?? {};
  return step;
}
