import { boundNotes } from "../../canon/notes.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { ForwardedOptions, UpstreamRequest } from "../../dialects/dialect.ts";
import { noteOtherModels } from "../../dialects/reading/routing-fields.ts";
import type { OutgoingRequest } from "../../providers/credentials.ts";
import type { BodyPatch, UpstreamCall } from "../../providers/provider.ts";
import type { TextTarget } from "../../routing/target.ts";
import { ObjectEdit } from "../../wire/json-text.ts";
import type { Call } from "../call.ts";
import type { PlacedFiles } from "../files/placed-files.ts";
import { includesLongContext } from "../request/check-billing.ts";
import type { Lane } from "./lane.ts";

/** The client's request as a lane prepared it for one target, without URL and headers. */
export interface PreparedRequest {
  payload: UpstreamRequest["payload"];
  /** Those of the client's own options that are sent with it. */
  options: unknown;
  notes: FieldNote[];
  terms: readonly string[];
  /** Headers that it needs besides those of its options. */
  headers?: Readonly<Record<string, string>>;
}

export async function prepareForTarget(
  call: Call,
  target: TextTarget,
  lane: Lane,
  files?: PlacedFiles,
): Promise<PreparedRequest> {
  const { request } = call;
  if (!request) throw new Error("the request was dropped before the last attempt");
  const prepared = withRouting(call, target, await lane.prepareRequest(request, files));
  const betas = files?.at?.api.callHeaders;
  if (betas === undefined || files?.placed.size === 0) return prepared;
  return { ...prepared, headers: withHeaders(prepared.headers ?? {}, betas) };
}

/** Adds notes on routing fields, and the options that are sent to the target as headers. */
function withRouting(
  call: Call,
  target: TextTarget,
  { payload, notes, terms = NONE, options, headers }: UpstreamRequest,
): PreparedRequest {
  const { adapted } = call;
  const forwarded = forwardedOptions(call, target, notes);
  noteOtherModels(call.outline, notes);
  return {
    payload,
    options: forwarded?.options ?? options,
    notes: boundNotes(adapted.length === 0 ? notes : [...adapted, ...notes]),
    terms:
      forwarded === undefined || forwarded.terms.length === 0 ? terms : [...new Set([...terms, ...forwarded.terms])],
    ...(headers === undefined ? {} : { headers }),
  };
}

const NONE: readonly string[] = [];

/** The complete request. URL, headers and credential come only from the configuration (S07). */
export async function completeRequest(
  { incoming, stream }: Call,
  { provider, offer, via }: TextTarget,
  { payload, options, headers: needed }: PreparedRequest,
): Promise<OutgoingRequest> {
  const asked: UpstreamCall = { dialect: via, verb: incoming.verb, model: offer.upstreamModel, stream, options };
  const patch = provider.bodyPatch(asked);
  const body = patch === undefined ? payload : patched(payload, patch);
  const endpoint = await provider.endpoint(asked);
  const { url } = endpoint;
  const headers = needed === undefined ? endpoint.headers : withHeaders(endpoint.headers, needed);
  const outgoing = { url, headers, ownLines: undefined, body };
  return provider.signs ? { ...outgoing, headers: { ...headers, ...provider.sign(outgoing) } } : outgoing;
}

/** A header that both have has the values of both. */
function withHeaders(
  headers: Readonly<Record<string, string>>,
  needed: Readonly<Record<string, string>>,
): Record<string, string> {
  const both = { ...headers };
  for (const [name, value] of Object.entries(needed)) {
    const known = both[name]?.split(",") ?? [];
    if (!known.includes(value)) both[name] = [...known, value].join(",");
  }
  return both;
}

/** The client's options that are forwarded; most dialects forward none. */
function forwardedOptions(
  { incoming, outline }: Call,
  target: TextTarget,
  notes: FieldNote[],
): ForwardedOptions | undefined {
  const { via, quirks, offer } = target;
  return incoming.dialect.http.forwardOptions?.(
    incoming.options,
    { via, quirks, includesLongContext: includesLongContext(offer), body: outline },
    notes,
  );
}

function patched(payload: UpstreamRequest["payload"], { remove, set }: BodyPatch): string {
  const edit = new ObjectEdit(String(payload));
  for (const key of remove) edit.remove(key);
  for (const [key, value] of Object.entries(set)) edit.set(key, JSON.stringify(value));
  return edit.toString();
}
