import { type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import { eventWeight, MIN_WEIGHT, textWeight } from "../../../base/text-weight.ts";
import { GatewayError } from "../../../canon/error.ts";
import { reportModel } from "../../../canon/terms.ts";
import type { Usage } from "../../../canon/usage.ts";
import { changeValue, ObjectEdit } from "../../../wire/json-text.ts";
import type { SseFrame } from "../../../wire/sse.ts";
import { decodeException } from "../../answer/framed-exception.ts";
import { TapBase } from "../../answer/tap-base.ts";
import type { NativeAnswerContext } from "../../dialect.ts";
import { tokensOfCharacters } from "../../reading/estimate-tokens.ts";
import { estimateMessagesTokens } from "../estimate.ts";
import { decodeErrorObject } from "./errors.ts";
import { HALF_CALL } from "./open-blocks.ts";
import { ServerTools } from "./server-tools.ts";
import { decodeStop } from "./stop-reason.ts";
import { StreamedUsage } from "./streamed-usage.ts";
import {
  consistentUsage,
  isHostedResult,
  isSearchResult,
  missingUsage,
  reportUsageTerms,
  withResults,
  withSearches,
} from "./usage.ts";

const DELTA = 'event: content_block_delta\ndata: {"type":"content_block_delta"';

/** The least number of bytes of a text delta's event that are not generated text. */
const ENVELOPE = `${DELTA},"index":0,"delta":{"type":"text_delta","text":""}}\n\n`.length;

const THOUGHTS: ReadonlySet<string | undefined> = new Set(["thinking", "redacted_thinking"]);

/** A text or thinking block without content yet: until it has some, another offer may still answer. */
function opensEmpty(block: JsonObject | undefined): boolean {
  return stringAt(block, "text") === "" || stringAt(block, "thinking") === "";
}

export class MessagesTap extends TapBase {
  readonly #context: NativeAnswerContext;
  readonly #usage = new StreamedUsage();
  #searches = 0;
  #results = 0;
  /** The calls that have started and not ended, by index. */
  readonly #openCalls = new Set<unknown>();
  readonly #tools = new ServerTools();

  constructor(context: NativeAnswerContext) {
    super();
    this.#context = context;
  }

  override get usage(): Usage | undefined {
    const open = this.stop === undefined ? this.#tools.openSearches : 0;
    const counted = withResults(withSearches(this.usageSeen, this.#searches + open), this.#results);
    return this.#tools.addTo(counted, this.#usage.raw);
  }

  protected override pushText(events: string): string {
    let text = "";
    for (let at = 0; at < events.length && !this.failure && this.state !== "ended"; ) {
      const blank = events.indexOf("\n\n", at);
      const end = blank < 0 ? events.length : blank + 2;
      // A delta needs no change and is recognised by its event name.
      if (this.contentSeen && events.startsWith(DELTA, at) && events.startsWith("}\n\n", end - 3)) {
        const delta = events.slice(at, end);
        // However short, it is content unless it is empty: callers that wait for content use this figure (H28).
        const empty = events.startsWith('""}}\n\n', end - 6);
        if (!empty) this.generatedCharacters += Math.max(MIN_WEIGHT, textWeight(delta) - ENVELOPE);
        text += delta;
      } else text += this.pushCarefully(events.slice(at, end));
      at = end;
    }
    return text;
  }

  protected frame(frame: SseFrame): string {
    if (frame.data === undefined) return frame.raw;
    const event = parseObject(frame.data);
    if (frame.event === "exception") {
      this.failure = decodeException(event);
      return "";
    }
    const type = stringAt(event, "type");
    if (!event || type === undefined) {
      this.failure = new GatewayError("upstream_failed", "The provider sent an unrecognised event.");
      return "";
    }
    if (type === "error") {
      this.failure = decodeErrorObject(event);
      return "";
    }
    const data = this.#patch(frame.data, event, type);
    return data === frame.data && frame.event !== undefined ? frame.raw : `event: ${type}\ndata: ${data}\n\n`;
  }

  #patch(data: string, event: JsonObject, type: string): string {
    switch (type) {
      case "message_start":
        if (this.#openCalls.size > 0) throw new GatewayError("upstream_failed", HALF_CALL);
        reportModel(this.#context.served, stringAt(objectAt(event, "message"), "model"));
        return this.#start(data, objectAt(event, "message"));
      case "content_block_stop":
        this.#openCalls.delete(event["index"]);
        return data;
      case "message_delta":
        return this.#delta(data, event);
      case "message_stop":
        this.state = "ended";
        return data;
      case "content_block_start":
      case "content_block_delta":
        if (!opensEmpty(objectAt(event, "content_block"))) this.contentSeen = true;
        if (isSearchResult(event["content_block"])) this.#searches++;
        if (isHostedResult(event["content_block"])) this.#results++;
        if (stringAt(objectAt(event, "content_block"), "type") === "tool_use") this.#openCalls.add(event["index"]);
        this.#tools.count(event["content_block"]);
        if (THOUGHTS.has(stringAt(objectAt(event, "content_block"), "type"))) this.reasoningSeen = true;
        this.#count(objectAt(event, "delta"));
        return data;
      default:
        return data;
    }
  }

  #start(data: string, message: JsonObject | undefined): string {
    const usage = objectAt(message, "usage");
    if (usage !== undefined) {
      this.#usage.begin(usage);
      this.#reported();
    }
    return changeValue(data, ["message"], (value) => {
      const edit = new ObjectEdit(value).set("model", JSON.stringify(this.#context.publicModel));
      if (!message?.["id"]) edit.set("id", JSON.stringify(`msg_${this.#context.makeId()}`));
      // No output is counted yet (contract 6.1), whatever the host has counted so far.
      const consistent = usage && consistentUsage(usage);
      if (consistent || numberAt(usage, "input_tokens") === undefined || numberAt(usage, "output_tokens") !== 0) {
        const counted = { ...(consistent ?? usage), output_tokens: 0 };
        const input_tokens = numberAt(usage, "input_tokens") ?? estimateMessagesTokens(this.#context.request);
        edit.set("usage", JSON.stringify({ ...counted, input_tokens }));
      }
      return edit.toString();
    });
  }

  /** Writes usage in both places: the contract reads `delta.usage`, the vendors' SDKs the event's `usage` (choices 3). */
  #delta(data: string, event: JsonObject): string {
    const delta = objectAt(event, "delta");
    const reported = objectAt(event, "usage") ?? objectAt(delta, "usage");
    const splitBefore = objectAt(this.#usage.raw, "cache_creation");
    const usage = reported && this.#usage.add(reported);
    if (usage !== undefined) this.#reported();
    const stop = stringAt(delta, "stop_reason");
    if (stop) this.stop = decodeStop(stop);
    // Clients keep the split of the first event, so a total that differs from it brings its own split (contract 2.11).
    const split = objectAt(this.#usage.raw, "cache_creation");
    const consistent =
      usage &&
      (consistentUsage(usage) ??
        (split === splitBefore || usage["cache_creation"] ? undefined : { ...usage, cache_creation: split }));
    const shown = { ...(consistent ?? usage), ...missingUsage(this.#usage.raw) };
    if (numberAt(usage, "output_tokens") === undefined) {
      shown["output_tokens"] = this.usage?.output ?? tokensOfCharacters(this.generatedCharacters);
    }
    const text = JSON.stringify(shown);
    const edit = new ObjectEdit(data).set("usage", text);
    return edit.set("delta", new ObjectEdit(edit.get("delta") ?? "{}").set("usage", text).toString()).toString();
  }

  #reported(): void {
    reportUsageTerms(this.#context.served, this.#usage.raw);
    this.usageSeen = this.#usage.decoded;
  }

  #count(delta: JsonObject | undefined): void {
    for (const key of ["text", "thinking", "partial_json"]) {
      this.generatedCharacters += eventWeight(stringAt(delta, key) ?? "");
    }
  }
}
