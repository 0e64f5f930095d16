import { boundNotes } from "../../canon/bound-notes.ts";
import { asGatewayError } from "../../canon/error.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { Model } from "../../catalogue/model.ts";
import { priceCall } from "../../catalogue/price-call.ts";
import { pricingsOfVideo } from "../../catalogue/video-prices.ts";
import { fitVideoCall } from "../../media/fit-video-call.ts";
import type { VideoRequest } from "../../media/predict-long-running/decode-video.ts";
import type { FittedVideoCall, VideoCapabilities } from "../../media/video-call.ts";
import type { VideoTarget } from "../../routing/target.ts";
import { inClientWords } from "./client-words.ts";
import { mediaOf } from "./exchange.ts";
import { unreadExtras } from "./unread-extras.ts";

/** The call as this offer's model takes it, with notes on what it does not honour. */
export function fitVideo(asked: VideoRequest, { adapter, offer, provider }: VideoTarget, model: Model) {
  const { call, notes } = fitInClientWords(asked, adapter.capabilities(offer.upstreamModel), model.id);
  const fitNotes = notes.map(({ field, action, reason }): FieldNote => ({ path: asked.paths[field], action, reason }));
  const context = mediaOf(provider).context(offer.upstreamModel, "");
  const unread = unreadExtras(call, (watched) => adapter.submit({ ...watched, count: 1 }, context));
  return { call, notes: boundNotes([...asked.notes, ...fitNotes, ...unread]) };
}

function fitInClientWords(asked: VideoRequest, capabilities: VideoCapabilities, model: string) {
  try {
    return fitVideoCall(asked.call, capabilities, model);
  } catch (thrown) {
    throw inClientWords(asGatewayError(thrown), asked.paths);
  }
}

type VideoFacts = Pick<FittedVideoCall, "count" | "seconds" | "resolution" | "audio">;

/** What videos of this kind cost at most, after a discount: each by itself, as they may be billed. */
export function costOfVideos(call: VideoFacts, pricings: Model["pricings"], discount: number): number {
  const { count, seconds, resolution, audio } = call;
  const prices = { pricings: pricingsOfVideo(pricings, { resolution, audio }) };
  return priceCall({ seconds }, prices, [], discount).costNanoUsd * count;
}
