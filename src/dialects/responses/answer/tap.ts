import type { ByteBuffer } from "../../../base/byte-buffer.ts";
import { arrayAt, type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import { eventWeight } from "../../../base/text-weight.ts";
import { GatewayError } from "../../../canon/error.ts";
import { reportModel, reportTerms } from "../../../canon/terms.ts";
import type { Usage } from "../../../canon/usage.ts";
import { findOnlyString } from "../../../wire/edit-body.ts";
import { FrameTemplate, type VaryingPlaces } from "../../../wire/frame-template.ts";
import { changeValue, ObjectEdit } from "../../../wire/json-text.ts";
import { endOfEvent, type SseFrame } from "../../../wire/sse.ts";
import { viewedBytes } from "../../../wire/viewed-bytes.ts";
import { decodeErrorObject } from "../../answer/error-object.ts";
import { TapBase } from "../../answer/tap-base.ts";
import type { NativeAnswerContext, TapProgress } from "../../dialect.ts";
import { itemWeight } from "../estimate.ts";
import { clientFields, endedFields, isCall } from "../native.ts";
import { OWN_ORIGIN } from "../request/reasoning.ts";
import { failureIn } from "./decode-response.ts";
import { HostedToolUses } from "./hosted-tool-uses.ts";
import { ItemIds } from "./item-ids.ts";
import { learnSealed } from "./sealed-reasoning.ts";
import { decodeStop } from "./stop-reason.ts";
import type { StreamPosition } from "./stream-position.ts";
import { decodeUsage } from "./usage.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const CR = 0x0d;

/** How many characters of finished items are buffered, for providers that omit them from the last event. */
const MAX_KEPT = 16 * 1024 * 1024;

const PLACES: VaryingPlaces = {
  texts: [["delta"]],
  numbers: [["sequence_number"]],
  padding: [["obfuscation"]],
  verbatim: true,
};

const ITEMS_OF_WORDS: ReadonlySet<string | undefined> = new Set(["message", "reasoning"]);

/** Reads a stream as it passes. Ordinary deltas are recognised by their bytes and need no changes (decision 0004). */
export class ResponsesTap extends TapBase {
  readonly #context: NativeAnswerContext;
  /** Of the deltas of the item that was written last. */
  #template: FrameTemplate | undefined;
  /** A delta from which the template is learned when the next event arrives, so that it does not delay this one. */
  #lesson: { frame: SseFrame; delta: string } | undefined;
  readonly #ids = new ItemIds();
  /** The called functions, by the index of their items. */
  readonly #called = new Map<number, string>();
  /** The finished items. */
  readonly #items: JsonObject[] = [];
  #keptCharacters = 0;
  #doneWeight = 0;
  #begun = false;
  #hasCalls = false;
  readonly #hosted = new HostedToolUses();
  /** The number of the next event. The client's numbers have no gaps, whatever was left out (R20). */
  #sequence = 0;
  /** The provider's numbers are also the client's. */
  #numbered = true;
  #response: JsonObject = {};

  constructor(context: NativeAnswerContext) {
    super();
    this.#context = context;
  }

  override get usage(): Usage | undefined {
    return this.#hosted.addTo(this.usageSeen);
  }

  /** For an error that ends the stream. */
  get position(): StreamPosition {
    return { sequence: this.#sequence, response: this.#response };
  }

  override push(events: Uint8Array, output: ByteBuffer): TapProgress {
    if (events.includes(CR)) {
      output.putText(this.pushCarefully(decoder.decode(events)));
      return this;
    }
    const { bytes, view } = viewedBytes(events);
    for (let at = 0; at < events.length && !this.failure && this.state !== "ended"; ) {
      const end = this.#passRun(bytes, view, at, output);
      if (end > at) {
        at = end;
        continue;
      }
      const next = endOfEvent(events, at);
      output.putText(this.pushCarefully(bytes.toString("utf8", at, next)));
      at = next;
    }
    return this;
  }

  /** Passes a run of consecutive deltas unchanged. Returns where the run ends. */
  #passRun(events: Buffer, view: DataView, at: number, output: ByteBuffer): number {
    if (this.#lesson !== undefined) this.#learn(this.#lesson);
    const template = this.#template;
    if (template === undefined || !this.#numbered || this.#ids.fresh || this.#ids.changing) return at;
    let from = at;
    for (let end = template.match(view, from); end >= 0; end = template.match(view, from)) {
      this.#sequence++;
      this.generatedCharacters += template.weight;
      from = end;
    }
    if (from === at) return at;
    output.reserve(from - at);
    output.putPart(events, at, from);
    return from;
  }

  protected frame(frame: SseFrame): string {
    if (frame.data === undefined) return frame.raw;
    if (frame.data === "[DONE]") return "";
    const event = parseObject(frame.data);
    const type = stringAt(event, "type") ?? frame.event;
    if (!event || type === undefined) {
      this.failure = new GatewayError("upstream_failed", "The provider sent an unrecognised event.");
      return "";
    }
    if (type === "error") {
      this.failure = decodeErrorObject(event, 200);
      return "";
    }
    // Keep-alives of the provider or of proxies, some of which are numbered.
    if (!type.startsWith("response.")) {
      if ("sequence_number" in event) this.#numbered = false;
      return "";
    }
    const places = this.#ids.missingPlaces(event, type);
    const placed = this.#ids.changing ? { ...event, ...places } : event;
    const data = this.#patch(withPlaces(frame.data, places), placed, type);
    if (data === undefined) return "";
    const numbered = this.#number(this.#ids.restore(data, placed, type), event);
    const isUnchanged = numbered === frame.data && frame.event === type;
    const delta = isUnchanged && type.endsWith(".delta") ? stringAt(event, "delta") : undefined;
    if (this.contentSeen && delta !== undefined) this.#lesson = { frame, delta };
    return isUnchanged ? frame.raw : `event: ${type}\ndata: ${numbered}\n\n`;
  }

  #learn({ frame, delta }: { frame: SseFrame; delta: string }): void {
    this.#lesson = undefined;
    this.#template = FrameTemplate.learn(frame, PLACES, delta);
  }

  #number(data: string, event: JsonObject): string {
    const number = this.#sequence++;
    this.#numbered = numberAt(event, "sequence_number") === number;
    return this.#numbered ? data : new ObjectEdit(data).set("sequence_number", String(number)).toString();
  }

  #patch(data: string, event: JsonObject, type: string): string | undefined {
    const response = objectAt(event, "response");
    switch (type) {
      case "response.created":
        // A repeated start.
        if (this.#begun) return undefined;
        this.#begun = true;
        return this.#begin(data, response ?? {});
      case "response.in_progress":
      case "response.queued":
        return this.#begin(data, response ?? {});
      case "response.output_item.added":
        this.#ids.announce(event);
        this.#added(objectAt(event, "item"), numberAt(event, "output_index") ?? -1);
        return data;
      case "response.function_call_arguments.done":
        return this.#nameCall(data, event);
      case "response.output_item.done":
        this.#done(objectAt(event, "item"), numberAt(event, "output_index") ?? -1, data.length);
        return data;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        return this.#end(data, { status: type.slice("response.".length), ...response });
      default:
        if (type.endsWith(".delta")) this.#count(type, stringAt(event, "delta") ?? "");
        else this.#hosted.follow(type);
        return data;
    }
  }

  #begin(data: string, response: JsonObject): string {
    const fields = clientFields({ ...response, id: this.#response["id"] ?? response["id"] }, this.#context);
    this.#response = { ...response, ...fields };
    return withFields(data, fields);
  }

  /** The vendor's schema requires the name here, and no provider sends it (R22). */
  #nameCall(data: string, event: JsonObject): string {
    const name = this.#called.get(numberAt(event, "output_index") ?? -1);
    if (name === undefined || event["name"] !== undefined) return data;
    return new ObjectEdit(data).set("name", JSON.stringify(name)).toString();
  }

  #added(item: JsonObject | undefined, place: number): void {
    this.#hosted.begin(item);
    const type = stringAt(item, "type");
    const name = type === "function_call" ? stringAt(item, "name") : undefined;
    if (name) this.#called.set(place, name);
    if (type === "reasoning") this.reasoningSeen = true;
    // A message or thought that is only announced has no content. Until it does, another offer can still answer.
    if (!ITEMS_OF_WORDS.has(type)) this.contentSeen = true;
  }

  #done(item: JsonObject | undefined, place: number, characters: number): void {
    if (item === undefined) return;
    if (isCall(item)) this.#hasCalls = true;
    this.#hosted.count(item);
    this.#learnSealed([item]);
    this.contentSeen = true;
    this.#doneWeight += itemWeight(item);
    this.#countDone(this.#doneWeight);
    this.#keptCharacters += characters;
    if (this.#keptCharacters <= MAX_KEPT) this.#items.push(this.#ids.named(item, place));
  }

  /** The vendor encrypts a thought again for the last event, and accepts either value. */
  #learnSealed(items: readonly unknown[]): void {
    learnSealed(items, this.#context.origin ?? OWN_ORIGIN, this.#context.sealed);
  }

  #count(type: string, text: string): void {
    if (text === "") return;
    if (type.startsWith("response.reasoning")) this.reasoningSeen = true;
    this.generatedCharacters += eventWeight(text);
    this.contentSeen = true;
  }

  /** Some providers send whole items without deltas, or only the whole response (R22). */
  #countDone(weight: number): void {
    this.generatedCharacters = Math.max(this.generatedCharacters, weight);
  }

  /** The whole response, with items that some providers omit here (R2, R3). */
  #end(data: string, response: JsonObject): string | undefined {
    // A failed response may have a usage, which is billed.
    this.report(decodeUsage(response["usage"]));
    this.#hosted.report(response);
    this.failure = failureIn(response);
    if (this.failure) return undefined;
    const given = arrayAt(response, "output");
    if (this.#keptCharacters === 0) for (const item of given) this.#hosted.count(item);
    this.#countDone(given.reduce<number>((sum, item) => sum + itemWeight(item), 0));
    const named = { ...response, id: this.#response["id"] ?? response["id"] };
    const fields = endedFields(named, this.#context, () => this.generatedCharacters);
    const items = given.length === 0 && this.#keptCharacters <= MAX_KEPT ? this.#items : this.#ids.renamed(given);
    this.#learnSealed(given);
    reportModel(this.#context.served, response["model"]);
    reportTerms(this.#context.served, response["service_tier"]);
    this.stop = decodeStop(response, this.#hasCalls || given.some(isCall));
    this.state = "ended";
    const output = items === undefined || items.length === 0 ? {} : { output: items };
    this.#context.keep?.({ ...response, ...fields, ...output });
    return withFields(data, { ...fields, ...output });
  }
}

function withPlaces(data: string, places: Readonly<Record<string, number>>): string {
  const missing = Object.entries(places);
  if (missing.length === 0) return data;
  const edit = new ObjectEdit(data);
  for (const [name, place] of missing) edit.set(name, String(place));
  return edit.toString();
}

/** Usually only the model's name changes, which a string search finds. */
function withFields(data: string, fields: JsonObject): string {
  const model = Object.keys(fields).length === 1 ? findOnlyString(data, "model") : undefined;
  if (model !== undefined) return data.slice(0, model.start) + JSON.stringify(fields["model"]) + data.slice(model.end);
  return changeValue(data, ["response"], (value) => {
    const edit = new ObjectEdit(value);
    for (const [key, field] of Object.entries(fields)) edit.set(key, JSON.stringify(field));
    return edit.toString();
  });
}
