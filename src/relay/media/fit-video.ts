import { asGatewayError } from "../../canon/error.ts";
import { boundNotes } from "../../canon/notes.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { Pricings } from "../../catalogue/model.ts";
import { priceUsage } from "../../catalogue/pricing.ts";
import { pricingsOfVideo } from "../../catalogue/video-prices.ts";
import { fitVideoCall } from "../../media/fit-video-call.ts";
import { refuseField } from "../../media/refuse-field.ts";
import type { FittedVideoCall, VideoCapabilities } from "../../media/video-call.ts";
import type { VideoRequest } from "../../media/video-request.ts";
import type { Provider } from "../../providers/provider.ts";
import type { VideoTarget } from "../../routing/target.ts";
import { inClientWords } from "./client-words.ts";
import { mediaOf } from "./exchange.ts";
import { unreadExtras } from "./unread-extras.ts";

/** The call as this offer's model accepts it, with notes on what it does not honour. */
export function fitVideo(asked: VideoRequest, { adapter, offer, provider, model }: VideoTarget) {
  const { call, notes, size } = fitInClientWords(asked, adapter.capabilities(offer.upstreamModel), model.id, provider);
  const fitNotes = notes.map(({ field, action, reason }): FieldNote => ({ path: asked.paths[field], action, reason }));
  const context = mediaOf(provider).context(offer.upstreamModel, "");
  const unread = unreadExtras(call, (watched) => adapter.submit({ ...watched, count: 1 }, context));
  return { call, notes: boundNotes([...asked.notes, ...fitNotes, ...unread]), size };
}

function fitInClientWords(asked: VideoRequest, capabilities: VideoCapabilities, model: string, provider: Provider) {
  try {
    requireSource(asked, provider);
    return fitVideoCall(asked.call, capabilities, model);
  } catch (thrown) {
    throw inClientWords(asGatewayError(thrown), asked.paths);
  }
}

/** A video can only be used with the credential that made it (H24). */
function requireSource({ call: { source } }: VideoRequest, provider: Provider): void {
  if (source === undefined || mediaOf(provider).credential === source.credential) return;
  refuseField("source", `This video was made with another credential than that of provider ${provider.name}.`);
}

type VideoFacts = Pick<FittedVideoCall, "seconds" | "resolution" | "audio">;

/** What one video of this kind costs at most. */
export const costOfVideo = ({ seconds, resolution, audio }: VideoFacts, pricings: Pricings): number =>
  priceUsage({ seconds }, pricingsOfVideo(pricings, { resolution, audio })).costNanoUsd;
