import { asGatewayError, type GatewayError } from "../../canon/error.ts";
import type { ImageReply } from "../../media/image-reply.ts";
import type { ImageTarget } from "../../routing/target.ts";
import { RelayError } from "../answer/relay-error.ts";
import { tryOffers } from "../attempt/try-offers.ts";
import { ClientDisconnectedError } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { closeCall } from "../settle/close-call.ts";
import { inClientWords } from "./client-words.ts";
import type { ImageRelay } from "./image-attempt.ts";
import { beginImages } from "./image-attempt.ts";
import { billOfCall } from "./image-bill.ts";
import { imagesOf, imagesOrReasons } from "./make-at-offer.ts";

/** How a protocol returns all images at once. */
interface WholeAnswer<Answer> {
  /** A blocked prompt is a response and not an error. */
  blockedInBand: boolean;
  encode(reply: ImageReply): Promise<Answer>;
}

/** Generates the images and commits the row; then the response may be sent. A client that disconnected is billed too (H26). */
export async function answerImages<Answer>(
  call: ImageRelay,
  gateway: Gateway,
  plan: readonly ImageTarget[],
  { blockedInBand, encode }: WholeAnswer<Answer>,
): Promise<Answer> {
  try {
    const reply = await tryOffers(call, gateway, plan, beginImages(call, gateway), (attempt) =>
      blockedInBand ? imagesOrReasons(call, gateway, attempt) : imagesOf(call, gateway, attempt),
    );
    if (call.client.disconnected) throw new ClientDisconnectedError();
    const answer = await encode(reply);
    await settleImages(call, gateway, "ok");
    return answer;
  } catch (thrown) {
    throw await failImages(call, gateway, thrown);
  }
}

/** Settles a failed call and returns its error in the client's terms. */
export async function failImages(call: ImageRelay, gateway: Gateway, thrown: unknown): Promise<RelayError> {
  const { client, request } = call;
  const error = asGatewayError(client.disconnected ? new ClientDisconnectedError() : thrown);
  const shown = inClientWords(error, request.paths);
  await settleImages(call, gateway, error.kind, shown);
  return new RelayError(shown, call);
}

/** Writes the row of an image call: `ok`, or the kind of its error. Generated images are billed even if the client disconnected. */
export function settleImages(call: ImageRelay, gateway: Gateway, end: string, error?: GatewayError): Promise<void> {
  call.attempt?.finish();
  const outcome = call.client.disconnected ? "client_gone" : end;
  return closeCall(call, gateway, { ...billOfCall(call, outcome, gateway.clock.nowMs()), error });
}
