import { withoutAbsent } from "../base/without-absent.ts";
import type { PricedPart, Receipt } from "../canon/receipt.ts";
import type { Catalogue } from "./catalogue.ts";
import { pricingsOfImage } from "./image-prices.ts";
import { type AppliedPrices, keptPrices, readKeptPrices } from "./kept-prices.ts";
import type { Offer, PriceItem, Pricings } from "./model.ts";
import { priceCall } from "./price-call.ts";
import { pricingsOfVideo } from "./video-prices.ts";

/** The cost of a receipt at current prices, or why it is unknown. */
export type PricedAgain = Pick<Receipt, "costNanoUsd" | "priceRule" | "pricedBy"> | { skipped: string };

/** Prices the same usage, terms and discount with the prices that this catalogue has for the offer at the time of the call. */
export function priceAgain(
  receipt: Receipt,
  catalogue: Pick<Catalogue, "at">,
  textOf: (pricesId: string) => string | undefined,
): PricedAgain {
  const { pricedBy, provider, upstreamModel } = receipt;
  if (pricedBy === undefined) return { skipped: "the receipt does not record which prices were used" };
  if (receipt.answeredBy !== undefined) return { skipped: "another model answered than was asked for" };
  const offers =
    catalogue
      .at(receipt.createdAtMs)
      .get(receipt.model)
      ?.offers.filter((offer) => offer.provider === provider) ?? [];
  const offer = offers.find((one) => one.upstreamModel === upstreamModel);
  if (offer === undefined) return { skipped: "its offer is no longer configured" };
  const parts: readonly PricedPart[] = "id" in pricedBy ? [{ prices: pricedBy, usage: receipt.usage }] : pricedBy;
  // The parts of a video come from one offer; those of a response that another offer continued do not.
  if (parts.length > 1 && receipt.verb !== "videos") return { skipped: "its parts had different prices" };
  const priced = parts.map((part) => pricePart(part, offer, textOf(part.prices.id)));
  const problem = priced.find((part) => typeof part === "string");
  if (typeof problem === "string") return { skipped: problem };
  const whole = priced.filter((part) => typeof part !== "string");
  const [first] = whole;
  if (first === undefined) return { skipped: "it has no cost breakdown" };
  return {
    costNanoUsd: whole.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0),
    priceRule: [...new Set(whole.map(({ rule }) => rule))].join("; "),
    pricedBy: whole.length === 1 ? first.prices : whole.map(({ prices, usage }) => ({ prices, usage })),
  };
}

function pricePart({ usage }: PricedPart, offer: Offer, text: string | undefined) {
  if (text === undefined) return "the prices used at the time are no longer stored";
  const before = readKeptPrices(text);
  const pricings = chosenAsBefore(offer.pricings, before);
  if (pricings === undefined) return "the price depends on the resolution, which was not recorded";
  const { terms, discount } = before;
  const { priceMultiples, toolPrices } = offer;
  const { costNanoUsd, rule } = priceCall(usage, { pricings, priceMultiples, toolPrices }, terms, discount);
  return {
    costNanoUsd,
    rule,
    usage,
    prices: keptPrices({ pricings, priceMultiples, terms, discount, toolPrices }, usage),
  };
}

/** Of prices by resolution or with sound, those that were chosen before; undefined where that cannot be told. */
function chosenAsBefore(pricings: Pricings, { pricings: before }: AppliedPrices): Pricings | undefined {
  const { image = [], video = [], audio_and_video: sound = [] } = pricings;
  const isVideo = video.length + sound.length > 0;
  const chosenFor = [before.image, before.video, before.audio_and_video].flatMap((items) => items ?? [])[0]?.chosenFor;
  if (chosenFor === undefined && [...image, ...video, ...sound].some(byResolution)) return undefined;
  if (isVideo) {
    const audio = (before.audio_and_video ?? []).length > 0;
    return pricingsOfVideo(pricings, { resolution: chosenFor ?? "", audio });
  }
  const resolution = RESOLUTIONS.find((known) => known === chosenFor);
  return pricingsOfImage(pricings, withoutAbsent({ resolution }));
}

const RESOLUTIONS = ["1K", "2K", "4K"] as const;
const byResolution = ({ resolution }: PriceItem): boolean => resolution !== undefined;
