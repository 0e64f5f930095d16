import type { Principal } from "../../access/principal.ts";
import type { FoundAnswer } from "../../answers/answer-cache.ts";
import type { Billable } from "../../canon/billable.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { CachedAnswers } from "../../dialects/answer/cached-answers.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import type { ServiceTarget } from "../../routing/target.ts";
import type { ServiceName } from "../../services/service-adapters.ts";
import { AnswerKeeper } from "../cached/answer-keeper.ts";
import { lookUpServiceAnswer } from "../cached/look-up-service-answer.ts";
import type { ClientPresence, IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { adapterCall, type EstimatedUse, type ReadForAdapter } from "../request/adapter-kind.ts";
import { admitCall } from "../request/admit-call.ts";
import type { HeldMemory } from "../request/memory-budget.ts";
import type { ClientPaths } from "../request/plan-fitting.ts";
import type { AdmittedCall } from "../settle/close-call.ts";
import type { ServiceAttempt } from "./service-attempt.ts";

/** A provider API other than conversations, images and videos, in one client protocol. */
export interface Service<Name extends ServiceName, Request> {
  /** Also the receipt's verb. */
  name: Name;
  read(
    request: globalThis.Request,
    memory: HeldMemory,
    gateway: Gateway,
    principal: Principal,
  ): Promise<ReadForAdapter<Request>>;
  /** The estimated usage at each target, for keys with limits. */
  estimate(request: Request): (target: ServiceTarget<Name>) => EstimatedUse;
  /** What the request contains that may cost money besides its usage; absent if nothing can. */
  billables?(request: Request): readonly Billable[];
  /** Set if its result depends on nothing but the request, so that equal requests may get a stored response. */
  readonly cached?: CachedAnswers;
  /** Throws for a target that cannot serve the request; another may. */
  fit?(request: Request, target: ServiceTarget<Name>): void;
}

/** One call of a service. */
export interface ServiceCall<Request = unknown, Name extends ServiceName = ServiceName> extends AdmittedCall {
  attempt: ServiceAttempt<Name> | undefined;
  readonly incoming: IncomingRequest;
  readonly service: Name;
  readonly request: Request;
  /** The model's name in the response: as the client wrote it at the drop-in door (decision 0027), otherwise its id. */
  readonly modelInAnswer: string;
  readonly notes: readonly FieldNote[];
  readonly paths: ClientPaths;
  readonly client: ClientPresence;
  readonly routing: CallRouting;
}

/** Reads, resolves, plans and admits a request. From here on there is a receipt. */
export async function admitService<Name extends ServiceName, Request>(
  incoming: IncomingRequest,
  gateway: Gateway,
  service: Service<Name, Request>,
): Promise<{
  call: ServiceCall<Request, Name>;
  targets: readonly ServiceTarget<Name>[];
  found: FoundAnswer | undefined;
}> {
  const { admitted, asked } = await admitCall(kindOf(service), incoming, gateway);
  const { request, notes, paths, plan } = asked.fitted;
  const { place, found } = asked.caching ?? {};
  const keeper =
    place === undefined || found !== undefined || service.cached === undefined
      ? undefined
      : new AnswerKeeper(gateway.answerCache, place, service.cached);
  return {
    call: { ...admitted, service: service.name, request, notes, paths, plan: plan.explained, keeper },
    targets: plan.targets,
    found,
  };
}

const kindOf = <Name extends ServiceName, Request>(service: Service<Name, Request>) => {
  const kind = adapterCall<IncomingRequest, Request, ServiceTarget<Name>, void>({
    verb: service.name,
    waits: true,
    read: ({ request }, { memory, principal }, gateway) => service.read(request, memory, gateway, principal),
    targets: (targets, model, offers) => targets.service(service.name, model, offers),
    fit: (request, target) => service.fit?.(request, target),
    estimate: (request) => service.estimate(request),
    billables: (request) => service.billables?.(request) ?? [],
  });
  const { cached } = service;
  if (cached === undefined) return kind;
  const caching: typeof kind.caching = (known, request, gateway) =>
    lookUpServiceAnswer(known, request, gateway, cached);
  return { ...kind, caching };
};
