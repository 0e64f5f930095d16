import type { ByteBuffer } from "../../../base/byte-buffer.ts";
import { isObject, type JsonObject, objectAt } from "../../../base/json.ts";
import { findOnlyString } from "../../../wire/edit-body.ts";
import { FrameTemplate, type VaryingPlaces } from "../../../wire/frame-template.ts";
import { findValue } from "../../../wire/json-text.ts";
import type { SseFrame } from "../../../wire/sse.ts";

/** The members of a delta that carry generated text and nothing else. */
const TEXT_KEYS = ["content", "reasoning_content", "reasoning"] as const;
const TWIN: Readonly<Record<string, string>> = { reasoning: "reasoning_content", reasoning_content: "reasoning" };

/**
 * Patches the ordinary chunks of one stream without parsing them: the client's model replaces the provider's, and reasoning is repeated
 * under its other name. All bytes from the text on are copied.
 */
export class ChunkTemplate {
  readonly #template: FrameTemplate;
  /** Up to and including the quote that opens the text, as the client sees it. */
  readonly #clientHead: Buffer;
  /** Between the text and its repetition under the field's other name; undefined where there is none. */
  readonly #clientTwin: Buffer | undefined;
  readonly #hide: boolean;
  /** The weight of the text in the last run. */
  characters = 0;

  private constructor(template: FrameTemplate, clientHead: string, clientTwin: string | undefined, hide: boolean) {
    this.#template = template;
    this.#clientHead = Buffer.from(clientHead);
    this.#clientTwin = clientTwin === undefined ? undefined : Buffer.from(clientTwin);
    this.#hide = hide;
  }

  /** Learns from an event that was parsed; undefined where it is not an ordinary one. `modelJson`: as clients see it. */
  static learn(frame: SseFrame, data: string, chunk: JsonObject, modelJson: string, hideReasoning: boolean) {
    const [choice, second] = Array.isArray(chunk["choices"]) ? (chunk["choices"] as unknown[]) : [];
    const delta = objectAt(choice, "delta");
    if (second !== undefined || !delta || frame.raw !== `data: ${data}\n\n` || isObject(chunk["usage"]))
      return undefined;
    const present = Object.values(delta).filter((value) => value !== null);
    const key = TEXT_KEYS.find((name) => typeof delta[name] === "string");
    if (key === undefined || present.length !== 1 || (isObject(choice) && choice["finish_reason"])) return undefined;
    // These are repaired in each chunk, which copying would not do.
    const twin = TWIN[key];
    if (typeof chunk["model"] !== "string" || !chunk["id"] || !chunk["object"] || (twin && twin in delta))
      return undefined;
    const path = ["choices", 0, "delta", key];
    const model = findOnlyString(data, "model") ?? findValue(data, ["model"]);
    const places: VaryingPlaces = { texts: [path], padding: [["obfuscation"]], verbatim: true };
    const template = FrameTemplate.learn(frame, places, String(delta[key]));
    if (!model || template === undefined || model.start > template.textStart) return undefined;

    const lead = "data: ".length;
    const afterModel = frame.raw.slice(lead + model.end, template.textStart);
    const clientHead = `data: ${data.slice(0, model.start)}${modelJson}${afterModel}`;
    const clientTwin = twin === undefined ? undefined : `","${twin}":"`;
    return new ChunkTemplate(template, clientHead, clientTwin, hideReasoning && key !== "content");
  }

  /**
   * Writes the client's form of as many events from `at` on as match. Returns where the last of them ends, or -1 where the first does
   * not match. `view` shows the same bytes.
   */
  renderRun(events: Buffer, view: DataView, at: number, output: ByteBuffer): number {
    const template = this.#template;
    this.characters = 0;
    let from = at;
    for (let end = template.match(view, from); end >= 0; end = template.match(view, from)) {
      this.characters += template.weight;
      if (!this.#hide) this.#render(events, end, output);
      from = end;
    }
    return from === at ? -1 : from;
  }

  /** The event that was matched last. */
  #render(events: Buffer, end: number, output: ByteBuffer): void {
    const clientHead = this.#clientHead;
    const twin = this.#clientTwin;
    const { textStart, textEnd } = this.#template;
    output.reserve(clientHead.length + 2 * (end - textStart) + (twin?.length ?? 0));
    output.putPart(clientHead, 0, clientHead.length);
    if (twin !== undefined) {
      output.putPart(events, textStart, textEnd);
      output.putPart(twin, 0, twin.length);
    }
    output.putPart(events, textStart, end);
  }
}
