import { boundNotes } from "../canon/bound-notes.ts";
import type { FieldNote } from "../canon/receipt.ts";
import type { ForwardedOptions, UpstreamRequest } from "../dialects/dialect.ts";
import { noteRouting, noteRoutingHeaders } from "../dialects/routing-fields.ts";
import type { BodyPatch, OutgoingRequest, UpstreamCall } from "../providers/provider.ts";
import type { TextTarget } from "../routing/target.ts";
import { ObjectEdit } from "../wire/json-text.ts";
import type { Call } from "./call.ts";
import type { Lane } from "./lane.ts";
import { refuseNotes } from "./refuse-notes.ts";

/** The request of one attempt, ready to be sent; what it could not honour is in the call's notes. */
export async function makeUpstreamRequest(call: Call, lane: Lane, target: TextTarget): Promise<OutgoingRequest> {
  const { incoming, stream, received } = call;
  const { provider, offer, via } = target;
  if (!received) throw new Error("the request was let go before the last attempt");
  const preparing = lane.prepareRequest(received);
  const prepared = preparing instanceof Promise ? await preparing : preparing;
  const { terms = [] } = prepared;
  const forwarded = forwardedOptions(call, target, prepared.notes);
  call.terms = forwarded === undefined || forwarded.terms.length === 0 ? terms : [...terms, ...forwarded.terms];
  noteRouting(received.body, prepared.notes);
  noteRoutingHeaders(incoming.request.headers, prepared.notes);
  call.notes = boundNotes(call.adapted.length === 0 ? prepared.notes : [...call.adapted, ...prepared.notes]);
  if (incoming.strict || call.principal.strict) refuseNotes(call.notes);
  const asked: UpstreamCall = {
    dialect: via,
    verb: incoming.verb,
    model: offer.upstreamModel,
    stream,
    options: forwarded?.options,
  };
  const place = provider.address(asked);
  const { url, headers } = place instanceof Promise ? await place : place;
  const patch = provider.bodyPatch(asked);
  const body = patch === undefined ? prepared.payload : patched(prepared.payload, patch);
  if (!provider.signs) return { url, headers, body };
  return { url, headers: { ...headers, ...provider.sign({ url, headers, body }) }, body };
}

/** What of the client's own options goes up; most dialects have none that do. */
function forwardedOptions({ incoming }: Call, target: TextTarget, notes: FieldNote[]): ForwardedOptions | undefined {
  const { via, quirks, pricings, priceMultiples = {} } = target;
  return incoming.dialect.forwardOptions?.(
    incoming.options,
    {
      via,
      quirks,
      door: incoming.door,
      pricedByLength: pricings.prompt?.some(({ conditions }) => conditions?.prompt_tokens !== undefined) === true,
      priceMultiples,
    },
    notes,
  );
}

function patched(payload: UpstreamRequest["payload"], { remove, set }: BodyPatch): string {
  const edit = new ObjectEdit(String(payload));
  for (const key of remove) edit.remove(key);
  for (const [key, value] of Object.entries(set)) edit.set(key, JSON.stringify(value));
  return edit.toString();
}
