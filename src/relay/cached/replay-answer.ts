import type { FoundAnswer } from "../../answers/answer-cache.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { answerHeaders, streamHeaders } from "../answer/answer-headers.ts";
import { ClientOutput, directBody } from "../answer/client-output.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import type { Call, IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { type AdmittedCall, closeCall } from "../settle/close-call.ts";
import { freshText } from "./fresh-text.ts";

/** A larger response is sent in parts, at the pace of its client. */
const PART_CHARACTERS = 64 * 1024;

type ReplayedCall = AdmittedCall & {
  incoming: Pick<IncomingRequest, "dialect" | "requestId"> & { options?: unknown };
};

/** Answers a call with a stored response. The call is settled first: it costs nothing and uses no tokens. */
export async function replayAnswer(
  admitted: ReplayedCall,
  verb: Receipt["verb"],
  found: FoundAnswer,
  gateway: Gateway,
): Promise<Response> {
  const text = freshText(found, gateway);
  const { incoming, capture } = admitted;
  const attempt = { target: undefined, lane: { name: found.lane }, notes: [...found.fields], terms: [] };
  const call = { ...admitted, attempt };
  call.guards?.repeats();
  const { counts } = gateway.answerCache;
  counts.hits++;
  counts.savedNanoUsd += found.costNanoUsd;
  await closeCall(call, gateway, {
    verb,
    clientDialect: incoming.dialect.name,
    upstreamDialect: found.upstreamDialect,
    lane: found.lane,
    outcome: call.client.disconnected ? "client_gone" : "ok",
    offer: undefined,
    usage: NOTHING_USED,
    source: "measured",
    pricings: {},
    stop: found.stop,
    firstContentAtMs: gateway.clock.nowMs(),
    cached: found,
  });
  capture?.answered(text);
  const headers = call.stream
    ? streamHeaders(call, incoming.dialect.http.streamType(incoming.options))
    : answerHeaders(call, "application/json");
  headers["x-trivium-cached"] = String(found.ageSeconds);
  if (!call.stream) return identifiedResponse(text, headers);
  const body = directBody(call.client, (controller) => {
    if (text.length > PART_CHARACTERS) {
      const output = new ClientOutput(call.client, gateway, undefined);
      output.commit(controller, true);
      return sendParts(text, output, call);
    }
    call.client.answerBegun = true;
    controller.write(text);
    controller.close();
    return undefined;
  });
  return identifiedResponse(body, headers);
}

const NOTHING_USED = { input: 0, output: 0 };

async function sendParts(text: string, output: ClientOutput, { client }: Pick<Call, "client">): Promise<void> {
  try {
    for (let at = 0; at < text.length && !client.disconnected; ) {
      let end = Math.min(text.length, at + PART_CHARACTERS);
      // Not between the halves of a character.
      if (isHighSurrogate(text.charCodeAt(end - 1))) end++;
      await output.sendText(text.slice(at, end));
      at = end;
    }
  } finally {
    output.close();
  }
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
