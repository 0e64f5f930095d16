import type { Usage } from "../../canon/usage.ts";
import { pricingsOfPicture } from "../../catalogue/picture-prices.ts";
import type { ImageCall } from "../../media/image-call.ts";
import type { ImageReply } from "../../media/image-reply.ts";
import { tierOf } from "../../media/image-size.ts";
import type { ImageWire } from "../../media/media-wire.ts";
import type { ImageTier } from "../../media/picture.ts";
import type { Gateway } from "../gateway.ts";
import { closeCall } from "../settle.ts";
import type { ImageRelay } from "./image-relay.ts";
import type { MediaOffer } from "./plan.ts";

/** What the price may depend on. */
export function resolutionOf({ tier, size }: ImageCall): { resolution?: ImageTier } {
  const resolution = tier ?? tierOf(size);
  return resolution === undefined ? {} : { resolution };
}

export interface ImagesEnding {
  outcome: string;
  planned: MediaOffer<ImageWire> | undefined;
  reply?: Pick<ImageReply, "results" | "usage">;
}

/** Pictures that were made are billed, those held back or failed are not. */
export function settleImages(
  call: ImageRelay,
  gateway: Gateway,
  { outcome, planned, reply }: ImagesEnding,
): Promise<void> {
  const made = reply?.results.filter((result) => result.kind === "made").length ?? 0;
  const usage: Usage = made === 0 && reply?.usage === undefined ? {} : { ...reply?.usage, images: made };
  const pricings = planned?.offer.pricings ?? call.model.pricings;
  return closeCall(call, gateway, {
    verb: "images",
    clientDialect: call.incoming.dialect.name,
    upstreamDialect: "media",
    lane: "translated",
    outcome,
    offer: planned?.offer,
    usage,
    source: outcome === "ok" ? "measured" : "partial",
    pricings: pricingsOfPicture(pricings, resolutionOf(call.request.call)),
    firstContentAtMs: reply === undefined ? undefined : gateway.nowMs(),
  });
}
