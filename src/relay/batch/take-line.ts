import type { PreparedRequest } from "../../batches/native-work.ts";
import { hostedImageTask } from "../answer/hosted-images.ts";
import { chooseLane } from "../attempt/choose-lane.ts";
import { refuseNotes } from "../attempt/refuse-notes.ts";
import { completeRequest, prepareForTarget } from "../attempt/upstream-request.ts";
import type { Call, LaneAttempt, PreparingPass } from "../call.ts";
import { placeFiles } from "../files/place-files.ts";
import type { Gateway } from "../gateway.ts";
import type { TextRequest } from "../request/text-kind.ts";
import { planNative, unfitLine } from "./plan-native.ts";
import { releaseLine } from "./release-line.ts";

/** Prepares the request of a line as its target is sent it. Nothing is sent, and there is no receipt. */
export async function takeLine(
  call: Call,
  fitted: TextRequest,
  native: PreparingPass,
  gateway: Gateway,
): Promise<Response> {
  try {
    requireOneCall(call, fitted, gateway);
    native.take(await prepare(call, fitted, native, gateway));
    return new Response(null, { status: 204 });
  } finally {
    releaseLine(call, gateway);
  }
}

/** What the gateway does in several calls, or besides the call, a batch API cannot do. */
function requireOneCall(call: Call, { served, background, fallbacks, cache }: TextRequest, gateway: Gateway): void {
  const isText = served.model.outputModalities.includes("text");
  const hasImages = call.incoming.dialect.hostedImages && hostedImageTask(call, served, gateway);
  if (cache !== undefined) throw unfitLine("It names a cache.");
  if (background || fallbacks !== undefined || hasImages || !isText || call.stream)
    throw unfitLine("It needs more than one call.");
}

async function prepare(
  call: Call,
  { served }: TextRequest,
  native: PreparingPass,
  gateway: Gateway,
): Promise<PreparedRequest> {
  const { incoming, principal } = call;
  const target = planNative(call, served, native, gateway);
  const { batches } = target.provider;
  if (batches?.endpointOf(target.via) === undefined)
    throw unfitLine(`The provider ${target.offer.provider} has no batch API for it.`);
  const attempt: LaneAttempt = { target, notes: [], terms: [] };
  const { request } = call;
  const named = request?.received.files;
  const files =
    request === undefined || named === undefined
      ? undefined
      : await placeFiles(call, request, named, target, gateway, incoming.request.signal);
  const prepared = await prepareForTarget(call, target, chooseLane(call, gateway, attempt), files);
  if (incoming.strict || principal.strict) refuseNotes(prepared.notes);
  const { body, headers } = await completeRequest(call, target, prepared);
  const text = typeof body === "string" ? body : Buffer.from(body).toString();
  // It becomes one line of a file. Line ends cannot be part of a JSON string.
  const shared = batches.api.sharedHeaders.flatMap((name) =>
    headers[name] === undefined ? [] : [[name, headers[name]]],
  );
  return {
    target: target.id,
    provider: target.offer.provider,
    credential: batches.credential,
    headers: Object.fromEntries(shared) as Record<string, string>,
    body: text.replaceAll(/[\r\n]/g, " "),
    left: call.guards?.left,
  };
}
