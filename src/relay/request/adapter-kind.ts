import type { OfferUse } from "../../access/entries/use-at-offers.ts";
import type { Billable } from "../../canon/billable.ts";
import type { FieldNote, Receipt } from "../../canon/receipt.ts";
import type { Resolved } from "../../catalogue/catalogue.ts";
import { discounted } from "../../catalogue/discounted.ts";
import type { Model, Offer } from "../../catalogue/model.ts";
import type { CallPlan } from "../../routing/candidates.ts";
import type { Target } from "../../routing/target.ts";
import type { Targets } from "../../routing/targets.ts";
import type { Form } from "../../wire/read-multipart.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { requireFileSpace } from "../media/require-file-space.ts";
import { discountAt } from "../settle/discount.ts";
import type { EnteredRequest } from "./enter-request.ts";
import { estimateOf, needsEstimate } from "./estimate-use.ts";
import { type ClientPaths, planFitting } from "./plan-fitting.ts";
import type { CallKind, FittedRequest, ReadRequest, ResolvedRequest } from "./read-request.ts";
import { notesOnMediaRouting } from "./resolve-routing.ts";
import { withBody } from "./with-body.ts";

/** A request for images, videos or a service, read and checked. */
export interface ReadForAdapter<Request> extends ReadRequest {
  readonly request: Request;
  /**
   * The body as received: for a form, its text fields and the type and size of its files. A large JSON body is decoded when `text`
   * is read.
   */
  readonly sent: { readonly text: string };
  /** Fields that no offer honours. */
  readonly notes?: readonly FieldNote[];
  /** The client's field names by canonical name, for errors. */
  readonly paths?: ClientPaths;
  readonly stream?: boolean;
  /** Set if the body is a form. */
  readonly form?: Form;
}

/** What a call may use at one target. */
export interface EstimatedUse {
  /** Before any discount. */
  costNanoUsd: number;
  /** How many bills of this cost there may be; 1 if absent. The discount of each is rounded separately. */
  bills?: number;
  tokens: number;
}

/**
 * A kind of call that providers serve through a separate API instead of a conversation: images, videos and every service. Each
 * target has an adapter for it.
 */
export interface AdapterKind<Incoming extends IncomingRequest, Request, At extends Target, Fitted> {
  /** As in the receipt. */
  readonly verb: Receipt["verb"];
  /** The client gets its result in the response, and not from a job that continues afterwards. */
  readonly waits: boolean;
  read(incoming: Incoming, entered: EnteredRequest, gateway: Gateway): Promise<ReadForAdapter<Request>>;
  /** Throws if the model, or all of its offers, produce something else. */
  targets(targets: Targets, model: Model, offers: readonly Offer[]): readonly At[];
  /** Fetches what the request links to. `notes` are those on the model's name and on routing fields. */
  prepare?(request: Request, notes: readonly FieldNote[], incoming: Incoming, gateway: Gateway): Promise<Request>;
  /** The request as the target accepts it. Throws for a target that cannot serve the request; another may. */
  fit(request: Request, target: At): Fitted;
  /** The space that the results need in the file store, if they are stored there. */
  fileBytes?(fitted: Fitted): number;
  /** What the request may use at each target. */
  estimate(request: Request): (target: At, fitted: Fitted) => EstimatedUse;
  /** What the request contains that may cost money besides its usage; absent if nothing can. */
  billables?(request: Request): readonly Billable[];
}

/** A request and the targets that can serve it, in order. */
export interface AdaptedRequest<Request, At extends Target, Fitted> extends FittedRequest {
  readonly request: Request;
  readonly notes: readonly FieldNote[];
  readonly paths: ClientPaths;
  readonly stream: boolean;
  readonly plan: CallPlan<At>;
  /** The plan's targets, each with what `fit` made of the request. */
  readonly fits: readonly { readonly target: At; readonly fitted: Fitted }[];
}

const NONE: readonly Billable[] = [];
const nameOf = ({ name }: Billable): string => name;

/** Adapts the kind to the pipeline. */
export function adapterCall<Incoming extends IncomingRequest, Request, At extends Target, Fitted>(
  kind: AdapterKind<Incoming, Request, At, Fitted>,
): CallKind<Incoming, ReadForAdapter<Request>, Resolved, AdaptedRequest<Request, At, Fitted>> {
  return {
    verb: () => kind.verb,
    streams: ({ stream }) => stream,
    sent: ({ sent }) => sent.text,
    rewritten: ({ form }, body, { incoming, entered }, gateway) =>
      kind.read({ ...incoming, request: withBody(incoming.request, body, form) }, entered, gateway),
    read: (incoming, entered, gateway) => kind.read(incoming, entered, gateway),
    resolve: (name, { naming }, { snapshot }) => snapshot.catalogue.resolve(name, naming),
    fit: async (read, { incoming, principal, resolved, wanted, routing }, gateway) => {
      const { model, offers } = resolved;
      const { paths = {}, stream = false } = read;
      const offered = kind.targets(gateway.snapshot.targets, model, offers);
      const added = [...resolved.notes, ...notesOnMediaRouting(wanted, kind.waits)];
      const request = (await kind.prepare?.(read.request, added, incoming, gateway)) ?? read.request;
      const planned = planFitting({ model, routing }, gateway, offered, (target) => kind.fit(request, target), paths);
      const [first] = planned.fits;
      if (kind.fileBytes !== undefined && first !== undefined)
        await requireFileSpace(gateway, principal.project, kind.fileBytes(first.fitted));
      return { served: resolved, request, notes: [...added, ...(read.notes ?? [])], paths, stream, ...planned };
    },
    billables: ({ request }) => kind.billables?.(request) ?? NONE,
    billedOffers: ({ served: { model }, fits }) =>
      fits.map(({ target: { offer } }) => ({ model, offer, sentAs: nameOf })),
    estimate: (fitted, request) =>
      estimateOf(request.incoming.dialect.name, fitted.served.model, usesAt(kind, fitted, request)),
  };
}

/**
 * The usage at each offer that may serve the call, after its discount (H23). Only keys with a limit on tokens or money need figures.
 */
function usesAt<Incoming extends IncomingRequest, Request, At extends Target, Fitted>(
  kind: AdapterKind<Incoming, Request, At, Fitted>,
  { request, fits }: AdaptedRequest<Request, At, Fitted>,
  { principal }: ResolvedRequest<Incoming, Resolved>,
): OfferUse[] {
  const useAt = needsEstimate(principal) ? kind.estimate(request) : () => ({ costNanoUsd: 0, tokens: 0 });
  return fits.map(({ target, fitted }) => {
    const { costNanoUsd, bills = 1, tokens }: EstimatedUse = useAt(target, fitted);
    const estimatedCostNanoUsd = discounted(costNanoUsd, discountAt(principal, target)) * bills;
    return { model: target.model.id, provider: target.offer.provider, estimatedCostNanoUsd, estimatedTokens: tokens };
  });
}
