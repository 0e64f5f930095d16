import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import type { CanonEvent, WholePart } from "../../../canon/event.ts";
import type { Opaque } from "../../../canon/opaque.ts";
import { requireFewBlocks } from "../../answer/answer-bounds.ts";
import { argumentsText } from "../../answer/arguments-text.ts";
import { isWholePart } from "../../answer/is-whole-part.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import { OWN_ORIGIN, readSignature } from "../signature.ts";
import { decodeAnnotations } from "./annotations.ts";
import { CollectedSteps } from "./collected-steps.ts";
import { CallIds } from "./decode-response.ts";
import { decodeMediaDelta, decodeStep } from "./decode-step.ts";
import { HostedToolUses } from "./hosted-tool-uses.ts";

/** How many characters of a text are kept, because citations count its bytes. */
const MAX_TEXT = 8 * 1024 * 1024;

type OpenStep =
  | { type: "model_output"; block: number | undefined; text: string; annotations: unknown[] }
  | { type: "thought"; block: number | undefined; signature: Opaque | undefined }
  | { type: "function_call"; block: number; hasInput: boolean }
  /** The work of a hosted tool, which is complete when it ends. */
  | { type: "whole"; collected: CollectedSteps };

/** Reads the steps of a stream. Their indices distinguish steps that are open at the same time. */
export class OpenSteps {
  readonly uses = new HostedToolUses();
  readonly #context: DecodeAnswerContext;
  readonly #ids: CallIds;
  readonly #open = new Map<number, OpenStep>();
  #seen = 0;
  #blocks = 0;
  hasCalls = false;

  constructor(context: DecodeAnswerContext) {
    this.#context = context;
    this.#ids = new CallIds(context.makeId);
  }

  /** Something has started for which no event was emitted yet. */
  get holdsBack(): boolean {
    return [...this.#open.values()].some(({ type }) => type === "whole");
  }

  start(index: number, step: JsonObject): CanonEvent[] {
    const before = this.#open.has(index) ? this.stop(index) : [];
    this.#seen++;
    switch (stringAt(step, "type")) {
      case "model_output":
        this.#open.set(index, { type: "model_output", block: undefined, text: "", annotations: [] });
        return [
          ...before,
          ...arrayAt(step, "content").flatMap((content) =>
            isObject(content) ? [...this.delta(index, content), ...this.#annotate(index, content)] : [],
          ),
        ];
      case "thought":
        this.#open.set(index, { type: "thought", block: undefined, signature: this.#signature(step) });
        return [
          ...before,
          ...arrayAt(step, "summary").flatMap((content) => this.delta(index, { type: "thought_summary", content })),
        ];
      case "function_call":
        return [...before, ...this.#startCall(index, step)];
      default: {
        const collected = new CollectedSteps();
        collected.take({ event_type: "step.start", index, step });
        this.#open.set(index, { type: "whole", collected });
        return before;
      }
    }
  }

  /** A delta of a step that never started belongs to nothing and is ignored. */
  delta(index: number, delta: JsonObject): CanonEvent[] {
    const open = this.#open.get(index);
    const type = stringAt(delta, "type");
    switch (open?.type) {
      case "model_output":
        return this.#output(open, type, delta);
      case "thought":
        if (type === "thought_signature") open.signature = this.#signature(delta) ?? open.signature;
        return type === "thought_summary" ? this.#think(open, objectAt(delta, "content")) : [];
      case "function_call":
        return type === "arguments_delta" ? this.#input(open, argumentsText(delta["arguments"])) : [];
      case "whole":
        open.collected.take({ event_type: "step.delta", index, delta });
        return [];
      default:
        return [];
    }
  }

  stop(index: number): CanonEvent[] {
    const open = this.#open.get(index);
    this.#open.delete(index);
    switch (open?.type) {
      case "model_output":
        return this.#endText(open);
      case "thought":
        return this.#endThought(open);
      case "function_call":
        return [...(open.hasInput ? [] : this.#input(open, "{}")), { type: "tool-input-end", block: open.block }];
      case "whole": {
        const step = open.collected.take({ event_type: "step.stop", index });
        return step === undefined ? [] : this.#whole(step);
      }
      default:
        return [];
    }
  }

  /** Hosts may repeat the steps at the end; they count only if none came before. */
  endAll(steps: readonly unknown[]): CanonEvent[] {
    const events = [...this.#open.keys()].flatMap((index) => this.stop(index));
    if (this.#seen > 0) return events;
    for (const [index, step] of steps.entries()) {
      if (isObject(step)) events.push(...this.start(index, step), ...this.stop(index));
    }
    return events;
  }

  #block(): number {
    requireFewBlocks(this.#blocks);
    return this.#blocks++;
  }

  #signature(holder: JsonObject): Opaque | undefined {
    return readSignature(stringAt(holder, "signature"), { origin: this.#context.origin, fromClient: false });
  }

  #output(open: OpenStep & { type: "model_output" }, type: string | undefined, delta: JsonObject): CanonEvent[] {
    if (type === "text") return this.#say(open, stringAt(delta, "text") ?? "");
    if (type === "text_annotation_delta" || type === "text_annotation") {
      open.annotations.push(...arrayAt(delta, "annotations"));
      return [];
    }
    const part = decodeMediaDelta(delta);
    return part === undefined ? [] : [...this.#endText(open), { type: "whole", block: this.#block(), part }];
  }

  /** Content that comes with the start of a step has its annotations inside. */
  #annotate(index: number, content: JsonObject): CanonEvent[] {
    const annotations = arrayAt(content, "annotations");
    return annotations.length === 0 ? [] : this.delta(index, { type: "text_annotation_delta", annotations });
  }

  #say(open: OpenStep & { type: "model_output" }, text: string): CanonEvent[] {
    if (text === "") return [];
    const events: CanonEvent[] = [];
    if (open.block === undefined) {
      open.block = this.#block();
      events.push({ type: "text-start", block: open.block });
    }
    if (open.text.length + text.length <= MAX_TEXT) open.text += text;
    return [...events, { type: "text-delta", block: open.block, text }];
  }

  #endText(open: OpenStep & { type: "model_output" }): CanonEvent[] {
    const { block, text } = open;
    const annotations = open.annotations.splice(0);
    open.block = undefined;
    open.text = "";
    if (block === undefined) return [];
    const cited = decodeAnnotations(annotations, text, this.#context.note);
    return [
      ...cited.map((citation): CanonEvent => ({ type: "citation", block, citation })),
      { type: "text-end", block },
    ];
  }

  #think(open: OpenStep & { type: "thought" }, content: JsonObject | undefined): CanonEvent[] {
    if (content === undefined) return [];
    const text = stringAt(content, "text");
    // An image in a summary only has a meaning in this dialect.
    if (text === undefined) {
      const raw = { type: "thought", summary: [content] };
      return [
        { type: "whole", block: this.#block(), part: { type: "native", dialect: OWN_ORIGIN, name: "thought", raw } },
      ];
    }
    if (text === "") return [];
    return [...this.#startThought(open), { type: "reasoning-delta", block: open.block ?? 0, text }];
  }

  #startThought(open: OpenStep & { type: "thought" }): CanonEvent[] {
    if (open.block !== undefined) return [];
    open.block = this.#block();
    return [{ type: "reasoning-start", block: open.block, summary: true }];
  }

  #endThought(open: OpenStep & { type: "thought" }): CanonEvent[] {
    const { signature } = open;
    if (open.block === undefined && signature === undefined) return [];
    const begun = this.#startThought(open);
    const signed = signature === undefined ? {} : { signature };
    return [...begun, { type: "reasoning-end", block: open.block ?? 0, ...signed }];
  }

  /** The arguments usually follow; at the start they are an empty object. */
  #startCall(index: number, step: JsonObject): CanonEvent[] {
    this.hasCalls = true;
    const block = this.#block();
    const id = this.#ids.take(stringAt(step, "id") ?? "");
    const signature = this.#signature(step);
    const open = { type: "function_call" as const, block, hasInput: false };
    this.#open.set(index, open);
    const name = stringAt(step, "name") ?? "";
    const given = objectAt(step, "arguments");
    const isGiven = given !== undefined && Object.keys(given).length > 0;
    return [
      { type: "tool-input-start", block, id, name, ...(signature === undefined ? {} : { signature }) },
      ...(isGiven ? this.#input(open, argumentsText(given)) : []),
    ];
  }

  #input(open: OpenStep & { type: "function_call" }, text: string): CanonEvent[] {
    if (text === "") return [];
    open.hasInput = true;
    return [{ type: "tool-input-delta", block: open.block, text }];
  }

  #whole(step: JsonObject): CanonEvent[] {
    this.uses.count(step);
    return decodeStep(step, this.#context)
      .filter(isWholePart)
      .map((part: WholePart): CanonEvent => ({ type: "whole", block: this.#block(), part }));
  }
}
