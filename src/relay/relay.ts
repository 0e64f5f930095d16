import { type JsonObject, stringAt } from "../base/json.ts";
import type { Billable } from "../canon/billable.ts";
import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { FieldNote } from "../canon/receipt.ts";
import type { ObjectFields } from "../dialects/object-fields.ts";
import { readRouting } from "../dialects/read-routing.ts";
import type { ReceivedRequest } from "../dialects/received-request.ts";
import { withoutEchoedIds } from "../dialects/without-echoed-ids.ts";
import { withoutStoring } from "../dialects/without-storing.ts";
import { AUTO_MODEL } from "../routing/auto.ts";
import { admitCall } from "./admit-call.ts";
import { askedRouting, ONLY_AUTO } from "./asked-routing.ts";
import { autoModel } from "./auto-model.ts";
import { answerInBackground } from "./background.ts";
import { billedOffers } from "./billed-offers.ts";
import { type Call, DeadlineError, type IncomingCall } from "./call.ts";
import { captureOf } from "./capture-call.ts";
import { checkBilling } from "./check-billing.ts";
import { relayTokenCount } from "./count-tokens.ts";
import type { EnteredRequest } from "./enter-request.ts";
import { estimateUse } from "./estimate-use.ts";
import type { Gateway } from "./gateway.ts";
import { HeldRequest } from "./held-request.ts";
import { answerWithImages, hostedWork } from "./hosted-images.ts";
import type { AskedFor } from "./keep-intent.ts";
import { relayConversationImages } from "./media/conversation.ts";
import { planText } from "./plan-call.ts";
import { readBody } from "./read-body.ts";
import { recall } from "./recall.ts";
import { refuseKind } from "./refuse-kind.ts";
import { RelayError } from "./relay-error.ts";
import { requireOwnObjects } from "./require-own-objects.ts";
import { type ServedModel, servedModel } from "./served-model.ts";
import { isAbandoned, settle } from "./settle.ts";
import { speaksInConversation } from "./speaks-in-conversation.ts";
import { relayStream } from "./stream.ts";
import { tellBegun } from "./tell-call.ts";
import { relayUnary } from "./unary.ts";

/** The life of a call: authenticate, read, check, admit, plan, attempt, answer, settle. Throws GatewayError, and RelayError once there is a receipt. */
export async function relay(incoming: IncomingCall, gateway: Gateway): Promise<Response> {
  const { admitted, asked } = await admitCall(
    incoming,
    gateway,
    (entered) => readCall(incoming, entered, gateway),
    askedForText,
  );
  const { checked, served, keeping, background } = asked;
  const { model, calledAs } = served;
  const call: Call = {
    ...admitted,
    incoming,
    model,
    modelInAnswer: incoming.door === "dropin" ? calledAs : model.id,
    request: new HeldRequest(checked),
    body: checked.body,
    stream: isStreamed(incoming, checked.body),
    adapted: adaptedBy(asked),
    billables: asked.billables,
    keeping,
    capture: asked.sent === undefined ? undefined : captureOf(asked.sent, incoming, gateway),
  };
  if (gateway.events.watched) tellBegun(call, gateway);
  const answer = (of: Call) => answerOrSettle(of, served, gateway);
  if (keeping !== undefined && background) {
    return answerInBackground(call, keeping, gateway, answer).catch((thrown: unknown) =>
      settleFailed(call, gateway, thrown),
    );
  }
  const images = incoming.dialect.hostedImages && hostedWork(call, served, gateway);
  if (images !== undefined)
    return answerWithImages(call, images, gateway, { first: answer, ask: (next) => relay(next, gateway) });
  // Not by `answer`: every call would pay for one more promise.
  try {
    return await answerCall(call, served, gateway);
  } catch (thrown) {
    return settleFailed(call, gateway, thrown);
  }
}

function answerCall(call: Call, served: ServedModel, gateway: Gateway): Promise<Response> {
  const { model, offers } = served;
  const { verb } = call.incoming;
  if (!model.outputModalities.includes("text") && !speaksInConversation(call, served, gateway)) {
    // No host counts for a model that writes no text (H11).
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

/** Settles a call that has failed, and throws why. */
async function settleFailed(call: Call, gateway: Gateway, thrown: unknown): Promise<never> {
  // A call for images settles itself.
  if (thrown instanceof RelayError) throw thrown;
  const error = asGatewayError(thrown);
  const used = error.failure?.usage;
  await settle(call, gateway, {
    outcome: call.client.disconnected ? "client_gone" : error.kind,
    ended: error instanceof DeadlineError,
    whole: false,
    produced: isAbandoned(call) || used !== undefined,
    usage: used,
    usageRuns: used !== undefined,
    generatedCharacters: 0,
    reasoningSeen: false,
    stop: undefined,
    firstContentAtMs: undefined,
  });
  throw new RelayError(error, call);
}

const askedForText = ({ served: { model }, checked }: ReadCall, incoming: IncomingCall): AskedFor => ({
  verb: incoming.verb,
  model,
  stream: isStreamed(incoming, checked.body),
});

const isStreamed = ({ streamInPath }: IncomingCall, body: JsonObject): boolean =>
  streamInPath ?? body["stream"] === true;

const NO_BILLABLES: readonly Billable[] = [];

/** As which a request is checked whose model the gateway chooses. */
const ANY_MODEL = { id: AUTO_MODEL, reasoning: true };

/** The request, checked and admitted. */
async function readCall(incoming: IncomingCall, entered: EnteredRequest, gateway: Gateway) {
  const { principal, entry, memory, startedAtMs, timer } = entered;
  const { dialect, verb, door } = incoming;
  const { catalogue, maxBodyBytes } = gateway.snapshot;
  const { objects } = dialect.requests;
  const received = await readBody(incoming.request, { maxBytes: maxBodyBytes, memory, objects, timer }, gateway);
  const wanted = readRouting(received.body, incoming.request.headers);
  const name = modelName(incoming, received.body);
  const resolved = name === AUTO_MODEL ? undefined : catalogue.resolve(name, incoming.naming);
  const { id, reasoning } = resolved?.model ?? ANY_MODEL;
  const asked = dialect.requests.check(received, {
    verb,
    door,
    model: { id, reasoning },
    publicUrl: gateway.publicUrl,
    levels: received.levels,
  });
  const checked = principal.providerObjects ? asked : withoutObjects(asked, received, objects);
  if (received.mayNameObjects && !incoming.isFollowUp)
    await requireOwnObjects(checked.body, objects, principal, gateway);
  const routing = askedRouting(wanted, { incoming, principal, model: resolved?.model }, gateway);
  const { stored } = dialect;
  const time = { startedAtMs, deadlineMs: routing.deadlineMs };
  const recalled =
    stored === undefined
      ? { request: checked, keeping: undefined, background: false }
      : await recall(checked, stored, { incoming, principal, memory, time }, gateway);
  const { request, keeping, background } = recalled;
  const { body } = request;
  const call = { incoming, principal, routing, body };
  const served = resolved === undefined ? autoModel(call, gateway) : servedModel(resolved, call, gateway);
  const billables = verb === "generate" ? dialect.requests.billables(body, incoming.options) : NO_BILLABLES;
  if (billables.length > 0) {
    checkBilling(billables, { principal, door }, billedOffers(served, incoming, body, gateway), gateway);
  }
  const admitting = entry.admitShared(estimateUse(principal, incoming, served, request, billables));
  const admission = admitting instanceof Promise ? await admitting : admitting;
  // Else nothing keeps the text for longer than its provider takes to be asked.
  const sent = principal.capture === true ? received.text : undefined;
  return { served, admission, sent, checked: request, keeping, background, routing, wanted, billables };
}

/** What makes a host keep an answer, or use what it kept of an earlier one, is removed where a request can do without it. */
function withoutObjects(
  asked: ReceivedRequest,
  { mayNameObjects }: ReceivedRequest,
  objects: ObjectFields | undefined,
): ReceivedRequest {
  const kept = withoutStoring(asked, objects);
  return mayNameObjects ? withoutEchoedIds(kept, objects) : kept;
}

/** What the name of the model, the door and the routing fields did to the request. Mostly nothing, and then nothing is made. */
function adaptedBy({ served: { notes, modelWhy }, checked: { adapted }, wanted }: ReadCall): readonly FieldNote[] {
  if (wanted === undefined) return adapted === undefined ? notes : [...notes, ...adapted];
  const auto: FieldNote[] =
    wanted.asked.auto === undefined || modelWhy !== undefined
      ? []
      : [{ path: wanted.paths.auto, action: "dropped", reason: ONLY_AUTO }];
  return [...notes, ...(adapted ?? []), ...wanted.notes, ...auto];
}

type ReadCall = Awaited<ReturnType<typeof readCall>>;

function modelName(incoming: IncomingCall, body: JsonObject): string {
  const name = incoming.modelInPath ?? stringAt(body, "model");
  if (name) return name;
  const found = body["model"] === undefined ? "is missing" : `is ${JSON.stringify(body["model"])?.slice(0, 40)}`;
  throw new GatewayError("invalid_request", `model ${found}; it must be a string such as "<provider>/<model_name>".`, {
    path: "model",
  });
}
