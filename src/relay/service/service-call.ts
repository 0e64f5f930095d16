import type { Principal } from "../../access/principal.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Billable } from "../../canon/billable.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { Offer } from "../../catalogue/model.ts";
import type { Door } from "../../dialects/check.ts";
import { readRouting } from "../../dialects/read-routing.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import type { ServiceTarget } from "../../routing/target.ts";
import type { ServiceName } from "../../services/service-adapters.ts";
import { admitCall, type EnteredRequest } from "../admit-call.ts";
import { askedRouting, notesOnMedia } from "../asked-routing.ts";
import type { ClientPresence, IncomingRequest } from "../call.ts";
import { captureOf } from "../capture-call.ts";
import { checkBilling } from "../check-billing.ts";
import { mostAfterDiscount } from "../discount.ts";
import type { Gateway } from "../gateway.ts";
import { inClientWords } from "../media/client-words.ts";
import { offersThatFit } from "../media/offers-that-fit.ts";
import type { HeldMemory } from "../memory-budget.ts";
import { planMedia } from "../plan-call.ts";
import { requireOwnObjects } from "../require-own-objects.ts";
import type { AdmittedCall } from "../settle.ts";
import { tellBegun } from "../tell-call.ts";
import type { ServiceAttempt } from "./service-attempt.ts";

/** A request to a service as the server hands it over, before its body is read. */
export interface IncomingService extends IncomingRequest {
  door: Door;
  /** Where the path names the model; elsewhere the body does. */
  modelInPath?: string;
}

/** A request to a service, read and checked. */
export interface ReadService<Request> {
  /** Where the body names it. */
  model?: string | undefined;
  request: Request;
  /** What may speak to the gateway itself; of a form, those fields alone. */
  body: JsonObject;
  /** The texts of a form. */
  fields?: JsonObject;
  /** What is not honoured, whichever offer answers. */
  notes?: readonly FieldNote[];
  /** The client's names of fields, by the canonical ones, for errors. */
  paths?: Readonly<Partial<Record<string, string>>>;
  stream?: boolean;
  /** The body as it came, where it may be kept: of a form its fields, and of its files type and size. */
  sent?: string;
}

/** What a call may use, for keys that are limited. */
interface ServiceEstimate {
  estimatedCostNanoUsd: number;
  estimatedTokens: number;
}

/** What is asked of a provider beside conversations, images and videos, in one of the protocols for it. */
export interface Service<Name extends ServiceName, Request> {
  /** Also the receipt's verb. */
  name: Name;
  read(
    request: globalThis.Request,
    memory: HeldMemory,
    gateway: Gateway,
    principal: Principal,
  ): Promise<ReadService<Request>>;
  estimate(request: Request, offers: readonly Offer[]): ServiceEstimate;
  /** What the request asks for that may cost money besides what is used; absent where there is no such thing. */
  billables?(request: Request): readonly Billable[];
  /** Throws for a target that cannot do what is asked; another may. */
  fit?(request: Request, target: ServiceTarget<Name>): void;
}

/** One call of a service. */
export interface ServiceCall<Request = unknown, Name extends ServiceName = ServiceName> extends AdmittedCall {
  attempt: ServiceAttempt<Name> | undefined;
  readonly incoming: IncomingService;
  readonly service: Name;
  readonly request: Request;
  /** What the answer calls the model: at the drop-in door as the client did, else by its id. */
  readonly modelInAnswer: string;
  readonly notes: readonly FieldNote[];
  readonly paths: Readonly<Partial<Record<string, string>>>;
  readonly client: ClientPresence;
  readonly routing: CallRouting;
}

/** Has a request read, resolved, planned and admitted. From here on there is a receipt. */
export async function admitService<Name extends ServiceName, Request>(
  incoming: IncomingService,
  gateway: Gateway,
  service: Service<Name, Request>,
): Promise<{ call: ServiceCall<Request, Name>; targets: readonly ServiceTarget<Name>[] }> {
  const { admitted, asked } = await admitCall(
    incoming,
    gateway,
    (entered) => readService(incoming, entered, gateway, service),
    ({ model, read: { stream = false } }) => ({ verb: service.name, model, stream }),
  );
  const { model, calledAs, notes, plan, read } = asked;
  const call: ServiceCall<Request, Name> = {
    ...admitted,
    incoming,
    service: service.name,
    model,
    modelInAnswer: incoming.door === "dropin" ? calledAs : model.id,
    request: read.request,
    stream: read.stream ?? false,
    notes,
    paths: read.paths ?? {},
    plan: plan.explained,
    capture:
      admitted.principal.capture === true && read.sent !== undefined
        ? captureOf(read.sent, incoming, gateway)
        : undefined,
  };
  if (gateway.events.watched) tellBegun(call, gateway);
  return { call, targets: plan.targets };
}

async function readService<Name extends ServiceName, Request>(
  incoming: IncomingService,
  { principal, entry, memory, timer }: EnteredRequest,
  gateway: Gateway,
  service: Service<Name, Request>,
) {
  timer.to("client");
  const read = await service.read(incoming.request, memory, gateway, principal);
  timer.to("gateway");
  await requireOwnObjects(read.fields ?? read.body, incoming.dialect.requests.objects, principal, gateway);
  const wanted = readRouting(read.body, incoming.request.headers);
  const { catalogue, targets } = gateway.snapshot;
  const resolved = catalogue.resolve(modelName(incoming, read), incoming.naming);
  const { model, offers, calledAs } = resolved;
  const offered = targets.service(service.name, model, offers);
  const routing = askedRouting(wanted, { incoming, principal, model }, gateway);
  const plan = planMedia({ model, routing }, gateway, fitting(service, read, offered));
  const billables = service.billables?.(read.request) ?? [];
  if (billables.length > 0) {
    const all = offers.map((offer) => ({ model, offer, sentAs: nameOf }));
    checkBilling(billables, { principal, door: incoming.door }, all, gateway);
  }
  const { estimatedCostNanoUsd, estimatedTokens } = service.estimate(read.request, offers);
  const admitting = entry.admitShared({
    model: model.id,
    dialect: incoming.dialect.name,
    estimatedCostNanoUsd: mostAfterDiscount(estimatedCostNanoUsd, principal, { model, offers }),
    estimatedTokens,
  });
  const admission = admitting instanceof Promise ? await admitting : admitting;
  const notes = [...resolved.notes, ...notesOnMedia(wanted, true), ...(read.notes ?? [])];
  return { admission, model, calledAs, notes, plan, read, routing };
}

const nameOf = ({ name }: Billable): string => name;

/** The targets that can do what is asked; where none can, the reason of the first is the client's. */
function fitting<Name extends ServiceName, Request>(
  { fit }: Service<Name, Request>,
  { request, paths = {} }: ReadService<Request>,
  offered: readonly ServiceTarget<Name>[],
): readonly ServiceTarget<Name>[] {
  if (fit === undefined) return offered;
  try {
    return offersThatFit(offered, (target) => fit(request, target)).map(({ target }) => target);
  } catch (thrown) {
    throw inClientWords(asGatewayError(thrown), paths);
  }
}

function modelName({ modelInPath }: IncomingService, { model, body }: ReadService<unknown>): string {
  const name = modelInPath ?? model;
  if (name) return name;
  const found = body["model"] === undefined ? "is missing" : `is ${JSON.stringify(body["model"])?.slice(0, 40)}`;
  const message = `model ${found}; it must be a string such as "<provider>/<model_name>".`;
  throw new GatewayError("invalid_request", message, { path: "model" });
}
