import { type JsonObject, parseObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { EventSplitter, readFrames } from "../../wire/sse.ts";
import type { ProviderExchange } from "../attempt/provider-exchange.ts";

/** The end of a stream of the chat family. */
const DONE = "[DONE]";

/** The data of each server-sent event, parsed. Data that is not JSON is an error of the host. */
export async function* eventData(exchange: ProviderExchange): AsyncGenerator<JsonObject> {
  const splitter = new EventSplitter();
  try {
    for (let chunk = await exchange.read(); chunk; chunk = await exchange.read()) yield* dataOf(splitter.push(chunk));
    yield* dataOf(splitter.end());
  } finally {
    exchange.close();
  }
}

function* dataOf(text: string): Generator<JsonObject> {
  for (const { data } of readFrames(text)) {
    if (data === undefined || data === "" || data.trim() === DONE) continue;
    const event = parseObject(data);
    if (event === undefined) throw new GatewayError("upstream_failed", "The provider sent an event that is not JSON.");
    yield event;
  }
}

export const isEventStream = ({ headers }: ProviderExchange): boolean =>
  /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
