import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import type { GatewayError } from "../../../canon/error.ts";
import { sumUsage } from "../../../canon/usage.ts";
import type { AskedImage, HostedAnswer, HostedContext, ImageOutcome } from "../../request/hosted-images.ts";
import { FAILURE_CODES } from "./error-words.ts";
import { EventWriter } from "./event-writer.ts";
import { encodeConversation } from "./repeated-state.ts";
import type { StreamPosition } from "./stream-position.ts";
import { decodeUsage, encodeUsage } from "./usage.ts";

/** How many more rounds a model gets after it was told that there are no more images. */
const ROUNDS_AFTER_LIMIT = 1;
const MADE = "The image was made, and the user sees it.";

interface Played extends HostedContext {
  /** The name of the function that replaces the tool. */
  name: string;
  /** The request of the first round. */
  first: JsonObject;
  ask: (call: JsonObject) => AskedImage;
}

/** An image in progress. */
interface PlayedImage extends AskedImage {
  call: JsonObject;
  id: string;
  index: number;
  previews: number;
  result: string;
}

/** Joins the responses of several rounds into one, with images where the model requested them. */
export class HostedImagesAnswer implements HostedAnswer {
  readonly #body: JsonObject;
  readonly #played: Played;
  readonly #events = new EventWriter();
  /** What the client has received. */
  readonly #output: JsonObject[] = [];
  /** The model's items of this round, which it gets back. */
  #said: JsonObject[] = [];
  #asked: PlayedImage[] = [];
  /** Calls of this round that exceed a limit. */
  #refused: { call: JsonObject; reason: string }[] = [];
  #images = 0;
  /** Indexes of this round's items in the whole response. Hidden calls have none. */
  #places = new Map<number, number>();
  #hidden = new Set<number>();
  #last: JsonObject = {};
  #usage: JsonObject | undefined;
  #shell: JsonObject | undefined;
  #round = 1;
  request: JsonObject;

  constructor(body: JsonObject, played: Played) {
    this.#body = body;
    this.#played = played;
    this.request = played.first;
  }

  /** None if the response has failed. */
  get asked(): readonly AskedImage[] {
    return this.#last["status"] === "failed" ? [] : this.#asked;
  }

  get said(): readonly JsonObject[] {
    return this.#said;
  }

  get hasImages(): boolean {
    return this.#output.some(({ type, status }) => type === "image_generation_call" && status === "completed");
  }

  get position(): StreamPosition {
    return { sequence: this.#events.sequence, response: this.#patched({ ...this.#last, output: this.#output }) };
  }

  take(answer: JsonObject): void {
    this.#shell ??= answer;
    for (const item of arrayAt(answer, "output").filter(isObject)) {
      this.#said.push(item);
      if (this.#isPlayed(item)) this.#ask(item);
      else this.#output.push(item);
    }
    this.#end(answer);
  }

  takeEvent(event: JsonObject): string {
    const { type, sequence_number: _number, ...fields } = event;
    const response = objectAt(event, "response");
    if (response !== undefined) return this.#takeResponse(String(type), response);
    const index = numberAt(event, "output_index");
    if (index === undefined) return this.#events.write(String(type), fields);
    const item = objectAt(event, "item");
    if (type === "response.output_item.added" && item !== undefined) this.#open(index, item);
    if (type === "response.output_item.done" && item !== undefined) this.#close(index, item);
    if (this.#hidden.has(index)) return "";
    return this.#events.write(String(type), { ...fields, output_index: this.#places.get(index) ?? index });
  }

  /** Rounds after the first begin and end without events for the client. */
  #takeResponse(type: string, response: JsonObject): string {
    const begins = type === "response.created" || type === "response.in_progress" || type === "response.queued";
    if (begins) {
      this.#shell ??= response;
      return this.#round > 1 ? "" : this.#events.write(type, { response: this.#patched(response) });
    }
    this.#end(response);
    if (type !== "response.failed") return "";
    return this.#events.write(type, { response: this.#patched({ ...response, output: this.#output }) });
  }

  #open(index: number, item: JsonObject): void {
    if (this.#isPlayed(item)) {
      this.#hidden.add(index);
      return;
    }
    this.#places.set(index, this.#output.length);
    this.#output.push(item);
  }

  #close(index: number, item: JsonObject): void {
    this.#said.push(item);
    if (this.#hidden.has(index)) {
      this.#ask(item);
      return;
    }
    const place = this.#places.get(index);
    if (place === undefined) this.#places.set(index, this.#output.push(item) - 1);
    else this.#output[place] = item;
  }

  #isPlayed = (item: JsonObject): boolean =>
    stringAt(item, "type") === "function_call" && stringAt(item, "name") === this.#played.name;

  #ask(call: JsonObject): void {
    const { rounds, images } = this.#played.limits;
    const reason =
      this.#round > rounds
        ? `images were made in ${rounds} rounds of this answer`
        : this.#images >= images
          ? `this answer has ${images} images`
          : undefined;
    if (reason !== undefined) {
      this.#refused.push({ call, reason });
      return;
    }
    this.#images++;
    const { request } = this.#played.ask(call);
    this.#asked.push({ request, call, id: `ig_${this.#played.makeId()}`, index: -1, previews: 0, result: "" });
  }

  #end(answer: JsonObject): void {
    this.#last = answer;
    const [sum, usage] = [decodeUsage(this.#usage), decodeUsage(answer["usage"])];
    if (usage !== undefined) this.#usage = encodeUsage(sum === undefined ? usage : sumUsage(sum, usage));
  }

  beginImage(asked: AskedImage): string {
    const image = this.#imageOf(asked);
    const item = { id: image.id, type: "image_generation_call", status: "in_progress" };
    image.index = this.#output.push(item) - 1;
    const at = { output_index: image.index, item_id: image.id };
    return [
      this.#events.write("response.output_item.added", { output_index: image.index, item }),
      this.#events.write("response.image_generation_call.in_progress", at),
      this.#events.write("response.image_generation_call.generating", at),
    ].join("");
  }

  previewImage(asked: AskedImage, base64: string): string {
    const image = this.#imageOf(asked);
    return this.#events.write("response.image_generation_call.partial_image", {
      output_index: image.index,
      item_id: image.id,
      partial_image_index: image.previews++,
      partial_image_b64: base64,
    });
  }

  endImage(asked: AskedImage, outcome: ImageOutcome): string {
    const image = this.#imageOf(asked);
    const { id, index, request } = image;
    const failed = "error" in outcome;
    image.result = failed ? `The image could not be made: ${outcome.error}` : MADE;
    const item: JsonObject = failed
      ? { id, type: "image_generation_call", status: "failed", result: null }
      : { id, type: "image_generation_call", status: "completed", ...shown(outcome, request) };
    this.#output[index] = item;
    const at = { output_index: index, item_id: id };
    const completed = failed ? "" : this.#events.write("response.image_generation_call.completed", at);
    return completed + this.#events.write("response.output_item.done", { output_index: index, item });
  }

  #imageOf(asked: AskedImage): PlayedImage {
    const image = this.#asked.find((one) => one === asked);
    if (image === undefined) throw new Error("an image that this response did not request");
    return image;
  }

  /** A call of the client's own tools ends the response, because its result comes with the next request. */
  goOn(): boolean {
    const waits = this.#said.some(
      (item) => /^(?:function|custom_tool)_call$/.test(String(item["type"])) && !this.#isPlayed(item),
    );
    if (this.#asked.length + this.#refused.length === 0 || waits || this.#last["status"] !== "completed") return false;
    const { rounds, images } = this.#played.limits;
    // The rounds end, however the model reacts to a refusal.
    if (this.#round >= rounds + ROUNDS_AFTER_LIMIT) return false;
    const results = [
      ...this.#asked.map(({ call, result }) => resultOf(call, result)),
      ...this.#refused.map(({ call, reason }) =>
        resultOf(call, `Error: ${reason}, which is the limit. Go on without further images.`),
      ),
    ];
    const { tool_choice: choice, ...rest } = this.request;
    const input = [...itemsOf(rest["input"]), ...this.#said, ...results];
    this.#round++;
    const tools = arrayAt(rest, "tools");
    const isOver = this.#round > rounds || this.#images >= images;
    const left = isOver ? tools.filter((tool) => stringAt(tool, "name") !== this.#played.name) : tools;
    // A forced call has been made.
    const free = choice === "none" || choice === "auto" ? { tool_choice: choice } : {};
    this.request = { ...rest, ...free, tools: left, input };
    this.#said = [];
    this.#asked = [];
    this.#refused = [];
    this.#places = new Map();
    this.#hidden = new Set();
    return true;
  }

  finish(failure?: GatewayError): { answer: JsonObject; event: string } {
    const made = { ...this.#last, output: this.#output, usage: this.#usage ?? null };
    const answer = this.#patched(failure === undefined ? made : { ...made, ...failed(failure) });
    const status = stringAt(answer, "status") ?? "completed";
    const event = status === "failed" ? "" : this.#events.write(`response.${status}`, { response: answer });
    return { answer, event };
  }

  /** What the response repeats of the request is what the client sent. */
  #patched(response: JsonObject): JsonObject {
    const { answerId } = this.#played;
    const shell = this.#shell ?? {};
    return {
      ...response,
      id: answerId ?? shell["id"],
      created_at: shell["created_at"],
      tools: this.#body["tools"] ?? [],
      tool_choice: this.#body["tool_choice"] ?? "auto",
      previous_response_id: this.#body["previous_response_id"] ?? null,
      store: answerId !== undefined && this.#body["store"] !== false,
      ...encodeConversation(this.#body),
    };
  }
}

const failed = (error: GatewayError): JsonObject => ({
  status: "failed",
  error: { code: error.code ?? FAILURE_CODES[error.kind], message: error.messageWithPath },
});

const resultOf = (call: JsonObject, output: string): JsonObject => ({
  type: "function_call_output",
  call_id: call["call_id"],
  output,
});

const itemsOf = (input: unknown): readonly unknown[] =>
  typeof input === "string" ? [{ type: "message", role: "user", content: input }] : Array.isArray(input) ? input : [];

/** The members that the vendor's item has, as far as the images API reports them. */
function shown({ image, format }: Exclude<ImageOutcome, { error: string }>, request: JsonObject): JsonObject {
  const told = (name: string) => (request[name] === undefined ? {} : { [name]: request[name] });
  return {
    ...told("background"),
    output_format: format ?? request["output_format"] ?? "png",
    ...told("quality"),
    // Images that are too large for the response are returned by URL.
    result: image["b64_json"] ?? image["url"] ?? null,
    revised_prompt: stringAt(image, "revised_prompt") ?? stringAt(request, "prompt") ?? "",
    ...told("size"),
  };
}
