import type { Citation } from "./citation.ts";
import type { GatewayError } from "./error.ts";
import type { Opaque } from "./opaque.ts";
import type { MediaPart, NativePart, ServerToolCallPart, ServerToolResultPart } from "./part.ts";
import type { TokenLogprob } from "./reply.ts";
import type { Stop } from "./stop.ts";
import type { Usage } from "./usage.ts";

/**
 * One step of a streamed response. A block has a number that is unique in its stream, a start, deltas and an end. Blocks may interleave.
 * `whole` is a block in a single step. The last event is exactly one `finish` or `error`.
 *
 * A tool call's signature comes with the start if it is known by then, because some clients show it before the call, otherwise with the
 * end. It never comes with both.
 */
export type CanonEvent =
  | { type: "metadata"; id?: string; created?: number }
  | { type: "text-start"; block: number; apart?: true }
  | { type: "text-delta"; block: number; text: string }
  | { type: "citation"; block: number; citation: Citation }
  | { type: "text-end"; block: number; signature?: Opaque }
  | { type: "reasoning-start"; block: number; summary?: boolean }
  | { type: "reasoning-delta"; block: number; text: string }
  | { type: "reasoning-end"; block: number; signature?: Opaque }
  | { type: "refusal-start"; block: number }
  | { type: "refusal-delta"; block: number; text: string }
  | { type: "refusal-end"; block: number }
  | { type: "tool-input-start"; block: number; id: string; name: string; custom?: boolean; signature?: Opaque }
  | { type: "tool-input-delta"; block: number; text: string }
  | { type: "tool-input-end"; block: number; signature?: Opaque }
  | { type: "whole"; block: number; part: WholePart }
  | { type: "logprobs"; tokens: readonly TokenLogprob[] }
  /** Cumulative: the last one is valid. */
  | { type: "usage"; usage: Usage }
  | { type: "finish"; stop: Stop; stopSequence?: string; stopDetail?: string; stopCategory?: string }
  | { type: "error"; error: GatewayError };

export type WholePart = MediaPart | ServerToolCallPart | ServerToolResultPart | NativePart;

/**
 * Queues an event. A delta that continues the previous one is merged into it, because the whole queue is flushed in one turn of the event
 * loop and a provider may send any number of one-letter deltas (S18).
 */
export function holdEvent(held: CanonEvent[], event: CanonEvent): void {
  const last = held.at(-1);
  if (last !== undefined && "text" in last && "text" in event && last.type === event.type && last.block === event.block)
    held[held.length - 1] = { ...last, text: last.text + event.text };
  else held.push(event);
}
