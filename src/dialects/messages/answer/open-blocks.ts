import { arrayAt, type JsonObject, stringAt } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { requireSmallArguments } from "../../answer/answer-bounds.ts";
import { decodeArguments } from "../../answer/decode-arguments.ts";
import { isWholePart } from "../../answer/is-whole-part.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import { decodeCitation } from "../citations.ts";
import { readOpaque } from "../opaque-values.ts";
import { parseInput } from "../tool-input.ts";
import { decodeAnswerBlock } from "./answer-content.ts";

/** How many characters are held of a block that is reported in one step. No legitimate block comes close. */
const MAX_HELD = 16 * 1024 * 1024;

/** One block of a streamed response, from its start to its end. */
export interface BlockDecoder {
  start(): CanonEvent[];
  /** Throws if the block exceeds its limit. */
  delta(delta: JsonObject | undefined): CanonEvent[];
  end(): CanonEvent[];
  /** No event is emitted for it before its end. */
  readonly silent?: boolean;
  /** A call whose arguments are incomplete so far. */
  readonly isHalfCall?: boolean;
}

/** The error for a call that another block or response interrupted. */
export const HALF_CALL = "The provider started another block before the arguments of a tool call were complete.";

type Kind = "text" | "thinking" | "tool_use";

/** The kind of block that a delta belongs to; undefined if it is empty or unknown. */
function kindOf(delta: JsonObject | undefined): Kind | undefined {
  if (stringAt(delta, "text") || delta?.["citation"] !== undefined) return "text";
  if (stringAt(delta, "thinking") || stringAt(delta, "signature")) return "thinking";
  return stringAt(delta, "partial_json") ? "tool_use" : undefined;
}

/**
 * A block whose deltas are read by their own kind, because hosts send text in a thinking block and the reverse (H47). A delta
 * that does not fit the block is reported as another block, which ends where the next kind begins. `next` numbers it.
 */
export function createBlockDecoder(
  content: JsonObject,
  next: () => number,
  context: DecodeAnswerContext,
): BlockDecoder {
  const type = stringAt(content, "type");
  const own = createOwnDecoder(content, next(), context);
  if (type !== "text" && type !== "thinking" && type !== "tool_use") return own;
  // Thinking stays open, because its signature comes last and covers all of it. A call stays open for its arguments.
  const staysOpen = type !== "text";
  let spoken: { kind: Kind; block: BlockDecoder } | undefined = staysOpen ? undefined : { kind: type, block: own };
  const endSpoken = (): CanonEvent[] => {
    const events = spoken?.block.end() ?? [];
    spoken = undefined;
    return events;
  };
  const speak = (said: Kind, delta: JsonObject | undefined): CanonEvent[] => {
    if (staysOpen && said === type) return [...endSpoken(), ...own.delta(delta)];
    if (spoken?.kind === said) return spoken.block.delta(delta);
    const ended = endSpoken();
    const block = createOwnDecoder({ type: said }, next(), context);
    spoken = { kind: said, block };
    return [...ended, ...block.start(), ...block.delta(delta)];
  };
  return {
    start: () => own.start(),
    delta: (delta) => {
      const said = kindOf(delta);
      if (said === undefined) return [];
      if (said !== "tool_use") return speak(said, delta);
      if (type === "tool_use") return own.delta(delta);
      throw new GatewayError(
        "upstream_failed",
        "The provider sent tool call arguments in a block that is not a tool call.",
      );
    },
    end: () => [...endSpoken(), ...(staysOpen ? own.end() : [])],
    get isHalfCall() {
      return own.isHalfCall === true;
    },
  };
}

function createOwnDecoder(content: JsonObject, block: number, context: DecodeAnswerContext): BlockDecoder {
  switch (content["type"]) {
    case "text":
      return textBlock(content, block, context);
    case "thinking":
      return thinkingBlock(content, block, context);
    case "redacted_thinking":
      return redactedBlock(content, block, context);
    case "tool_use":
      return toolBlock(content, block, context);
    default:
      return wholeBlock(content, block, context);
  }
}

function textBlock(content: JsonObject, block: number, { origin }: DecodeAnswerContext): BlockDecoder {
  const said = (text: string | undefined): CanonEvent[] => (text ? [{ type: "text-delta", block, text }] : []);
  const cited = (value: unknown): CanonEvent[] => {
    const citation = decodeCitation(value, { origin, fromClient: false });
    return citation === undefined ? [] : [{ type: "citation", block, citation }];
  };
  return {
    start: () => [
      { type: "text-start", block },
      ...said(stringAt(content, "text")),
      ...arrayAt(content, "citations").flatMap(cited),
    ],
    delta: (delta) => [...said(stringAt(delta, "text")), ...cited(delta?.["citation"])],
    end: () => [{ type: "text-end", block }],
  };
}

function thinkingBlock(content: JsonObject, block: number, { origin }: DecodeAnswerContext): BlockDecoder {
  let signature = stringAt(content, "signature");
  const thought = (text: string | undefined): CanonEvent[] => (text ? [{ type: "reasoning-delta", block, text }] : []);
  return {
    start: () => [{ type: "reasoning-start", block }, ...thought(stringAt(content, "thinking"))],
    delta: (delta) => {
      signature = stringAt(delta, "signature") ?? signature;
      return thought(stringAt(delta, "thinking"));
    },
    end: () => {
      const opaque = readOpaque(signature, "signature", { origin, fromClient: false });
      return [{ type: "reasoning-end", block, ...(opaque === undefined ? {} : { signature: opaque }) }];
    },
  };
}

function redactedBlock(content: JsonObject, block: number, { origin }: DecodeAnswerContext): BlockDecoder {
  const opaque = readOpaque(stringAt(content, "data"), "redacted", { origin, fromClient: false });
  return {
    start: () => [{ type: "reasoning-start", block }],
    delta: () => [],
    end: () => [{ type: "reasoning-end", block, ...(opaque === undefined ? {} : { signature: opaque }) }],
  };
}

/** The arguments arrive in chunks, complete at the start, or not at all if there are none. */
function toolBlock(content: JsonObject, block: number, { makeId, note }: DecodeAnswerContext): BlockDecoder {
  let input = "";
  const id = stringAt(content, "id") || `toolu_${makeId()}`;
  const name = stringAt(content, "name") ?? "";
  return {
    start: () => [{ type: "tool-input-start", block, id, name }],
    delta: (delta) => {
      const text = stringAt(delta, "partial_json");
      if (!text) return [];
      input += text;
      return [{ type: "tool-input-delta", block, text }];
    },
    end: () => [
      ...(input !== ""
        ? []
        : [{ type: "tool-input-delta" as const, block, text: decodeArguments(content["input"], name, note) }]),
      { type: "tool-input-end", block },
    ],
    get isHalfCall() {
      requireSmallArguments(input);
      return input !== "" && parseInput(input) === undefined;
    },
  };
}

/**
 * A block that is reported in one step when it has ended. Deltas of unknown blocks are merged by the names of their members:
 * strings are appended, and `partial_json` is the input.
 */
function wholeBlock(content: JsonObject, block: number, context: DecodeAnswerContext): BlockDecoder {
  const whole: Record<string, unknown> = { ...content };
  let input = "";
  let held = 0;
  return {
    silent: true,
    start: () => [],
    delta: (delta) => {
      held += sizeOf(delta);
      if (held > MAX_HELD) {
        throw new GatewayError("upstream_failed", "The provider sent a content block that exceeds the size limit.");
      }
      const { type: _type, partial_json, ...members } = delta ?? {};
      if (typeof partial_json === "string") input += partial_json;
      for (const [key, value] of Object.entries(members)) {
        const before = whole[key];
        whole[key] = typeof value === "string" && typeof before === "string" ? before + value : value;
      }
      return [];
    },
    end: () => {
      requireSmallArguments(input);
      if (input !== "") whole["input"] = parseInput(input) ?? {};
      const part = decodeAnswerBlock(whole, context);
      return isWholePart(part) ? [{ type: "whole", block, part }] : [];
    },
  };
}

const sizeOf = (delta: JsonObject | undefined): number =>
  Object.values(delta ?? {}).reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 64), 0);
