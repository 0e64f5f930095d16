import { boundNotes } from "../canon/bound-notes.ts";
import type { FieldNote } from "../canon/receipt.ts";
import { LONG_CONTEXT } from "../canon/terms.ts";
import type { PriceList } from "../catalogue/price-call.ts";
import type { UpstreamRequest } from "../dialects/dialect.ts";
import { isLongContextBeta } from "../dialects/messages/long-context.ts";
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
  const known = via === "messages" && provider.quirksOf(via).forwardBetas;
  const { betas, terms } = known ? fitBetas(call, target, prepared.notes) : { betas: NO_BETAS, terms: NO_BETAS };
  if (!known) noteBetas(incoming.betas, betas, prepared.notes);
  call.terms = terms.length === 0 ? (prepared.terms ?? terms) : [...(prepared.terms ?? []), ...terms];
  noteRouting(received.body, prepared.notes);
  noteRoutingHeaders(incoming.request.headers, prepared.notes);
  call.notes = boundNotes(call.adapted.length === 0 ? prepared.notes : [...call.adapted, ...prepared.notes]);
  if (incoming.strict || call.principal.strict) refuseNotes(call.notes);
  const asked: UpstreamCall = { dialect: via, verb: incoming.verb, model: offer.upstreamModel, stream, betas };
  const place = provider.address(asked);
  const { url, headers } = place instanceof Promise ? await place : place;
  const patch = provider.bodyPatch(asked);
  const body = patch === undefined ? prepared.payload : patched(prepared.payload, patch);
  if (!provider.signs) return { url, headers, body };
  return { url, headers: { ...headers, ...provider.sign({ url, headers, body }) }, body };
}

const NO_BETAS: readonly string[] = [];

/** A longer context costs more: where the offer has no price for it, it is not bought at the contract door. */
function fitBetas(
  { incoming: { betas, door } }: Call,
  { pricings, priceMultiples = {} }: PriceList,
  notes: FieldNote[],
): { betas: readonly string[]; terms: readonly string[] } {
  const isTiered = pricings.prompt?.some(({ conditions }) => conditions?.prompt_tokens !== undefined) === true;
  const long = isTiered ? undefined : betas.find(isLongContextBeta);
  if (long === undefined) return { betas, terms: NO_BETAS };
  if (door === "dropin" || Object.hasOwn(priceMultiples, LONG_CONTEXT)) return { betas, terms: [LONG_CONTEXT] };
  notes.push({ path: `beta ${long}`, action: "dropped", reason: "the price of a longer context is not known here" });
  return { betas: betas.filter((beta) => !isLongContextBeta(beta)), terms: NO_BETAS };
}

function noteBetas(asked: readonly string[], sent: readonly string[], notes: FieldNote[]): void {
  if (asked === sent) return;
  const reason = "this provider has no beta headers";
  for (const beta of asked) notes.push({ path: `beta ${beta}`, action: "dropped", reason });
}

function patched(payload: UpstreamRequest["payload"], { remove, set }: BodyPatch): string {
  const edit = new ObjectEdit(String(payload));
  for (const key of remove) edit.remove(key);
  for (const [key, value] of Object.entries(set)) edit.set(key, JSON.stringify(value));
  return edit.toString();
}
