import { type JsonObject, numberAt, objectAt } from "../../../base/json.ts";
import { textWeight } from "../../../base/text-weight.ts";
import { WEB_SEARCH } from "../../../canon/billable.ts";
import type { Citation } from "../../../canon/citation.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import type { Opaque } from "../../../canon/opaque.ts";
import type { ServerToolCallPart, ServerToolResultPart } from "../../../canon/part.ts";
import type { TokenLogprob } from "../../../canon/reply.ts";
import type { DeltaForm } from "../../answer/delta-form.ts";
import type { EncodeAnswerContext } from "../../codec.ts";
import type { CarrierPosition } from "../../request/carriers.ts";
import { omitMedia } from "../../request/omit-media.ts";
import { sayNative } from "../../request/say-native.ts";
import { carrierItem, type ItemStatus, imageItem, nativeItem, searchItem, UNSIGNED } from "./answer-items.ts";
import { BuiltInCallWriter } from "./built-in-call-writer.ts";
import { CallNames, CallWriter } from "./call-writer.ts";
import type { EventWriter } from "./event-writer.ts";
import { FollowedItems } from "./followed-items.ts";
import { MessageWriter } from "./message-writer.ts";
import { type ItemPlace, itemAdded, itemDone, type OpenItem } from "./open-item.ts";
import { ThoughtWriter } from "./thought-writer.ts";

export type BlockEvent = Extract<CanonEvent, { block: number }>;

/**
 * Writes the blocks of a response as items, one after the other. An item is closed when the next begins or the response ends, because only
 * then it is known whether more text follows and whether it was cut off.
 */
export class ItemWriter {
  /** The finished items. */
  readonly output: JsonObject[] = [];
  /** The weight of the generated text, for an estimate if the upstream reports no usage. */
  characters = 0;
  /** The common part of all item ids, so that a continuation generates the same ones (R29). */
  idBase = "";
  /** For a stream that another writer sends. */
  readonly followed = new FollowedItems();
  readonly #events: EventWriter;
  readonly #context: EncodeAnswerContext;
  readonly #names: CallNames;
  #open: OpenItem | undefined;
  #textStart = 0;
  #citations: Citation[] = [];
  #logprobs: TokenLogprob[] = [];
  /** A search whose result may follow. */
  #search: ServerToolCallPart | undefined;

  constructor(events: EventWriter, context: EncodeAnswerContext) {
    this.#events = events;
    this.#context = context;
    this.#names = new CallNames(context.request);
  }

  /** An event that another writer sent to the client. A finished item is stored as sent, even if it is empty here. */
  follow(event: JsonObject): void {
    this.followed.follow(event, this.#open instanceof MessageWriter ? this.#open.at : undefined);
    const place = numberAt(event, "output_index");
    const item = event["type"] === "response.output_item.done" ? objectAt(event, "item") : undefined;
    if (item === undefined || place === undefined) return;
    // The end written here was never sent.
    this.finish("completed");
    if (place <= this.output.length) this.output[place] = item;
  }

  push(event: BlockEvent): string {
    if ("text" in event) this.characters += textWeight(event.text);
    const isResult = event.type === "whole" && event.part.type === "server-tool-result";
    const searched = isResult ? "" : this.#endSearch();
    return searched + this.#write(event);
  }

  #write(event: BlockEvent): string {
    switch (event.type) {
      case "text-start": {
        const closed = event.apart && this.#open instanceof MessageWriter ? this.#close("completed") : "";
        this.#textStart = this.#open instanceof MessageWriter ? this.#open.textLength : 0;
        return closed;
      }
      case "text-delta":
        return event.text === "" ? "" : this.#say("text", event.text);
      case "citation":
        this.#citations.push(event.citation);
        return "";
      case "text-end":
        return this.#endText(event.signature);
      case "refusal-delta":
        return event.text === "" ? "" : this.#say("refusal", event.text);
      case "refusal-start":
      case "refusal-end":
        return "";
      case "reasoning-start":
        return this.#close("completed");
      case "reasoning-delta":
        if (event.text === "") return "";
        return this.#in(ThoughtWriter, "rs", (thought) => thought.think(event.text));
      case "reasoning-end":
        return this.#endThought(event.signature);
      case "tool-input-start":
        return this.#beginCall(event);
      case "tool-input-delta":
        return this.#open instanceof CallWriter || this.#open instanceof BuiltInCallWriter
          ? this.#open.input(event.text)
          : "";
      case "tool-input-end":
        return event.signature === undefined ? "" : this.#carry("call", event.signature);
      case "whole":
        return this.#whole(event.part);
      default:
        return event satisfies never;
    }
  }

  /** How more of the open item is written. */
  get form(): DeltaForm | undefined {
    return this.#open?.form;
  }

  addLogprobs(tokens: readonly TokenLogprob[]): void {
    if (this.#open instanceof MessageWriter) this.#open.addLogprobs(tokens);
    else this.#logprobs.push(...tokens);
  }

  /** `status`: whether the last item is complete. */
  finish(status: ItemStatus): string {
    return this.#endSearch() + this.#close(status);
  }

  #say(kind: "text" | "refusal", text: string): string {
    return this.#in(MessageWriter, "msg", (message) => {
      if (this.#logprobs.length > 0) message.addLogprobs(this.#logprobs.splice(0));
      return message.say(kind, text);
    });
  }

  #endText(signature: Opaque | undefined): string {
    const citations = this.#citations.splice(0);
    const message = this.#open instanceof MessageWriter ? this.#open : undefined;
    const cited = message === undefined ? "" : message.cite(citations, this.#textStart, this.#context.note);
    if (signature === undefined) return cited;
    const said = message !== undefined && message.textLength > this.#textStart;
    return cited + this.#carry(said ? "text" : "empty-text", signature);
  }

  #endThought(signed: Opaque | undefined): string {
    const said = this.#open instanceof ThoughtWriter;
    const signature = signed ?? (said && this.#context.unsignedComesBack ? UNSIGNED : undefined);
    if (signature === undefined) return "";
    return this.#in(ThoughtWriter, "rs", (thought) => {
      thought.signature = signature;
      return "";
    });
  }

  #beginCall({ id: callId, name, custom, signature }: Extract<BlockEvent, { type: "tool-input-start" }>): string {
    const before = this.#close("completed") + (signature === undefined ? "" : this.#carry("next-call", signature));
    const { builtIn, ...tool } = this.#names.toolOf(name);
    if (builtIn !== undefined) {
      const call = new BuiltInCallWriter(this.#place(builtIn.prefix), builtIn, callId);
      this.#open = call;
      return before + call.begin();
    }
    const isCustom = custom === true || tool.custom;
    const place = this.#place(isCustom ? "ctc" : "fc");
    const called = { ...tool, id: place.id, callId, custom: isCustom };
    const call = new CallWriter(place, called, isCustom && custom !== true);
    this.#open = call;
    return before + call.begin();
  }

  #whole(part: Extract<BlockEvent, { type: "whole" }>["part"]): string {
    switch (part.type) {
      case "native": {
        const carried = this.#add("rs", (id) => nativeItem(id, part));
        const text = part.dialect === "responses" ? "" : sayNative(part, this.#context.note);
        return text === "" ? carried : carried + this.#say("text", text);
      }
      case "server-tool-call":
        if (part.name === WEB_SEARCH) this.#search = part;
        return this.#close("completed");
      case "server-tool-result":
        return this.#endSearch(part);
      case "media": {
        if (imageItem("", part) === undefined) return this.#say("text", omitMedia(part, this.#context.note));
        return this.#add("ig", (id) => imageItem(id, part) ?? {});
      }
      default:
        return part satisfies never;
    }
  }

  /** A search is sent as a whole, with its queries and results. */
  #endSearch(found?: ServerToolResultPart): string {
    const call = this.#search;
    if (call === undefined) return "";
    this.#search = undefined;
    const closed = this.#close("completed");
    const place = this.#place("ws");
    const item = searchItem(place.id, call, found);
    const at = { item_id: place.id, output_index: place.index };
    const step = (name: string) => this.#events.write(`response.web_search_call.${name}`, at);
    const added = itemAdded(place, { ...item, status: "in_progress" });
    const text = closed + added + step("in_progress") + step("searching") + step("completed");
    this.output.push(item);
    return text + itemDone(place, item);
  }

  #carry(position: CarrierPosition, signature: Opaque): string {
    return this.#add("rs", (id) => carrierItem(id, { position, signature }));
  }

  /** Adds an item in one step. */
  #add(prefix: string, make: (id: string) => JsonObject): string {
    const closed = this.#close("completed");
    const place = this.#place(prefix);
    const item = make(place.id);
    const text = closed + itemAdded(place, item) + itemDone(place, item);
    this.output.push(item);
    return text;
  }

  /** Continues the open item if it is of this kind, or begins one. */
  #in<T extends OpenItem>(Writer: new (place: ItemPlace) => T, prefix: string, write: (item: T) => string): string {
    if (this.#open instanceof Writer) return write(this.#open);
    const closed = this.#close("completed");
    const item = new Writer(this.#place(prefix));
    this.#open = item;
    return closed + write(item);
  }

  #place(prefix: string): ItemPlace {
    const index = this.output.length;
    const id = this.followed.idAt(index) ?? `${prefix}_${this.idBase}${index.toString(36).padStart(3, "0")}`;
    return { events: this.#events, index, id };
  }

  #close(status: ItemStatus): string {
    const open = this.#open;
    if (open === undefined) return "";
    this.#open = undefined;
    const { text, item } = open.close(status);
    this.output.push(item);
    return text;
  }
}
