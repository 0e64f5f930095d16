import type { FoundAnswer } from "../../answers/answer-cache.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { answerHeaders, streamHeaders } from "../answer/answer-headers.ts";
import { ClientOutput, directBody, streamedBody } from "../answer/client-output.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { type AdmittedCall, closeCall } from "../settle/close-call.ts";
import { freshText } from "./fresh-text.ts";

/** A larger response is sent in parts, at the pace of its client. */
const PART_CHARACTERS = 64 * 1024;

type ReplayedCall = AdmittedCall & {
  incoming: Pick<IncomingRequest, "dialect" | "requestId"> & { options?: unknown };
};

/**
 * Answers a call with a stored response, which costs nothing and uses no tokens. The end of it is sent when the call's row is
 * committed. Until a large one is sent, the call keeps its place among the calls in flight and its memory.
 */
export async function replayAnswer(
  admitted: ReplayedCall,
  verb: Receipt["verb"],
  found: FoundAnswer,
  gateway: Gateway,
): Promise<Response> {
  const text = freshText(found, gateway);
  const { client } = admitted;
  const attempt = { target: undefined, lane: { name: found.lane }, notes: [...found.fields], terms: [] };
  const call = { ...admitted, attempt };
  call.guards?.repeats();
  const { counts } = gateway.answerCache;
  counts.hits++;
  counts.savedNanoUsd += found.costNanoUsd;
  const firstContentAtMs = gateway.clock.nowMs();
  const headers = () => headersOf(call, found);
  if (text.length > PART_CHARACTERS) {
    const body = streamedBody(client, async (controller) => {
      const output = new ClientOutput(client, gateway, undefined, call.timer);
      output.commit(controller, true);
      await sendParts(text, output, () => settleReplay(call, verb, found, firstContentAtMs, gateway));
      call.capture?.answered(text);
    });
    return identifiedResponse(body, headers());
  }
  await settleReplay(call, verb, found, firstContentAtMs, gateway);
  call.capture?.answered(text);
  if (!call.stream) return identifiedResponse(text, headers());
  const body = directBody(client, (controller) => {
    client.answerBegun = true;
    controller.write(text);
    controller.close();
  });
  return identifiedResponse(body, headers());
}

function headersOf(call: ReplayedCall, { ageSeconds }: FoundAnswer): Record<string, string> {
  const { dialect, options } = call.incoming;
  const headers = call.stream
    ? streamHeaders(call, dialect.http.streamType(options))
    : answerHeaders(call, "application/json");
  headers["x-trivium-cached"] = String(ageSeconds);
  return headers;
}

const settleReplay = (
  call: ReplayedCall,
  verb: Receipt["verb"],
  found: FoundAnswer,
  firstContentAtMs: number,
  gateway: Gateway,
): Promise<void> =>
  closeCall(call, gateway, {
    verb,
    clientDialect: call.incoming.dialect.name,
    upstreamDialect: found.upstreamDialect,
    lane: found.lane,
    outcome: call.client.disconnected ? "client_gone" : "ok",
    offer: undefined,
    usage: NOTHING_USED,
    source: "measured",
    pricings: {},
    stop: found.stop,
    firstContentAtMs,
    cached: found,
  });

const NOTHING_USED = { input: 0, output: 0 };

/** Sends all but the last part, settles the call, and sends that. */
async function sendParts(text: string, output: ClientOutput, settle: () => Promise<void>): Promise<void> {
  let at = 0;
  try {
    for (let end = endOfPart(text, at); end < text.length; end = endOfPart(text, at)) {
      await output.sendText(text.slice(at, end));
      at = end;
    }
    await settle();
  } catch (thrown) {
    output.breakOff();
    throw thrown;
  }
  await output.sendText(text.slice(at));
  output.close();
}

/** Not between the halves of a character. */
function endOfPart(text: string, from: number): number {
  const end = Math.min(text.length, from + PART_CHARACTERS);
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end + 1 : end;
}
