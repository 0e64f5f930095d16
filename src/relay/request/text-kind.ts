import { parseObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Billable } from "../../canon/billable.ts";
import type { Resolved } from "../../catalogue/catalogue.ts";
import { outlineOf } from "../../dialects/outline-of.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import type { FallbackChain } from "../../dialects/request/model-fallbacks.ts";
import { withoutEchoedIds } from "../../dialects/request/without-echoed-ids.ts";
import { AUTO_MODEL } from "../../routing/auto.ts";
import { parseLargeJson } from "../../wire/parse-large-json.ts";
import { lookUpAnswer } from "../cached/look-up-answer.ts";
import type { IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { type ServedModel, servedModel } from "../settle/served-model.ts";
import { autoModel } from "./auto-model.ts";
import { billedOffers } from "./billed-offers.ts";
import { checkRequest } from "./check-request.ts";
import { estimateUse } from "./estimate-use.ts";
import { findHeldCache, type HeldCache, mayNameCache, requireHolder } from "./held-cache.ts";
import { inlineFiles, mayNameFiles } from "./inline-files.ts";
import { listAnswer } from "./list-answer.ts";
import { readBody } from "./read-body.ts";
import { readFallbacks } from "./read-fallbacks.ts";
import type { CallKind, FittedRequest, ResolvedRequest } from "./read-request.ts";
import { type Recalled, recall } from "./recall.ts";
import { textPlaces } from "./text-places.ts";

/** A text request with the earlier responses that it refers to, and the model that serves it. */
export interface TextRequest extends FittedRequest, Recalled {
  readonly served: ServedModel;
  /** The models that it names to answer if that one declines. */
  readonly fallbacks: FallbackChain | undefined;
  /** The cache that it reads. */
  readonly cache: HeldCache | undefined;
}

/** The stand-in model for checking a request whose model the gateway chooses. */
const ANY_MODEL = { id: AUTO_MODEL, reasoning: true };

const NO_BILLABLES: readonly Billable[] = [];

/** Text calls. `fit` only finds the model; `answerCall` plans its targets after admission, by what the call turns out to need. */
export const TEXT: CallKind<IncomingCall, ReceivedRequest, Resolved | undefined, TextRequest> = {
  read: (incoming, { memory, timer }, gateway) => {
    const { request, dialect } = incoming;
    const { maxBodyBytes } = gateway.snapshot;
    const places = (bytes: Buffer) => textPlaces(bytes, incoming, gateway);
    const bounds = { maxBytes: maxBodyBytes, memory, objects: dialect.requests.objects, textPlaces: places, timer };
    return readBody(request, bounds, gateway);
  },
  resolve: (name, { naming }, { snapshot }) =>
    name === AUTO_MODEL ? undefined : snapshot.catalogue.resolve(name, naming),
  check: (received, { incoming, principal, model }, gateway) => {
    const { dialect, verb, door, options } = incoming;
    const { id, reasoning } = model ?? ANY_MODEL;
    const { publicUrl } = gateway;
    const { levels } = received;
    const context = { verb, door, options, model: { id, reasoning }, publicUrl, levels };
    const checked = checkRequest(received, (request) => dialect.requests.check(request, context));
    return principal.providerObjects || !received.mayNameObjects
      ? checked
      : withoutEchoedIds(checked, dialect.requests.objects);
  },
  fit: async (checked, request, gateway) => {
    const { incoming, principal, entered, routing } = request;
    const { stored, requests } = incoming.dialect;
    const { memory, startedAtMs } = entered;
    const time = { startedAtMs, deadlineMs: routing.deadlineMs };
    const recalled =
      stored === undefined
        ? listAnswer(checked, request, gateway)
        : await recall(checked, stored, { incoming, principal, memory, time }, gateway);
    // Stored turns keep the ids of files, so that they are inserted after the turns are.
    const received = recalled.request;
    const whole =
      (mayNameFiles(received) ? await inlineFiles(received, request, gateway, waysOf(request)) : undefined) ?? received;
    const { objects } = requests;
    const held =
      objects !== undefined && mayNameCache(whole, objects)
        ? await findHeldCache(whole, objects, principal, gateway)
        : undefined;
    return serve({ ...recalled, request: held?.request ?? whole }, request, gateway, held?.cache);
  },
  billables: ({ request, cache }, { verb, dialect, options }) => {
    if (verb !== "generate") return NO_BILLABLES;
    const own = dialect.requests.billables(outlineOf(request), options);
    return cache === undefined || cache.billables.length === 0 ? own : [...own, ...cache.billables];
  },
  billedOffers: ({ served, request }, incoming, gateway) => billedOffers(served, incoming, request, gateway),
  estimate: ({ served, request, cache }, { principal, incoming, routing: { preference } }, billables) =>
    estimateUse(principal, incoming, served, request, billables, { cached: cache?.tokens, preference }),
  caching: lookUpAnswer,
  sent: ({ text }) => text,
  rewritten: async (read, text) => withText(read, text),
  whole: {
    read: ({ request }) => request.text,
    replaced: (fitted, text) => ({ ...fitted, request: withText(fitted.request, text) }),
  },
  verb: ({ verb }) => verb,
  streams: ({ request }, { streamInPath }) => streamInPath ?? outlineOf(request)["stream"] === true,
};

/** Only targets for text can send files in several ways. */
const waysOf = ({ resolved }: { resolved: Resolved | undefined }) =>
  resolved === undefined || resolved.model.outputModalities.includes("text") ? "choose" : "inline only";
/** The same request with another text. */
const withText = ({ levels, mayNameObjects, files, adapted }: ReceivedRequest, text: string): ReceivedRequest => ({
  ...withoutAbsent({ levels, mayNameObjects, files, adapted }),
  text,
  body: parseObject(text, parseLargeJson) ?? {},
});

function serve(
  { request, saver, background }: Recalled,
  { incoming, principal, routing, resolved }: ResolvedRequest<IncomingCall, Resolved | undefined>,
  gateway: Gateway,
  cache: HeldCache | undefined,
): TextRequest {
  const call = { incoming, principal, routing, body: outlineOf(request) };
  const served =
    resolved === undefined ? autoModel({ ...call, body: request.body }, gateway) : servedModel(resolved, call, gateway);
  if (cache !== undefined) requireHolder(cache, served);
  const fallbacks = incoming.verb === "generate" ? readFallbacks(call, served, gateway) : undefined;
  return { served, request, saver, background, fallbacks, cache };
}
