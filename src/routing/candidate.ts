import { pricingsOfImage } from "../catalogue/image-prices.ts";
import { MIDDLE_QUALITY, type Model, type Offer, type PriceItem, type Pricings } from "../catalogue/model.ts";
import { priceOf } from "../catalogue/price-table.ts";
import { pricingsOfVideo } from "../catalogue/video-prices.ts";
import type { Target } from "./target.ts";

/** One offer as planning sees it. Everything is derived from the configuration once. */
export interface Candidate<T extends Target = Target> {
  readonly offer: Offer;
  readonly model: Model;
  /** The ways to call it: one for each credential of its provider. */
  readonly targets: readonly T[];
  /** Undefined if no price is known. */
  readonly price: ListPrice | undefined;
  readonly quality: number;
}

/** A price by which offers of one model can be compared. */
export interface ListPrice {
  readonly usd: number;
  readonly words: string;
}

/**
 * Groups targets by offer, in their order. Of the targets of one credential it takes the one in the client's dialect, which needs
 * no translation, or else the first.
 */
export function candidatesOf<T extends Target>(targets: readonly T[], dialect?: string): readonly Candidate<T>[] {
  const candidates: { offer: Offer; model: Model; targets: T[] }[] = [];
  for (const target of targets) {
    const { offer, model, credential } = target;
    let candidate = candidates.at(-1);
    if (candidate?.offer !== offer) {
      candidate = { offer, model, targets: [] };
      candidates.push(candidate);
    }
    const at = candidate.targets.findIndex((one) => one.credential === credential);
    if (at < 0) candidate.targets.push(target);
    else if (target.via === dialect) candidate.targets[at] = target;
  }
  return candidates.map(({ offer, model, targets: ways }) => ({
    offer,
    model,
    targets: ways,
    price: listPrice(model, offer),
    quality: offer.quality ?? model.quality ?? MIDDLE_QUALITY,
  }));
}

/** The price that `cost` compares: prompt plus completion, or an image, or a second of video. */
function listPrice({ kind }: Model, { pricings }: Offer): ListPrice | undefined {
  if (kind === "text") {
    const prompt = priceOf(pricings, "input").item;
    const completion = priceOf(pricings, "output").item;
    if (prompt === undefined || completion === undefined) return undefined;
    const words = `${dollars(prompt.value)} + ${dollars(completion.value)} per million tokens`;
    return { usd: prompt.value + completion.value, words };
  }
  const price = kind === "image" ? priceOfImage(pricings) : priceOf(pricingsOfVideo(pricings, SILENT), "seconds").item;
  return price && { usd: price.value, words: `${dollars(price.value)} ${UNIT_WORDS[price.unit]}` };
}

const UNIT_WORDS: Readonly<Record<PriceItem["unit"], string>> = {
  perMTokens: "per million tokens",
  perCount: "each",
  perSecond: "per second",
  perMCharacters: "per million characters",
  perMTokenHours: "per million tokens and hour",
};

const SILENT = { resolution: "", audio: false };

function priceOfImage(pricings: Pricings): PriceItem | undefined {
  const plain = pricingsOfImage(pricings, {});
  return priceOf(plain, "images").item ?? priceOf(plain, "imageOutput").item;
}

/** With cents, and more digits only if needed. */
function dollars(usd: number): string {
  const cents = usd.toFixed(2);
  return `$${Number(cents) === usd ? cents : usd}`;
}
