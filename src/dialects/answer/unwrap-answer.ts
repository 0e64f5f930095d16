import { type CanonEvent, holdEvent } from "../../canon/event.ts";
import { fold, unfold } from "../../canon/fold.ts";
import type { CanonReply } from "../../canon/reply.ts";
import { parseInOrder, stringifyInOrder } from "../../wire/ordered-json.ts";
import type { AnswerReading } from "../codec.ts";
import { requireFewBlocks } from "./answer-bounds.ts";

/** Undoes in a stream what a request did for a target without response schemas, or with other rules for names. */
export class AnswerUnwrapper {
  readonly #reading: AnswerReading;
  /** Blocks that are the forced call. */
  readonly #standIns = new Set<number>();
  /** Texts that are read completely before a member is taken out of them. */
  readonly #held = new Map<number, string>();
  /** Text that may or may not be the response, and the events after it. */
  #waiting: CanonEvent[] = [];
  #otherCalls = false;
  #unwrapped = false;

  constructor(reading: AnswerReading) {
    this.#reading = reading;
  }

  push(event: CanonEvent): CanonEvent[] {
    return this.#reportTalk(event)
      .flatMap((one) => this.#asText(one))
      .flatMap((one) => this.#takeMember(one));
  }

  /**
   * A client that requested JSON parses the response text as JSON. If a forced call carries it, text next to the call is
   * commentary and is reported as reasoning. Text without a call is the response itself. Which one it is shows at the first call,
   * or at the end.
   */
  #reportTalk(event: CanonEvent): CanonEvent[] {
    if (this.#reading.structuredTool === undefined) return [event];
    if (this.#unwrapped || this.#otherCalls) return asTalk(event);
    if (event.type === "tool-input-start") return [...this.#takeWaiting().flatMap(asTalk), event];
    if (!("block" in event)) {
      return event.type === "finish" || event.type === "error" ? [...this.#takeWaiting(), event] : [event];
    }
    if (event.type !== "text-start" && this.#waiting.length === 0) return [event];
    holdEvent(this.#waiting, event);
    requireFewBlocks(this.#waiting.length);
    return [];
  }

  #takeWaiting(): CanonEvent[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  #asText(event: CanonEvent): CanonEvent[] {
    const { structuredTool } = this.#reading;
    if (structuredTool === undefined) return [this.#withOwnName(event)];
    if (event.type === "tool-input-start") {
      if (event.name !== structuredTool) {
        this.#otherCalls = true;
        return [this.#withOwnName(event)];
      }
      this.#unwrapped = true;
      this.#standIns.add(event.block);
      return [{ type: "text-start", block: event.block }];
    }
    if (event.type === "tool-input-delta" && this.#standIns.has(event.block)) return [{ ...event, type: "text-delta" }];
    if (event.type === "tool-input-end" && this.#standIns.has(event.block)) {
      return [{ type: "text-end", block: event.block }];
    }
    if (event.type === "finish" && event.stop.unified === "tool" && this.#unwrapped && !this.#otherCalls) {
      return [{ ...event, stop: { unified: "stop", raw: event.stop.raw } }];
    }
    return [event];
  }

  #withOwnName(event: CanonEvent): CanonEvent {
    const { toolNames } = this.#reading;
    if (event.type !== "tool-input-start" || toolNames === undefined || !Object.hasOwn(toolNames, event.name))
      return event;
    return { ...event, name: toolNames[event.name] ?? event.name };
  }

  #takeMember(event: CanonEvent): CanonEvent[] {
    const { unwrapMember, unquoteMember = false, structuredTool } = this.#reading;
    if (unwrapMember === undefined) return [event];
    // If a forced call should have carried the response, the model's text is not changed.
    const concerns = (block: number) => structuredTool === undefined || this.#standIns.has(block);
    if (event.type === "text-start" && concerns(event.block)) this.#held.set(event.block, "");
    if (!("block" in event) || !this.#held.has(event.block)) return [event];
    if (event.type === "text-delta") {
      this.#held.set(event.block, (this.#held.get(event.block) ?? "") + event.text);
      return [];
    }
    if (event.type !== "text-end") return [event];
    const text = memberOf(this.#held.get(event.block) ?? "", unwrapMember, unquoteMember);
    this.#held.delete(event.block);
    return [...(text === "" ? [] : [{ type: "text-delta" as const, block: event.block, text }]), event];
  }
}

/** As reasoning, the commentary is unsigned and has no citations. */
function asTalk(event: CanonEvent): CanonEvent[] {
  switch (event.type) {
    case "text-start":
      return [{ type: "reasoning-start", block: event.block }];
    case "text-delta":
      return [{ ...event, type: "reasoning-delta" }];
    case "text-end":
      return [{ type: "reasoning-end", block: event.block }];
    case "citation":
      return [];
    default:
      return [event];
  }
}

export function unwrapReply(reply: CanonReply, reading: AnswerReading): CanonReply {
  if (Object.keys(reading).length === 0) return reply;
  const unwrapper = new AnswerUnwrapper(reading);
  return fold([...unfold(reply)].flatMap((event) => unwrapper.push(event)));
}

/** The text of the member: a string without its quotes, anything else as JSON. Text of another form is not changed. */
function memberOf(text: string, member: string, unquote: boolean): string {
  try {
    const value = (parseInOrder(text) as Record<string, unknown> | null)?.[member];
    if (value === undefined) return text;
    return unquote && typeof value === "string" ? value : stringifyInOrder(value);
  } catch {
    // Truncated, or not JSON: the client gets the model's text.
    return text;
  }
}
