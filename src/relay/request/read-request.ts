import type { Admission, CallEstimate } from "../../access/admit.ts";
import type { Principal } from "../../access/principal.ts";
import { type JsonObject, stringAt } from "../../base/json.ts";
import type { Billable } from "../../canon/billable.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { unionOfTags } from "../../canon/tags.ts";
import type { Resolved } from "../../catalogue/catalogue.ts";
import type { Model } from "../../catalogue/model.ts";
import { outlineOf } from "../../dialects/outline-of.ts";
import { type RoutingRequest, readRouting } from "../../dialects/reading/read-routing.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import type { AnswerCaching } from "../cached/answer-caching.ts";
import type { CausingCall, IncomingRequest } from "../call.ts";
import { routingFor } from "../derived/derive.ts";

import type { Gateway } from "../gateway.ts";
import { RequestGuard } from "../guard/guard-request.ts";
import { beginGuards, type GuardRun } from "../guard/guard-run.ts";
import { requireTraits } from "../require-traits.ts";
import { type BilledOffer, checkBilling } from "./check-billing.ts";
import { endUserOf } from "./end-user.ts";
import type { EnteredRequest } from "./enter-request.ts";
import { requireOwnObjects } from "./require-own-objects.ts";
import { type Requester, resolveRouting } from "./resolve-routing.ts";

/** What the pipeline needs to know about any request body. */
export interface ReadRequest {
  /** The fields that may address the gateway itself. Of a form, only those fields. */
  readonly body: JsonObject;
  /** The same without long texts, if that is known. */
  readonly outline?: { readonly body: JsonObject } | undefined;
  /** The text fields of a form. They may name objects too. */
  readonly fields?: JsonObject;
  /** The model, if `body` does not name it. */
  readonly model?: string | undefined;
  /** False if the reader has seen that no field of the body could name an object. */
  readonly mayNameObjects?: boolean;
}

/** Everything that is known about a request once its model is resolved. */
export interface ResolvedRequest<Incoming extends IncomingRequest, Found extends Resolved | undefined> {
  readonly incoming: Incoming;
  readonly entered: EnteredRequest;
  readonly principal: Principal;
  readonly resolved: Found;
  /** The routing fields and headers of the request. */
  readonly wanted: RoutingRequest | undefined;
  readonly routing: CallRouting;
}

/** A request matched to a model that can serve it. */
export interface FittedRequest {
  readonly served: Resolved & { readonly fallback?: { readonly model: Pick<Model, "id"> } | undefined };
}

/**
 * One kind of call: text, images, videos or a service. `readRequest` calls these functions in the order listed, and every check
 * between them applies to all kinds.
 */
export interface CallKind<
  Incoming extends IncomingRequest,
  Read extends ReadRequest,
  Found extends Resolved | undefined,
  Fitted extends FittedRequest,
> {
  /** Reads the body and checks its form. */
  read(incoming: Incoming, entered: EnteredRequest, gateway: Gateway): Promise<Read>;
  /** Finds the model. Only text calls may leave the choice to the gateway, which then chooses in `fit`. */
  resolve(name: string, incoming: Incoming, gateway: Gateway): Found;
  /** Checks the request by what its model accepts; the result is used in its place. */
  check?(read: Read, requester: Requester<Incoming>, gateway: Gateway): Read;
  /** Finds the targets that can serve the request. Throws if no target can. */
  fit(read: Read, request: ResolvedRequest<Incoming, Found>, gateway: Gateway): Promise<Fitted>;
  /** What the request contains that may cost money besides its usage. */
  billables(fitted: Fitted, incoming: Incoming): readonly Billable[];
  /** Every offer that may answer. */
  billedOffers(fitted: Fitted, incoming: Incoming, gateway: Gateway): Iterable<BilledOffer>;
  /** What the call may use at most. */
  estimate(fitted: Fitted, request: ResolvedRequest<Incoming, Found>, billables: readonly Billable[]): CallEstimate;
  /** The stored response that answers the request, and where its own is stored. Called only if the key has a cache. Absent: never. */
  caching?(
    known: { read: Read; fitted: Fitted; billables: readonly Billable[]; estimate: CallEstimate },
    request: ResolvedRequest<Incoming, Found>,
    gateway: Gateway,
  ): Promise<AnswerCaching | undefined>;
  /** The body as it came. Called only if the key's bodies are captured, or guards look at the request. */
  sent(read: Read): string;
  /** The same request with the body that guards have left of it. */
  rewritten(read: Read, body: string, request: ResolvedRequest<Incoming, Found>, gateway: Gateway): Promise<Read>;
  /** Why guards cannot look at such requests; absent if they can. */
  readonly unguarded?: string;
  /** The request with what `fit` has added to it from elsewhere; undefined if it can add nothing. */
  readonly whole?: {
    read(fitted: Fitted): string;
    replaced(fitted: Fitted, body: string): Fitted;
  };
  /** The verb in the receipt. */
  verb(incoming: Incoming): Receipt["verb"];
  streams(fitted: Fitted, incoming: Incoming): boolean;
}

/** A request that has been read, checked and admitted. */
export interface AdmittedRequest<Fitted extends FittedRequest> {
  readonly admission: Admission;
  readonly fitted: Fitted;
  readonly billables: readonly Billable[];
  readonly wanted: RoutingRequest | undefined;
  readonly routing: CallRouting;
  /** The body as received. Undefined unless the key's bodies are captured, because nothing else keeps the text of a large body. */
  readonly sent: string | undefined;
  /** Undefined if no guard looks at it. */
  readonly guards: GuardRun | undefined;
  /** Undefined if its response is neither stored nor looked up. */
  readonly caching: AnswerCaching | undefined;
  /** Shows it to its guards. The call runs meanwhile: it is listed, and ends like any other. */
  readonly check?: (call: CausingCall) => Promise<CheckedRequest<Fitted>>;
}

/** A request as its guards have left it. */
interface CheckedRequest<Fitted extends FittedRequest>
  extends Pick<AdmittedRequest<Fitted>, "fitted" | "sent" | "caching"> {
  /** A guard does not let it pass, or the call has ended. */
  readonly refusal: unknown;
}

/**
 * The first part of every call: read, resolve, check, require ownership, route, fit, check prices, admit. Throws if the request is
 * rejected. A text call waits here only for its body, unless objects, stored responses or limits must be looked up.
 */
export async function readRequest<
  Incoming extends IncomingRequest,
  Read extends ReadRequest,
  Found extends Resolved | undefined,
  Fitted extends FittedRequest,
>(
  kind: CallKind<Incoming, Read, Found, Fitted>,
  incoming: Incoming,
  entered: EnteredRequest,
  gateway: Gateway,
): Promise<AdmittedRequest<Fitted>> {
  const { principal, entry, timer } = entered;
  timer.to("client");
  const received = await kind.read(incoming, entered, gateway);
  timer.to("gateway");
  const asked = outlineOf(received);
  const { cause } = incoming;
  const endUser = cause
    ? cause.call.admission.endUser
    : endUserOf(incoming.request.headers, received.fields ?? asked, principal);
  const wanted = cause ? undefined : readRouting(asked, incoming.request.headers);
  const resolved = kind.resolve(modelName(incoming, received), incoming, gateway);
  const requester = { incoming, principal, model: resolved?.model };
  const read = kind.check === undefined ? received : kind.check(received, requester, gateway);
  // The objects that its cause names were checked.
  if (received.mayNameObjects !== false && cause === undefined)
    await requireOwnObjects(read.fields ?? read.body, incoming.dialect.requests.objects, principal, gateway);
  const routing = cause
    ? routingFor(cause, { resolved, startedAtMs: entered.startedAtMs }, gateway)
    : resolveRouting(wanted, requester, gateway);
  if (routing.require !== undefined && resolved !== undefined) requireTraits(resolved, routing, principal, gateway);
  const request = { incoming, entered, principal, resolved, wanted, routing };
  const fitted = await kind.fit(read, request, gateway);
  const billables = kind.billables(fitted, incoming);
  if (kind.verb(incoming) !== "count_tokens") {
    const offers = kind.billedOffers(fitted, incoming, gateway);
    checkBilling(billables, { principal, door: incoming.door }, offers, gateway);
  }
  const estimate = kind.estimate(fitted, request, billables);
  estimate.endUser = endUser;
  if (principal.parts !== undefined) estimate.tags = unionOfTags(principal.tags, incoming.tags);
  const caching =
    principal.answerCache === undefined || kind.caching === undefined
      ? undefined
      : await kind.caching({ read, fitted, billables, estimate }, request, gateway);
  const guards = gateway.snapshot.guards && beginGuards(incoming, principal, modelsOf(fitted.served), gateway);
  const sent = principal.capture === true && guards === undefined ? kind.sent(received) : undefined;
  const found = caching?.found;
  // Before the admission, which a refusal would not release.
  if (found !== undefined) entered.memory.add(found.text.length);
  const admission = await entry.admitShared(found === undefined ? estimate : { ...estimate, ...USES_NOTHING });
  const admitted = { admission, fitted, sent, guards, billables, wanted, routing, caching };
  if (guards === undefined) return admitted;
  const check = async (call: CausingCall) => {
    const left = await guarded(kind, { read, fitted, request, guards, call }, gateway);
    const isSame = left.fitted === fitted && left.refusal === undefined && !guards.hasChanged(undefined);
    if (caching === undefined || found === undefined || isSame) return { caching, ...left };
    const asked = { ...left, caching: { place: caching.place, found: undefined } };
    if (left.refusal !== undefined) return asked;
    try {
      // Guards that decide otherwise than before make it an ordinary request.
      admission.grow(estimate);
      return asked;
    } catch (refusal) {
      return { ...asked, refusal };
    }
  };
  return { ...admitted, check };
}

/** The models that may answer. */
const modelsOf = ({ model, fallback }: FittedRequest["served"]): string[] =>
  fallback === undefined ? [model.id] : [model.id, fallback.model.id];

interface GuardedParts<Incoming extends IncomingRequest, Read, Found extends Resolved | undefined, Fitted> {
  read: Read;
  fitted: Fitted;
  request: ResolvedRequest<Incoming, Found>;
  guards: GuardRun;
  call: CausingCall;
}

/** What a stored response needs. */
const USES_NOTHING = {
  isFree: true,
  estimatedTokens: 0,
  estimatedCostNanoUsd: 0,
  maxCostNanoUsd: 0,
  leastTokens: 0,
  offers: undefined,
};

const BLOCKED_BODY = "Not captured: a guard refused the request.";
const READ_BEFORE = "the request was checked when its batch was created";

/** The request as its guards leave it. */
async function guarded<
  Incoming extends IncomingRequest,
  Read extends ReadRequest,
  Found extends Resolved | undefined,
  Fitted extends FittedRequest,
>(
  kind: CallKind<Incoming, Read, Found, Fitted>,
  { read, fitted, request, guards, call }: GuardedParts<Incoming, Read, Found, Fitted>,
  gateway: Gateway,
): Promise<Pick<CheckedRequest<Fitted>, "fitted" | "sent" | "refusal">> {
  const { incoming, principal } = request;
  const captured = (body: () => string) => (principal.capture === true ? body() : undefined);
  const before = { fitted, sent: captured(() => kind.sent(read)), refusal: undefined };
  const { native } = incoming.line ?? {};
  if (guards.inForce.request.length === 0 || (native?.response === undefined && native?.isTrial)) return before;
  const unseen = native?.response === undefined ? kind.unguarded : READ_BEFORE;
  if (unseen !== undefined) {
    for (const { settings } of guards.inForce.request) guards.request.failed(settings.name, unseen, 0);
    return before;
  }
  try {
    const guard = new RequestGuard({ gateway, call, run: guards });
    const body = kind.sent(read);
    const left = await guard.check(body);
    const isChanged = left !== body;
    if (isChanged) guards.left = left;
    const checked = isChanged ? await kind.rewritten(read, left, request, gateway) : read;
    let after = isChanged ? await kind.fit(checked, request, gateway) : fitted;
    if (kind.whole !== undefined) {
      const whole = kind.whole.read(after);
      const allLeft = whole === left ? left : await guard.check(whole);
      if (allLeft !== whole) after = kind.whole.replaced(after, allLeft);
    }
    guards.request.finish();
    return { fitted: after, sent: captured(() => kind.sent(checked)), refusal: undefined };
  } catch (refusal) {
    return { fitted, sent: captured(() => BLOCKED_BODY), refusal };
  }
}

function modelName({ modelInPath }: IncomingRequest, read: ReadRequest): string {
  const { model } = read;
  const body = outlineOf(read);
  const name = modelInPath ?? model ?? stringAt(body, "model");
  if (name) return name;
  const found = body["model"] === undefined ? "is missing" : `is ${JSON.stringify(body["model"])?.slice(0, 40)}`;
  const message = `model ${found}; it must be a string such as "<provider>/<model_name>".`;
  throw new GatewayError("invalid_request", message, { path: "model" });
}
