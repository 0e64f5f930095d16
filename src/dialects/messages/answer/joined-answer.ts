import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import { changeValue } from "../../../wire/json-text.ts";
import type { SseFrame } from "../../../wire/sse.ts";
import type { FallbackAnswer } from "../../request/model-fallbacks.ts";

const REFUSAL = "refusal";

/** The counters of one pass in `usage.iterations`. */
const COUNTERS = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "cache_creation",
] as const;

/** How one model's response ended. */
interface Ending {
  usage: JsonObject;
  /** The fields of the end, such as `stop_reason`. */
  delta: JsonObject;
  /** The event that reports it in a stream. */
  event: JsonObject;
}

/**
 * One message out of the responses of several models: what a model wrote before it declined stays, a `fallback` block marks where
 * the next one begins, and `usage.iterations` has the usage of each. The counters of the whole usage are those of the model that
 * answered.
 */
export class JoinedAnswer implements FallbackAnswer {
  /** The model that declined last, as named to the client. */
  #from: string;
  #model = "";
  /** The model whose end was taken last. */
  #answering = "";
  #category: string | null = null;
  #hop = 0;
  #isLast = false;
  #content: unknown[] = [];
  #envelope: JsonObject = {};
  /** The usage of all passes before the current model's. */
  readonly #iterations: JsonObject[] = [];
  #startUsage: JsonObject | undefined;
  #ending: Ending | undefined;
  /** The number of blocks before those of the current model, and after its latest. */
  #base = 0;
  #next = 0;
  readonly #open = new Set<number>();
  #begun = false;
  /** The client has the start of a stream. */
  #started = false;
  declined = false;
  failed = false;

  constructor(requested: string) {
    this.#from = requested;
  }

  next(last: boolean): void {
    this.#isLast = last;
    this.#begun = false;
    this.failed = false;
  }

  block(): void {
    this.declined = true;
  }

  take(answer: JsonObject): void {
    const { content: _content, usage, ...envelope } = answer;
    this.#begin(stringAt(answer, "model") ?? "");
    this.#content.push(...this.#seam(), ...arrayAt(answer, "content"));
    this.#envelope = envelope;
    this.#end({ usage: isObject(usage) ? usage : {}, delta: answer, event: {} });
  }

  finish(unreached: string | undefined): JsonObject {
    const { delta = {}, usage = {} } = this.#ending ?? {};
    return {
      ...this.#envelope,
      content: this.#content,
      ...this.#withRecommendation(delta, unreached),
      usage: this.#hop === 0 ? usage : { ...usage, iterations: this.#allPasses(usage) },
    };
  }

  takeEvent(event: JsonObject, { raw, data }: SseFrame): string {
    switch (stringAt(event, "type")) {
      case "message_start":
        return this.#takeStart(objectAt(event, "message"), raw);
      case "content_block_start":
      case "content_block_delta":
      case "content_block_stop":
        return this.#takeBlock(event, raw, data);
      case "message_delta":
        return this.#takeEnd(event, raw);
      case "message_stop":
        return this.declined ? "" : raw;
      case "error":
        // A model that failed before it answered was not reached.
        if (this.#begun || !this.declined) return raw;
        this.failed = true;
        return "";
      default:
        return raw;
    }
  }

  finishStream(unreached: string | undefined): string {
    if (!this.declined || this.#ending === undefined) return "";
    const { event, delta, usage } = this.#ending;
    const counted = this.#hop === 0 ? usage : { ...usage, iterations: this.#allPasses(usage) };
    const last = { ...delta, ...this.#withRecommendation(delta, unreached) };
    return writeEvent({ ...event, ...endingWith(last, counted) }) + writeEvent({ type: "message_stop" });
  }

  #takeStart(message: JsonObject | undefined, raw: string): string {
    this.#startUsage = objectAt(message, "usage");
    const start = this.#started ? "" : raw;
    this.#started = true;
    this.#begin(stringAt(message, "model") ?? "");
    const [block] = this.#seam();
    if (block === undefined) return start;
    const index = this.#next++;
    this.#base = this.#next;
    return (
      start +
      writeEvent({ type: "content_block_start", index, content_block: block }) +
      writeEvent({ type: "content_block_stop", index })
    );
  }

  #takeBlock(event: JsonObject, raw: string, data = ""): string {
    const index = (numberAt(event, "index") ?? 0) + this.#base;
    if (event["type"] === "content_block_start") this.#open.add(index);
    if (event["type"] === "content_block_stop") this.#open.delete(index);
    this.#next = Math.max(this.#next, index + 1);
    if (this.#base === 0) return raw;
    return `event: ${event["type"]}\ndata: ${changeValue(data, ["index"], () => String(index))}\n\n`;
  }

  #takeEnd(event: JsonObject, raw: string): string {
    const delta = objectAt(event, "delta") ?? {};
    const usage = { ...this.#startUsage, ...objectAt(event, "usage") };
    this.#end({ usage, delta, event });
    if (!this.declined) {
      if (this.#hop === 0) return raw;
      return writeEvent({ ...event, ...endingWith(delta, { ...usage, iterations: this.#allPasses(usage) }) });
    }
    const closed = [...this.#open].map((index) => writeEvent({ type: "content_block_stop", index })).join("");
    this.#open.clear();
    return closed;
  }

  /** A model answers. If the one before declined, its usage becomes a pass of this response. */
  #begin(model: string): void {
    this.#model = model;
    this.#begun = true;
    if (!this.declined) return;
    if (this.#ending !== undefined) this.#iterations.push(...passesOf(this.#ending.usage, this.#answering));
    this.#hop++;
  }

  /** The block between a model that declined and the one that answers; none before the first model. */
  #seam(): JsonObject[] {
    if (!this.declined) return [];
    this.declined = false;
    const block = {
      type: "fallback",
      from: { model: this.#from },
      to: { model: this.#model },
      trigger: { type: REFUSAL, category: this.#category },
    };
    this.#from = this.#model;
    this.#answering = this.#model;
    return [block];
  }

  #end(ending: Ending): void {
    this.#ending = ending;
    this.#answering = this.#model;
    this.declined = stringAt(ending.delta, "stop_reason") === REFUSAL && !this.#isLast;
    this.#category = stringAt(objectAt(ending.delta, "stop_details"), "category") ?? null;
  }

  #allPasses(usage: JsonObject): JsonObject[] {
    const own = passesOf(usage, this.#answering);
    const refused = stringAt(this.#ending?.delta, "stop_reason") === REFUSAL;
    const last = own.at(-1);
    if (last !== undefined && !refused) own[own.length - 1] = { ...last, type: "fallback_message" };
    return [...this.#iterations, ...own];
  }

  #withRecommendation(delta: JsonObject, unreached: string | undefined): JsonObject {
    if (unreached === undefined) return {};
    const details = objectAt(delta, "stop_details") ?? { type: REFUSAL, category: null, explanation: null };
    return { stop_details: { ...details, recommended_model: unreached } };
  }
}

/** Usage is in both places, as in every stream of this protocol (choices 3). */
const endingWith = (delta: JsonObject, usage: JsonObject): JsonObject => ({ delta: { ...delta, usage }, usage });

/** The passes of one model's usage: those that it reports, or the whole as one. */
function passesOf(usage: JsonObject, model: string): JsonObject[] {
  const reported = arrayAt(usage, "iterations").filter(isObject);
  if (reported.length > 0) {
    return reported.map((pass) => (pass["type"] === "message" ? { ...pass, model: pass["model"] ?? model } : pass));
  }
  const counted = COUNTERS.flatMap((name) => (usage[name] === undefined ? [] : [[name, usage[name]]]));
  return [{ type: "message", model, ...Object.fromEntries(counted) }];
}

const writeEvent = (event: JsonObject): string => `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`;
