import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import type { WebCitation } from "../../../canon/citation.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import type { ReplyPart } from "../../../canon/reply.ts";
import { requireFewBlocks } from "../../answer/answer-bounds.ts";
import { isWholePart } from "../../answer/is-whole-part.ts";
import { citationWithin } from "../../answer/url-citation.ts";
import {
  argumentsOf,
  citationsOf,
  decodeCallHead,
  decodeItem,
  type ItemContext,
  inputOf,
  readAnnotation,
} from "../request/decode-item.ts";
import { decodeSealed, PARAGRAPH, textsOf } from "../request/reasoning.ts";
import { HostedToolUses } from "./hosted-tool-uses.ts";

type Said = "text" | "refusal";
type Thought = "summary" | "content";

/** A block that has begun: its number in the canon, and how much of it was sent. */
interface OpenBlock {
  block: number;
  length: number;
}

interface OpenText extends OpenBlock {
  said: Said;
  citations: WebCitation[];
}

interface OpenThought extends OpenBlock {
  from: Thought;
  /** Which of the item's texts was sent last. */
  at: number;
}

interface OpenItem {
  type: string | undefined;
  id: string | undefined;
  /** By index in the message. */
  texts: Map<number, OpenText>;
  thought?: OpenThought;
  call?: OpenBlock;
}

const CALLS: ReadonlySet<string | undefined> = new Set(["function_call", "custom_tool_call"]);
/** These items are sent while they are generated, all others when they are done. */
const STREAMED: ReadonlySet<string | undefined> = new Set([undefined, "message", "reasoning"]);

/**
 * The items of a streamed response. An item is identified by its output index, because some providers change or omit its id. Without an
 * index it is identified by its id, or else it is the item that was opened last (R21).
 */
export class OpenItems {
  readonly #context: ItemContext;
  readonly #open = new Map<number, OpenItem>();
  readonly #done = new Set<number>();
  /** Output indexes of started items: by id, the first if several share one, and in the order of their start. */
  readonly #placeOf = new Map<string, number>();
  readonly #begun: number[] = [];
  #nextPlace = 0;
  #nextBlock = 0;
  /** A message has had text. */
  #spoke = false;
  hasCalls = false;
  readonly hosted = new HostedToolUses();

  constructor(context: ItemContext) {
    this.#context = context;
  }

  /** Something has begun that no event has announced yet. */
  get holdsBack(): boolean {
    for (const { type, call } of this.#open.values()) if (call === undefined && !STREAMED.has(type)) return true;
    return false;
  }

  added(event: JsonObject): CanonEvent[] {
    const item = objectAt(event, "item") ?? {};
    this.hosted.begin(item);
    const open = this.#begin(numberAt(event, "output_index") ?? this.#nextPlace, item);
    // A call without a name cannot be announced. Its end contains everything.
    return CALLS.has(open.type) && stringAt(item, "name") ? this.#beginCall(open, item) : [];
  }

  text(said: Said, event: JsonObject): CanonEvent[] {
    const open = this.#openItem(event);
    return open === undefined
      ? []
      : this.#say(open.texts, numberAt(event, "content_index") ?? 0, said, stringAt(event, "delta"));
  }

  thought(from: Thought, event: JsonObject): CanonEvent[] {
    const open = this.#openItem(event);
    const at = numberAt(event, from === "summary" ? "summary_index" : "content_index") ?? 0;
    return open === undefined ? [] : this.#think(open, from, at, stringAt(event, "delta") ?? "");
  }

  input(event: JsonObject): CanonEvent[] {
    const call = this.#find(event)?.[1].call;
    const text = stringAt(event, "delta");
    if (call === undefined || !text) return [];
    call.length += text.length;
    return [{ type: "tool-input-delta", block: call.block, text }];
  }

  /** The whole arguments, of which some providers sent no delta (H45). */
  inputDone(event: JsonObject): CanonEvent[] {
    const call = this.#find(event)?.[1].call;
    if (call === undefined) return [];
    const text = rest(argumentsOf(event) || inputOf(event), call.length);
    if (text === "") return [];
    call.length += text.length;
    return [{ type: "tool-input-delta", block: call.block, text }];
  }

  /** A citation waits for the end of its text, because its range may cover the whole text. */
  cite(event: JsonObject): void {
    const citation = readAnnotation(event["annotation"], this.#context.note);
    const text = this.#find(event)?.[1].texts.get(numberAt(event, "content_index") ?? 0);
    if (citation !== undefined) text?.citations.push(citation);
  }

  done(event: JsonObject): CanonEvent[] {
    const item = objectAt(event, "item") ?? {};
    const found = this.#find({ item_id: item["id"], ...event });
    const place = found?.[0] ?? numberAt(event, "output_index") ?? this.#nextPlace;
    return this.#done.has(place) ? [] : this.#end(place, found?.[1], item);
  }

  /** The response is over: sends what its items contain in addition, and ends everything that is open. */
  endAll(output: readonly JsonObject[]): CanonEvent[] {
    const events: CanonEvent[] = [];
    for (const [place, item] of output.entries()) {
      if (!this.#done.has(place)) events.push(...this.#end(place, this.#open.get(place), item));
    }
    for (const [place, open] of this.#open) events.push(...this.#end(place, open, {}));
    return events;
  }

  #begin(place: number, item: JsonObject): OpenItem {
    requireFewBlocks(this.#open.size + 1);
    const open: OpenItem = { type: stringAt(item, "type"), id: stringAt(item, "id"), texts: new Map() };
    if (!this.#open.has(place)) this.#begun.push(place);
    this.#open.set(place, open);
    if (open.id !== undefined && !this.#placeOf.has(open.id)) this.#placeOf.set(open.id, place);
    this.#nextPlace = Math.max(this.#nextPlace, place + 1);
    return open;
  }

  #find(event: JsonObject): [number, OpenItem] | undefined {
    const place = numberAt(event, "output_index");
    if (place !== undefined) {
      const open = this.#open.get(place);
      return open && [place, open];
    }
    const at = this.#placeOf.get(stringAt(event, "item_id") ?? "") ?? this.#lastPlace();
    const open = at === undefined ? undefined : this.#open.get(at);
    return at === undefined || open === undefined ? undefined : [at, open];
  }

  /** The index of the last opened item that has not ended. */
  #lastPlace(): number | undefined {
    for (let last = this.#begun.at(-1); last !== undefined; last = this.#begun.at(-1)) {
      if (this.#open.has(last)) return last;
      this.#begun.pop();
    }
    return undefined;
  }

  /** Some providers do not announce an item before its other events. A finished item stays finished. */
  #openItem(event: JsonObject): OpenItem | undefined {
    const found = this.#find(event);
    if (found !== undefined) return found[1];
    const place = numberAt(event, "output_index") ?? this.#nextPlace;
    return this.#done.has(place) ? undefined : this.#begin(place, { id: event["item_id"] });
  }

  #beginCall(open: OpenItem, item: JsonObject): CanonEvent[] {
    const block = this.#nextBlock++;
    open.call = { block, length: 0 };
    this.hasCalls = true;
    const custom = stringAt(item, "type") === "custom_tool_call" ? { custom: true } : {};
    return [{ type: "tool-input-start", block, ...decodeCallHead(item, this.#context.makeId), ...custom }];
  }

  #say(texts: Map<number, OpenText>, place: number, said: Said, text: string | undefined): CanonEvent[] {
    if (!text) return [];
    const known = texts.get(place);
    const start = known === undefined ? [this.#startOf(said, texts)] : [];
    const part = known ?? { block: this.#nextBlock++, length: 0, said, citations: [] };
    texts.set(place, part);
    part.length += text.length;
    const { block } = part;
    return [...start, { type: `${part.said}-delta`, block, text }];
  }

  /** The start of the next block. Texts of one message continue each other, those of two messages do not. */
  #startOf(said: Said, texts: ReadonlyMap<number, OpenText>): CanonEvent {
    const block = this.#nextBlock;
    if (said === "refusal") return { type: "refusal-start", block };
    const apart = this.#spoke && ![...texts.values()].some((text) => text.said === "text");
    this.#spoke = true;
    return { type: "text-start", block, ...(apart ? { apart } : {}) };
  }

  #think(open: OpenItem, from: Thought, at: number, text: string): CanonEvent[] {
    if (text === "") return [];
    const events: CanonEvent[] = [];
    if (open.thought === undefined) {
      const block = this.#nextBlock++;
      open.thought = { block, length: 0, from, at };
      events.push({ type: "reasoning-start", block, ...(from === "summary" ? { summary: true } : {}) });
    }
    const { thought } = open;
    // Of a thought and its summary, only the one that comes first is sent.
    if (thought.from !== from) return [];
    const told = at === thought.at ? text : PARAGRAPH + text;
    thought.at = at;
    thought.length += told.length;
    return [...events, { type: "reasoning-delta", block: thought.block, text: told }];
  }

  /** The rest of the item's content, and the ends of its blocks. */
  #end(place: number, open: OpenItem | undefined, item: JsonObject): CanonEvent[] {
    this.#open.delete(place);
    if (open?.id !== undefined && this.#placeOf.get(open.id) === place) this.#placeOf.delete(open.id);
    this.#done.add(place);
    this.#nextPlace = Math.max(this.#nextPlace, place + 1);
    const known = open ?? { type: undefined, id: undefined, texts: new Map<number, OpenText>() };
    const type = stringAt(item, "type") ?? known.type;
    if (CALLS.has(type)) return this.#endCall(known, item);
    if (type === "reasoning" || known.thought !== undefined) return this.#endThought(known, item);
    if (type === "message" || known.texts.size > 0) return this.#endMessage(known, item);
    this.hosted.count(item);
    return stringAt(item, "type") === undefined ? [] : this.#tell(decodeItem(item, this.#context));
  }

  #endCall(open: OpenItem, item: JsonObject): CanonEvent[] {
    const events: CanonEvent[] = [];
    if (open.call === undefined) {
      if (!stringAt(item, "name")) return [];
      events.push(...this.#beginCall(open, item));
    }
    if (open.call === undefined) return events;
    const { block, length } = open.call;
    const text = rest(argumentsOf(item) || inputOf(item), length);
    if (text !== "") events.push({ type: "tool-input-delta", block, text });
    return [...events, { type: "tool-input-end", block }];
  }

  #endThought(open: OpenItem, item: JsonObject): CanonEvent[] {
    const whole = textsOf(item["content"]).length > 0 ? "content" : "summary";
    const from = open.thought?.from ?? whole;
    const text = rest(textsOf(item[from]).join(PARAGRAPH), open.thought?.length ?? 0);
    const events = this.#think(open, from, open.thought?.at ?? 0, text);
    const signature = decodeSealed(item, { origin: this.#context.origin, fromClient: false });
    if (open.thought === undefined && signature === undefined) return events;
    const block = open.thought?.block ?? this.#nextBlock++;
    if (open.thought === undefined) events.push({ type: "reasoning-start", block });
    return [...events, { type: "reasoning-end", block, ...(signature === undefined ? {} : { signature }) }];
  }

  #endMessage(open: OpenItem, item: JsonObject): CanonEvent[] {
    const events: CanonEvent[] = [];
    const parts = arrayAt(item, "content").filter(isObject);
    const texts = inPlace(open.texts, parts);
    for (const [place, part] of parts.entries()) {
      const refusal = stringAt(part, "refusal");
      const said: Said = refusal === undefined ? "text" : "refusal";
      const told = texts.get(place)?.length ?? 0;
      events.push(...this.#say(texts, place, said, rest(refusal ?? stringAt(part, "text") ?? "", told)));
      const text = texts.get(place);
      if (text !== undefined && text.citations.length === 0)
        text.citations = citationsOf(part, text.length, this.#context.note);
    }
    for (const text of texts.values()) events.push(...endText(text));
    return events;
  }

  #tell(parts: readonly ReplyPart[]): CanonEvent[] {
    return parts.filter(isWholePart).map((part) => ({ type: "whole", block: this.#nextBlock++, part }));
  }
}

/** Some providers number a text differently from its parts. Then the order counts. */
function inPlace(texts: Map<number, OpenText>, parts: readonly JsonObject[]): Map<number, OpenText> {
  if ([...texts.keys()].every((place) => place < parts.length)) return texts;
  return new Map([...texts.values()].map((text, place) => [place, text]));
}

function endText({ block, length, said, citations }: OpenText): CanonEvent[] {
  if (said === "refusal") return [{ type: "refusal-end", block }];
  const cited = citations.flatMap((citation): CanonEvent[] => {
    const placed = citationWithin(citation, 0, length);
    return placed === undefined ? [] : [{ type: "citation", block, citation: placed }];
  });
  return [...cited, { type: "text-end", block }];
}

/** The rest that was not sent yet. Some providers send everything at the end (R22). */
const rest = (whole: string, told: number): string => (whole.length > told ? whole.slice(told) : "");
