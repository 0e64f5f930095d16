import { isObject, type JsonObject, objectAt } from "../../canon/json.ts";
import { endOfString, findValue } from "../../wire/json-text.ts";

/** The members of a delta that carry generated text and nothing else. */
const TEXT_KEYS = ["content", "reasoning_content", "reasoning"] as const;
const TWIN: Readonly<Record<string, string>> = { reasoning: "reasoning_content", reasoning_content: "reasoning" };
const PADDING = ',"obfuscation":"';
const CLOSE = "}\n\n";

/**
 * The ordinary chunks of one stream are alike but for their text: the same bytes before it and after it. Once one of them
 * has been read with care, its likes are recognised by those bytes and patched without being parsed, which is what makes
 * a burst of chunks cheap. Anything that differs anywhere is not recognised, and takes the careful road.
 */
export class ChunkTemplate {
  /** Up to and with the quote that opens the text. */
  readonly #head: string;
  /** From the quote that closes the text to the end, but for the random padding that some hosts add. */
  readonly #tail: string;
  readonly #clientHead: string;
  /** Between the text and its repetition under the field's other name; undefined where there is none. */
  readonly #clientTwin: string | undefined;
  readonly #hide: boolean;
  /** Set by a successful `render`: where the event ends, and how much text it carried. */
  end = 0;
  characters = 0;

  private constructor(head: string, tail: string, clientHead: string, clientTwin: string | undefined, hide: boolean) {
    this.#head = head;
    this.#tail = tail;
    this.#clientHead = clientHead;
    this.#clientTwin = clientTwin;
    this.#hide = hide;
  }

  /** Learns from an event that was read already; undefined where it is not an ordinary one. */
  static learn(raw: string, data: string, chunk: JsonObject, publicModel: string, hideReasoning: boolean) {
    const [choice, second] = Array.isArray(chunk["choices"]) ? (chunk["choices"] as unknown[]) : [];
    const delta = objectAt(choice, "delta");
    if (second !== undefined || !delta || raw !== `data: ${data}\n\n` || isObject(chunk["usage"])) return undefined;
    const present = Object.entries(delta).filter(([, value]) => value !== null);
    const key = TEXT_KEYS.find((name) => typeof delta[name] === "string");
    if (key === undefined || present.length !== 1 || (isObject(choice) && choice["finish_reason"])) return undefined;
    const text = findValue(data, ["choices", 0, "delta", key]);
    const model = findValue(data, ["model"]);
    if (!text || !model || model.start > text.start) return undefined;

    const lead = "data: ".length;
    const after = data.slice(text.end - 1);
    const padding = after.indexOf(PADDING);
    const tail = padding < 0 ? after.slice(0, -1) : after.slice(0, padding);
    const clientStart = `data: ${data.slice(0, model.start)}${JSON.stringify(publicModel)}${data.slice(model.end, text.start + 1)}`;
    const twin = TWIN[key];
    const clientTwin = twin === undefined || twin in delta ? undefined : `","${twin}":"`;
    const hide = hideReasoning && key !== "content";
    return new ChunkTemplate(raw.slice(0, lead + text.start + 1), tail, clientStart, clientTwin, hide);
  }

  /** The client's form of the event at `at`, or undefined where it is not one of these. */
  render(events: string, at: number): string | undefined {
    if (!events.startsWith(this.#head, at)) return undefined;
    const textStart = at + this.#head.length;
    const textEnd = endOfString(events, textStart) - 1;
    if (!events.startsWith(this.#tail, textEnd)) return undefined;
    let close = textEnd + this.#tail.length;
    if (events.startsWith(PADDING, close)) close = endOfString(events, close + PADDING.length);
    if (!events.startsWith(CLOSE, close)) return undefined;
    this.end = close + CLOSE.length;
    this.characters = textEnd - textStart;
    if (this.#hide) return "";
    if (this.#clientTwin === undefined) return this.#clientHead + events.slice(textStart, this.end);
    const text = events.slice(textStart, textEnd);
    return this.#clientHead + text + this.#clientTwin + text + events.slice(textEnd, this.end);
  }
}
