import { parseObject, stringAt } from "../../src/base/json.ts";
import { GatewayError } from "../../src/canon/error.ts";
import type { CanonEvent } from "../../src/canon/event.ts";
import type { StreamDecoder } from "../../src/dialects/codec.ts";
import type { SseFrame } from "../../src/wire/sse.ts";
import { decodeError } from "./errors.ts";
import { decodeStop } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

const BLOCK = 0;

/** `{"text"}` events, then one with `why`; an error is an event with `problem`. */
export class PlainStreamDecoder implements StreamDecoder {
  #begun = false;
  #ended = false;

  get complete(): boolean {
    return this.#ended;
  }

  push({ data }: SseFrame): CanonEvent[] {
    if (this.#ended || data === undefined) return [];
    const body = parseObject(data);
    if (body === undefined) return this.#fail(new GatewayError("upstream_failed", "The provider sent no JSON."));
    if (body["problem"] !== undefined) return this.#fail(decodeError({ status: 500, body: data }));
    const [text, why] = [stringAt(body, "text"), stringAt(body, "why")];
    const said = text === undefined ? [] : this.#say(text);
    return why === undefined ? said : [...said, ...this.#finish(why, body["tokens"])];
  }

  end(): CanonEvent[] {
    return this.#ended ? [] : this.#fail(new GatewayError("upstream_failed", "The provider's stream broke off."));
  }

  #say(text: string): CanonEvent[] {
    const start: CanonEvent[] = this.#begun ? [] : [{ type: "text-start", block: BLOCK }];
    this.#begun = true;
    return [...start, { type: "text-delta", block: BLOCK, text }];
  }

  #finish(why: string, tokens: unknown): CanonEvent[] {
    this.#ended = true;
    const usage = decodeUsage(tokens);
    return [
      ...(this.#begun ? ([{ type: "text-end", block: BLOCK }] as const) : []),
      ...(usage === undefined ? [] : ([{ type: "usage", usage }] as const)),
      { type: "finish", stop: decodeStop(why) },
    ];
  }

  #fail(error: GatewayError): CanonEvent[] {
    this.#ended = true;
    return [{ type: "error", error }];
  }
}
