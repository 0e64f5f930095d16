import { isObject, parseObject } from "../../base/json.ts";
import type { FallbackAnswer, FallbackChain } from "../../dialects/request/model-fallbacks.ts";
import { parseInOrder, stringifyInOrder } from "../../wire/ordered-json.ts";
import { readFrames } from "../../wire/sse.ts";
import { readEvents } from "../attempt/read-events.ts";
import type { Call, IncomingCall } from "../call.ts";
import { Work } from "../derived/work.ts";
import type { Gateway } from "../gateway.ts";
import { identifiedResponse } from "./identity-headers.ts";
import { RelayError } from "./relay-error.ts";
import { errorOf, failureText, keepAliveDuring, streamTexts } from "./stream-texts.ts";

/** The state that the calls of one response share. */
interface Hops {
  chain: FallbackChain;
  answer: FallbackAnswer;
  /** The text of the client's request. */
  text: string;
  work: Work;
  incoming: IncomingCall;
  /** Calls a model, as a separate call. */
  ask: (incoming: IncomingCall, gateway: Gateway) => Promise<Response>;
  /** How many entries of the chain were called. */
  asked: number;
  /** The entry that could not be called last. */
  unreached: string | undefined;
}

/**
 * Calls the models of a chain in turn for as long as they decline. The first response belongs to this call, each further one to a
 * separate call, which is checked, admitted and billed like any other.
 */
export async function answerWithFallbacks(
  call: Call,
  chain: FallbackChain,
  gateway: Gateway,
  { first, ask }: { first: (call: Call) => Promise<Response>; ask: Hops["ask"] },
): Promise<Response> {
  const { incoming, request } = call;
  const text = request?.received.text ?? "";
  const answer = chain.begin(String(call.body["model"]));
  answer.next(false);
  // The native lane removes the field, and the gateway honours it, so that there is nothing to note.
  const { [incoming.dialect.fallbacks?.field ?? ""]: _chain, ...body } = call.body;
  const adapted = chain.notes.length === 0 ? call.adapted : [...call.adapted, ...chain.notes];
  const work = new Work(call, gateway);
  const hops: Hops = { chain, answer, text, work, incoming, ask, asked: 0, unreached: undefined };
  let refusal: unknown;
  let streams = false;
  try {
    let response = await first({ ...call, body, outline: body, adapted }).catch((thrown: unknown) => {
      if (!isDeclined(thrown, work)) throw thrown;
      refusal = thrown;
      answer.block();
      return undefined;
    });
    response ??= await askNext(hops);
    // Nothing was written yet, so the client gets the error that it would have got without fallbacks.
    if (response === undefined) throw refusal;
    streams = call.stream;
    return streams ? streamHops(response, hops) : await wholeHops(response, hops);
  } catch (thrown) {
    throw thrown instanceof RelayError ? thrown : new RelayError(errorOf(thrown), call);
  } finally {
    if (!streams) work.release();
  }
}

/** A provider that rejects a request for its content declines it, too. The operator's guards decide for all models. */
const isDeclined = (thrown: unknown, { seen }: Work): boolean =>
  errorOf(thrown).kind === "content_blocked" && !seen.hasBlocked;

/** The response of the next model that can be called; undefined if none is. Throws if the call has ended. */
async function askNext(hops: Hops): Promise<Response | undefined> {
  const { chain, answer, text, work, incoming, ask } = hops;
  const { verb, options, streamInPath } = incoming;
  while (hops.asked < chain.entries.length && !work.seen.hasBlocked) {
    const entry = chain.entries[hops.asked++];
    if (entry === undefined) break;
    const next = work.next("fallback", entry.request(text), incoming);
    answer.next(hops.asked === chain.entries.length);
    try {
      return await ask({ ...next, verb, options, streamInPath }, work.gateway);
    } catch (thrown) {
      work.requireRunning();
      // Its receipt, if it got that far, says why. The client can call it later.
      work.gateway.log.debug({ model: entry.model, kind: errorOf(thrown).kind }, "fallback model not reached");
      hops.unreached = entry.model;
      if (work.isEndedBy(thrown)) break;
    }
  }
  return undefined;
}

async function wholeHops(first: Response, hops: Hops): Promise<Response> {
  const { answer } = hops;
  let headers = headersOf(first);
  for (let response: Response | undefined = first; response !== undefined; response = await askNext(hops)) {
    const body = parseInOrder(await response.text());
    hops.unreached = undefined;
    headers = headersOf(response);
    answer.take(isObject(body) ? body : {});
    if (!answer.declined || hops.work.seen.hasBlocked) break;
  }
  return identifiedResponse(stringifyInOrder(answer.finish(hops.unreached)), headers);
}

const streamHops = (first: Response, hops: Hops): Response =>
  identifiedResponse(streamTexts(writeHops(first, hops), hops.work), headersOf(first));

const headersOf = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name !== "content-length"));

async function* writeHops(first: Response, hops: Hops): AsyncGenerator<string, undefined> {
  const { answer, work, incoming } = hops;
  let response: Response | undefined = first;
  try {
    while (response !== undefined) {
      for await (const text of readEvents(response)) yield shownOf(text, answer);
      if (answer.failed) hops.unreached = hops.chain.entries[hops.asked - 1]?.model;
      else hops.unreached = undefined;
      if (!answer.declined) return undefined;
      const asking = askNext(hops);
      yield* keepAliveDuring(asking, incoming.dialect.http.keepAlive, work.gateway);
      response = await asking;
    }
    yield answer.finishStream(hops.unreached);
  } catch (thrown) {
    yield failureText(thrown, incoming);
  }
  return undefined;
}

function shownOf(text: string, answer: FallbackAnswer): string {
  return readFrames(text)
    .map((frame) => {
      const event = frame.data === undefined ? undefined : parseObject(frame.data);
      return event === undefined ? frame.raw : answer.takeEvent(event, frame);
    })
    .join("");
}
