import { type Billable, WEB_SEARCH } from "../../canon/billable.ts";
import type { Model, Offer } from "../../catalogue/model.ts";
import { sharesTerms } from "../../dialects/reading/shared-fields.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import type { TextTarget } from "../../routing/target.ts";
import type { IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { ServedModel } from "../settle/served-model.ts";
import type { BilledOffer } from "./check-billing.ts";

/** Every offer that may answer a call, and what its host would be sent of the request. */
export function* billedOffers(
  { model, offers, fallback }: ServedModel,
  incoming: IncomingCall,
  request: Pick<ReceivedRequest, "body">,
  gateway: Pick<Gateway, "snapshot">,
): Generator<BilledOffer> {
  yield* offersOf(model, offers, incoming, request, gateway);
  if (fallback !== undefined) yield* offersOf(fallback.model, fallback.offers, incoming, request, gateway);
}

function* offersOf(
  model: Model,
  offers: readonly Offer[],
  { dialect }: IncomingCall,
  request: Pick<ReceivedRequest, "body">,
  { snapshot: { targets } }: Pick<Gateway, "snapshot">,
): Generator<BilledOffer> {
  const { hostedImages } = dialect;
  for (const offer of offers) {
    // Asked only for what a request contains besides tokens, so that nothing is looked up for others.
    const sentAs = (billable: Billable): string | undefined => {
      const hosts = targets.textOf(offer);
      const host = hosts.find(({ via }) => via === dialect.name);
      const plays = host !== undefined && hostedImages?.isNative(host.via, host.quirks) === false;
      // What the gateway does in place of a host is billed separately.
      const played = plays ? hostedImages?.read(request.body)?.path : undefined;
      if (host === undefined) return nameElsewhere(billable, dialect.name, hosts);
      return plays && billable.path === `${played}.type` ? undefined : nameAt(host, billable);
    };
    yield { model, offer, sentAs };
  }
}

/** What a host of the client's dialect is sent. A host that supports few tools is never sent others. */
function nameAt({ codec, quirks }: TextTarget, { name, path, crossesAs }: Billable): string | undefined {
  if (!path.startsWith("tools[") || codec.takesTool === undefined) return name;
  const [type = name] = name.split(":");
  return codec.takesTool(type, quirks) || (crossesAs !== undefined && codec.takesTool(crossesAs, quirks))
    ? name
    : undefined;
}

/** What hosts of other dialects are sent: some accept the terms as well, and the tools that they have under another name. */
function nameElsewhere(
  { kind, name, crossesAs }: Billable,
  client: string,
  hosts: readonly TextTarget[],
): string | undefined {
  if (kind === "term") return hosts.some(({ via, quirks }) => sharesTerms(client, via, quirks)) ? name : crossesAs;
  if (crossesAs === undefined) return undefined;
  const takes = ({ codec, quirks }: TextTarget): boolean =>
    crossesAs === WEB_SEARCH
      ? (codec.takesSearch?.(quirks) ?? true)
      : (codec.takesHosted?.(crossesAs, quirks) ?? false);
  return hosts.some(takes) ? crossesAs : undefined;
}
