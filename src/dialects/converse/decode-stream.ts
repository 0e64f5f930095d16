import { type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { CanonEvent } from "../../canon/event.ts";
import type { Opaque } from "../../canon/opaque.ts";
import type { Stop } from "../../canon/stop.ts";
import { countsNothing, laterUsage, type Usage } from "../../canon/usage.ts";
import type { VaryingPlaces } from "../../wire/frame-template.ts";
import type { SseFrame } from "../../wire/sse.ts";
import { argumentsText } from "../answer/arguments-text.ts";
import { decodeException } from "../answer/framed-exception.ts";
import type { DecodeAnswerContext, StreamDecoder } from "../codec.ts";
import { decodeCitation } from "./citations.ts";
import { brokeOff, stopSequenceOf } from "./decode-response.ts";
import { decodeRedacted } from "./reasoning.ts";
import { decodeStop, isFailureWord } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

/** A block that has begun: its number in the canon, and what its end needs. */
type OpenBlock = { block: number } & (
  | { kind: "text" }
  | { kind: "tool"; empty: boolean }
  | { kind: "reasoning"; signature: string; redacted: string[] }
);

const DELTA_PLACES: VaryingPlaces = {
  texts: [
    ["delta", "text"],
    ["delta", "reasoningContent", "text"],
    ["delta", "toolUse", "input"],
  ],
  padding: [["p"]],
};

/**
 * Only calls are announced; text and reasoning begin with their first delta. `messageStop` and `metadata` end the response, in either
 * order: one has the reason, the other the usage. A stream that is closed after `messageStop` alone is complete, too.
 */
export class ConverseStreamDecoder implements StreamDecoder {
  readonly deltaPlaces = DELTA_PLACES;
  readonly #origin: string;
  /** By the provider's index of the block. */
  readonly #open = new Map<number, OpenBlock>();
  #blocks = 0;
  #stop: { stop: Stop; stopSequence?: string } | undefined;
  /** There was content other than thoughts. */
  #answering = false;
  #metadataSeen = false;
  #usage: Usage | undefined;
  #ended = false;

  constructor({ origin }: DecodeAnswerContext) {
    this.#origin = origin;
  }

  get complete(): boolean {
    return this.#stop !== undefined;
  }

  push({ event, data }: SseFrame): CanonEvent[] {
    if (this.#ended || data === undefined) return [];
    const body = parseObject(data);
    if (body === undefined) return this.#fail("The provider sent an unrecognised event.");
    const index = numberAt(body, "contentBlockIndex") ?? 0;
    switch (event) {
      case "contentBlockStart":
        return this.#start(index, objectAt(objectAt(body, "start"), "toolUse"));
      case "contentBlockDelta":
        return this.#delta(index, objectAt(body, "delta"));
      case "contentBlockStop":
        return this.#endBlock(index);
      case "messageStop": {
        const raw = stringAt(body, "stopReason") ?? "";
        const stopSequence = stopSequenceOf(body);
        this.#stop = {
          stop: decodeStop(raw),
          ...(stopSequence === undefined ? {} : { stopSequence }),
        };
        return this.#metadataSeen ? this.end() : [];
      }
      case "metadata": {
        const reported = decodeUsage(body);
        if (reported !== undefined) this.#usage = laterUsage(this.#usage, reported);
        const events: CanonEvent[] = this.#usage === undefined ? [] : [{ type: "usage", usage: this.#usage }];
        this.#metadataSeen = true;
        return this.complete ? [...events, ...this.end()] : events;
      }
      case "exception":
        this.#ended = true;
        return [{ type: "error", error: decodeException(body) }];
      default:
        return [];
    }
  }

  end(): CanonEvent[] {
    if (this.#ended) return [];
    if (this.#stop === undefined) return this.#fail("The provider closed the stream before the response was complete.");
    const { raw } = this.#stop.stop;
    // If the provider has counted it, it is a response without content, and is billed.
    const counted = this.#usage !== undefined && !countsNothing(this.#usage);
    if (!this.#answering && !counted && isFailureWord(raw)) return this.#fail(brokeOff(raw));
    this.#ended = true;
    return [...[...this.#open.keys()].flatMap((open) => this.#endBlock(open)), { type: "finish", ...this.#stop }];
  }

  #fail(message: string): CanonEvent[] {
    this.#ended = true;
    return [{ type: "error", error: new GatewayError("upstream_failed", message) }];
  }

  #start(index: number, call: JsonObject | undefined): CanonEvent[] {
    if (call === undefined) return [];
    this.#answering = true;
    const before = this.#endBlock(index);
    const block = this.#blocks++;
    this.#open.set(index, { block, kind: "tool", empty: true });
    const id = stringAt(call, "toolUseId") ?? "";
    return [...before, { type: "tool-input-start", block, id, name: stringAt(call, "name") ?? "" }];
  }

  #delta(index: number, delta: JsonObject | undefined): CanonEvent[] {
    const text = stringAt(delta, "text");
    if (text !== undefined) {
      this.#answering ||= text !== "";
      return this.#inText(index, (block) => (text === "" ? [] : [{ type: "text-delta", block, text }]));
    }
    const call = objectAt(delta, "toolUse");
    if (call !== undefined) return this.#callDelta(index, call["input"]);
    const reasoning = objectAt(delta, "reasoningContent");
    if (reasoning !== undefined) return this.#reasoningDelta(index, reasoning);
    const citation = decodeCitation(objectAt(delta, "citation"));
    return citation === undefined ? [] : this.#inText(index, (block) => [{ type: "citation", block, citation }]);
  }

  #inText(index: number, events: (block: number) => CanonEvent[]): CanonEvent[] {
    const open = this.#open.get(index);
    if (open?.kind === "text") return events(open.block);
    const before = this.#endBlock(index);
    const block = this.#blocks++;
    this.#open.set(index, { block, kind: "text" });
    return [...before, { type: "text-start", block }, ...events(block)];
  }

  #callDelta(index: number, input: unknown): CanonEvent[] {
    const open = this.#open.get(index);
    if (open?.kind !== "tool") return this.#fail("The provider sent arguments for a tool call that has not started.");
    const text = argumentsText(input);
    if (text === "") return [];
    open.empty = false;
    return [{ type: "tool-input-delta", block: open.block, text }];
  }

  #reasoningDelta(index: number, delta: JsonObject): CanonEvent[] {
    const events: CanonEvent[] = [];
    let open = this.#open.get(index);
    if (open?.kind !== "reasoning") {
      events.push(...this.#endBlock(index));
      open = { block: this.#blocks++, kind: "reasoning", signature: "", redacted: [] };
      this.#open.set(index, open);
      events.push({ type: "reasoning-start", block: open.block });
    }
    const { block } = open;
    const text = stringAt(delta, "text");
    if (text) events.push({ type: "reasoning-delta", block, text });
    open.signature += stringAt(delta, "signature") ?? "";
    const redacted = stringAt(delta, "redactedContent");
    if (redacted !== undefined) open.redacted.push(redacted);
    return events;
  }

  #endBlock(index: number): CanonEvent[] {
    const open = this.#open.get(index);
    if (open === undefined) return [];
    this.#open.delete(index);
    const { block } = open;
    switch (open.kind) {
      case "text":
        return [{ type: "text-end", block }];
      case "tool":
        // A call without arguments streams none, but a whole response has an empty object.
        return [
          ...(open.empty ? [{ type: "tool-input-delta" as const, block, text: "{}" }] : []),
          { type: "tool-input-end", block },
        ];
      case "reasoning": {
        const signature = this.#signatureOf(open);
        return [{ type: "reasoning-end", block, ...(signature === undefined ? {} : { signature }) }];
      }
    }
  }

  #signatureOf({ signature, redacted }: { signature: string; redacted: string[] }): Opaque | undefined {
    if (redacted.length > 0) {
      const bytes = Buffer.concat(redacted.map((chunk) => Buffer.from(chunk, "base64")));
      return decodeRedacted(bytes.toString("base64"), this.#origin);
    }
    return signature === "" ? undefined : { origin: this.#origin, kind: "signature", value: signature };
  }
}
