import { completionTokens, sumUsage, type Usage } from "../../canon/usage.ts";
import { pricingsOfImage } from "../../catalogue/image-prices.ts";
import type { Model, Pricings } from "../../catalogue/model.ts";
import { priceOf } from "../../catalogue/price-table.ts";
import type { ImageTier } from "../../media/image.ts";
import type { ImageCall } from "../../media/image-call.ts";
import type { ImageReply, ImageSettings } from "../../media/image-reply.ts";
import { tierOf } from "../../media/image-size.ts";
import { readSize } from "../../media/read-size.ts";
import type { ImageTarget } from "../../routing/target.ts";
import type { Bill } from "../settle/close-call.ts";
import { expectedImageUsage, MAX_TOKENS_OF_ANY } from "./expected-image-cost.ts";
import type { ImageRelay } from "./image-attempt.ts";
import { requestSent, type SentCall } from "./make-at-offer.ts";

/** The resolution that the price may depend on. */
export function resolutionOf({ tier, size }: ImageCall): { resolution?: ImageTier } {
  const resolution = tier ?? tierOf(size);
  return resolution === undefined ? {} : { resolution };
}

/** The resolution of generated images: their real size if it is known, otherwise the size sent to the model. */
function resolutionMade(call: BilledCall, settings: ImageSettings | undefined): { resolution?: ImageTier } {
  const real = settings?.size === undefined ? undefined : tierOf(readSize(settings.size)?.size);
  return real === undefined ? resolutionOf(requestSent(call).call) : { resolution: real };
}

type BilledCall = SentCall & { model: Pick<Model, "pricings"> };
type Billed = Pick<ImageReply, "results" | "usage" | "settings">;

interface BilledUsage {
  usage: Usage;
  pricings: Pricings;
  /** The provider did not report the usage that its price depends on. */
  estimated?: true;
}

/** Bills the images that were made; those that failed or were blocked cost nothing. */
export function billOfImages(
  call: BilledCall,
  target: ImageTarget | undefined,
  reply: Billed | undefined,
): BilledUsage {
  const made = reply?.results.filter((result) => result.kind === "made").length ?? 0;
  const pricings = pricingsOfImage(target?.pricings ?? call.model.pricings, resolutionMade(call, reply?.settings));
  if (made === 0) return { usage: reply?.usage === undefined ? {} : { ...reply.usage, images: 0 }, pricings };
  const usage = { ...reply?.usage, images: made };
  const tokens = completionTokens(usage);
  if ((tokens > 0 && tokens <= mostTokens(made)) || !isPricedByTokens(pricings)) return { usage, pricings };
  // Images have tokens. A provider that reports none, or more than any model generates, has not counted them and will bill them all
  // the same (H26).
  const expected = expectedImageUsage(made, requestSent(call).call, pricings);
  return { usage: { ...usage, output: 0, reasoning: 0, ...expected }, pricings, estimated: true };
}

/** What this many images may use, with the reasoning and text around them. */
const mostTokens = (images: number): number => images * MAX_TOKENS_OF_ANY + 131_072;

const isPricedByTokens = (pricings: Pricings): boolean =>
  priceOf(pricings, "imageOutput").item !== undefined && priceOf(pricings, "images").item === undefined;

/** The bill of a call that has ended. What was made is billed, even if the client has disconnected (H26). */
export function billOfCall(call: ImageRelay, outcome: string, endedAtMs: number): Bill {
  const { target, made, abandonedImages = 0 } = call.attempt ?? {};
  const { estimated, ...bill } = billOfImages(call, target, made?.reply);
  const measured = estimated ? "estimated" : "measured";
  return {
    verb: "images",
    clientDialect: call.incoming.dialect.name,
    upstreamDialect: "media",
    lane: "translated",
    outcome,
    offer: target?.offer,
    ...bill,
    usage: abandonedImages === 0 ? bill.usage : withExpected(bill, call, abandonedImages),
    source: outcome === "ok" || made?.whole ? measured : "partial",
    firstContentAtMs: made === undefined ? undefined : endedAtMs,
  };
}

/** Adds the images that were requested from a provider and aborted: whether they were made is unknown. */
function withExpected({ usage, pricings }: BilledUsage, call: ImageRelay, images: number): Usage {
  const missing = Math.max(0, images - (usage.images ?? 0));
  const expected = expectedImageUsage(missing, requestSent(call).call, pricings);
  return sumUsage(usage, expected);
}
