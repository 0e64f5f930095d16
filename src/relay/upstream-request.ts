import { boundNotes } from "../canon/bound-notes.ts";
import type { FieldNote } from "../canon/receipt.ts";
import type { NativeRequest } from "../dialects/dialect.ts";
import { noteRouting, noteRoutingHeaders } from "../dialects/routing-fields.ts";
import type { BodyPatch, OutgoingRequest, Provider, UpstreamCall } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import { ObjectEdit } from "../wire/json-text.ts";
import type { Call } from "./call.ts";
import type { Lane } from "./lane.ts";
import { refuseNotes } from "./refuse-notes.ts";

/** The request of one attempt, ready to be sent; what it could not honour is in the call's notes. */
export async function makeUpstreamRequest(
  call: Call,
  lane: Lane,
  { provider, offer, dialect }: PlannedOffer<Provider>,
): Promise<OutgoingRequest> {
  const { incoming, stream, received } = call;
  if (!received) throw new Error("the request was let go before the last attempt");
  const preparing = lane.prepareRequest(received);
  const prepared = preparing instanceof Promise ? await preparing : preparing;
  const betas = dialect === "messages" && provider.quirksOf(dialect).forwardBetas ? incoming.betas : [];
  noteBetas(incoming.betas, betas, prepared.notes);
  noteRouting(received.body, prepared.notes);
  noteRoutingHeaders(incoming.request.headers, prepared.notes);
  call.notes = boundNotes(call.adapted.length === 0 ? prepared.notes : [...call.adapted, ...prepared.notes]);
  if (incoming.strict || call.principal.strict) refuseNotes(call.notes);
  const target: UpstreamCall = { dialect, verb: incoming.verb, model: offer.upstreamModel, stream, betas };
  const place = provider.address(target);
  const { url, headers } = place instanceof Promise ? await place : place;
  const patch = provider.bodyPatch(target);
  const body = patch === undefined ? prepared.payload : patched(prepared.payload, patch);
  if (!provider.signs) return { url, headers, body };
  return { url, headers: { ...headers, ...provider.sign({ url, headers, body }) }, body };
}

function noteBetas(asked: readonly string[], sent: readonly string[], notes: FieldNote[]): void {
  if (asked === sent) return;
  const reason = "this provider knows no betas";
  for (const beta of asked) notes.push({ path: `beta ${beta}`, action: "dropped", reason });
}

function patched(payload: NativeRequest["payload"], { remove, set }: BodyPatch): string {
  const edit = new ObjectEdit(String(payload));
  for (const key of remove) edit.remove(key);
  for (const [key, value] of Object.entries(set)) edit.set(key, JSON.stringify(value));
  return edit.toString();
}
