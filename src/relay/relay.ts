import { asGatewayError } from "../canon/error.ts";
import type { FieldNote } from "../canon/receipt.ts";
import { outlineOf } from "../dialects/outline-of.ts";
import { answerWithFallbacks } from "./answer/fallbacks.ts";
import { answerWithImages, hostedImageTask } from "./answer/hosted-images.ts";
import { RelayError } from "./answer/relay-error.ts";
import { relayStream } from "./answer/stream.ts";
import { relayUnary } from "./answer/unary.ts";
import { answerInBackground } from "./background.ts";
import { onceRouting } from "./batch/once-routing.ts";
import { planNative } from "./batch/plan-native.ts";
import { takeLine } from "./batch/take-line.ts";
import { AnswerKeeper } from "./cached/answer-keeper.ts";
import { replayAnswer } from "./cached/replay-answer.ts";
import { type Call, CallEndedError, type IncomingCall, type NativePass } from "./call.ts";
import { relayTokenCount } from "./count-tokens.ts";
import type { Gateway } from "./gateway.ts";
import { relayConversationImages } from "./media/conversation.ts";
import { admitCall } from "./request/admit-call.ts";
import { HeldRequest } from "./request/held-request.ts";
import { planText } from "./request/plan-call.ts";
import type { AdmittedRequest } from "./request/read-request.ts";
import { refuseKind } from "./request/refuse-kind.ts";
import { ONLY_AUTO } from "./request/resolve-routing.ts";
import { speaksInConversation } from "./request/speaks-in-conversation.ts";
import { TEXT, type TextRequest } from "./request/text-kind.ts";
import type { ServedModel } from "./settle/served-model.ts";
import { isAbandoned, settle } from "./settle/settle.ts";

/**
 * A text call from start to end: authenticate, read, check, admit, plan, attempt, answer, settle. Throws GatewayError, or
 * RelayError once there is a receipt.
 */
export async function relay(incoming: IncomingCall, gateway: Gateway): Promise<Response> {
  const { admitted, asked } = await admitCall(TEXT, incoming, gateway);
  const { served, request, saver, background, fallbacks, cache } = asked.fitted;
  // The source of a request without an outline is its body alone, which is all that a long stream holds of it.
  const source = request.outline === undefined ? { body: request.body } : request;
  const call: Call = {
    ...admitted,
    request: new HeldRequest(request),
    get body() {
      return source.body;
    },
    outline: outlineOf(request),
    adapted: adaptedBy(asked),
    billables: asked.billables,
    saver,
    cache,
    keeper: keeperOf(asked, incoming, gateway),
  };
  const found = asked.caching?.found;
  if (found !== undefined) return replayAnswer(call, incoming.verb, found, gateway);
  if (incoming.line?.native !== undefined) return relayNativeLine(call, asked.fitted, incoming.line.native, gateway);
  const images = incoming.dialect.hostedImages && hostedImageTask(call, served, gateway);
  const calls = { first: (of: Call) => answerOrSettle(of, served, gateway), ask: relay };
  const answer = (of: Call) =>
    fallbacks !== undefined
      ? answerWithFallbacks(of, fallbacks, gateway, calls)
      : images !== undefined
        ? answerWithImages(of, images, gateway, calls)
        : calls.first(of);
  if (saver !== undefined && background) {
    return answerInBackground(call, saver, gateway, answer).catch((thrown: unknown) =>
      settleFailed(call, gateway, thrown),
    );
  }
  if (fallbacks !== undefined || images !== undefined) return answer(call);
  if (incoming.cause === undefined) call.guards?.seen.clear();
  // Does not use `answer`, which would cost every call one more promise.
  try {
    return await answerCall(call, served, gateway);
  } catch (thrown) {
    return settleFailed(call, gateway, thrown);
  }
}

/** Records the response if it is to answer equal requests. */
function keeperOf(
  { caching }: AdmittedRequest<TextRequest>,
  { dialect }: IncomingCall,
  { answerCache }: Gateway,
): AnswerKeeper | undefined {
  if (caching === undefined || caching.found !== undefined || dialect.cached === undefined) return undefined;
  return new AnswerKeeper(answerCache, caching.place, dialect.cached);
}

/** A line that a provider's batch API runs. */
async function relayNativeLine(
  call: Call,
  fitted: TextRequest,
  native: NativePass,
  gateway: Gateway,
): Promise<Response> {
  if (native.response === undefined) return takeLine(call, fitted, native, gateway);
  // There is one response, which no second attempt would change.
  const once = { ...call, routing: onceRouting(call.routing) };
  try {
    return await relayUnary(once, gateway, [planNative(once, fitted.served, native, gateway)]);
  } catch (thrown) {
    return settleFailed(once, gateway, thrown);
  }
}

function answerCall(call: Call, served: ServedModel, gateway: Gateway): Promise<Response> {
  const { model, offers } = served;
  const { verb } = call.incoming;
  if (!model.outputModalities.includes("text") && !speaksInConversation(call, served, gateway)) {
    // No host counts tokens for a model that writes no text (H11).
    if (verb === "count_tokens") return relayTokenCount(call, gateway, []);
    refuseKind(model);
    return relayConversationImages(call, gateway, offers);
  }
  const { targets, explained } = planText(call, gateway, served);
  call.plan = explained;
  if (verb === "count_tokens") return relayTokenCount(call, gateway, targets);
  return call.stream ? relayStream(call, gateway, targets) : relayUnary(call, gateway, targets);
}

async function answerOrSettle(call: Call, served: ServedModel, gateway: Gateway): Promise<Response> {
  try {
    return await answerCall(call, served, gateway);
  } catch (thrown) {
    return settleFailed(call, gateway, thrown);
  }
}

/** Settles a failed call and throws its error. */
async function settleFailed(call: Call, gateway: Gateway, thrown: unknown): Promise<never> {
  // An image call settles itself.
  if (thrown instanceof RelayError) throw thrown;
  const error = asGatewayError(thrown);
  const used = error.failure?.usage;
  await settle(call, gateway, {
    outcome: call.client.disconnected ? "client_gone" : error.kind,
    ended: error instanceof CallEndedError,
    whole: false,
    produced: isAbandoned(call) || used !== undefined,
    usage: used,
    usageRuns: used !== undefined,
    generatedCharacters: 0,
    reasoningSeen: false,
    stop: undefined,
    firstContentAtMs: undefined,
    error,
  });
  throw new RelayError(error, call);
}

/** Notes on how the model's name, the door and the routing fields changed the request. Usually none, and then nothing is allocated. */
function adaptedBy({ fitted, wanted }: AdmittedRequest<TextRequest>): readonly FieldNote[] {
  const { notes, modelWhy } = fitted.served;
  const { adapted } = fitted.request;
  if (wanted === undefined) return adapted === undefined ? notes : [...notes, ...adapted];
  const auto: FieldNote[] =
    wanted.asked.auto === undefined || modelWhy !== undefined
      ? []
      : [{ path: wanted.paths.auto, action: "dropped", reason: ONLY_AUTO }];
  return [...notes, ...(adapted ?? []), ...wanted.notes, ...auto];
}
