import type { Operation } from "../canon/operation.ts";
import type { Receipt } from "../canon/receipt.ts";
import type { Usage } from "../canon/usage.ts";
import type { Pricings } from "../catalogue/model.ts";
import { priceUsage } from "../catalogue/pricing.ts";
import { pricingsOfVideo } from "../catalogue/video-prices.ts";

/** The cost of an ended operation: the seconds of the videos that were made, at the prices of its first day. */
export function billOf(operation: Operation): Pick<Receipt, "usage" | "costNanoUsd" | "priceRule"> {
  const { job } = operation;
  const pricings = job.pricings as Pricings;
  let usage: Usage = {};
  let costNanoUsd = 0;
  const rules = new Set<string>();
  for (const part of operation.parts) {
    // What a provider has made is billed, even if the store was full.
    const made = Math.max(part.videos.length, part.unkept?.made ?? 0);
    if (made === 0) continue;
    const seconds = (part.seconds ?? job.seconds) * made;
    const video = { resolution: part.resolution ?? job.resolution, audio: part.audio ?? job.audio };
    const priced = priceUsage({ seconds }, pricingsOfVideo(pricings, video));
    usage = { seconds: (usage.seconds ?? 0) + seconds };
    costNanoUsd += priced.costNanoUsd;
    rules.add(priced.rule);
  }
  return { usage, costNanoUsd, priceRule: rules.size === 0 ? "nothing used" : [...rules].join("; ") };
}

/** The cost if everything is made as requested. */
export function expectedCostOf({ job }: Operation): number {
  const pricings = pricingsOfVideo(job.pricings as Pricings, job);
  return priceUsage({ seconds: job.seconds * job.count }, pricings).costNanoUsd;
}

/** The one ledger row of an operation. */
export function receiptOf(operation: Operation, endedAtMs: number): Receipt {
  const { job } = operation;
  return {
    id: operation.receiptId,
    project: operation.project,
    key: operation.keyId,
    createdAtMs: operation.createdAtMs,
    model: operation.model,
    provider: operation.provider,
    upstreamModel: job.upstreamModel,
    verb: "videos",
    clientDialect: "genai",
    upstreamDialect: "media",
    lane: "translated",
    stream: false,
    outcome: operation.error?.kind ?? "ok",
    offers: job.offers,
    ...(job.plan === undefined ? {} : { plan: job.plan }),
    fields: job.notes,
    usageSource: "measured",
    // The two clocks may differ by now.
    totalMs: Math.max(0, endedAtMs - operation.createdAtMs),
    ...billOf(operation),
  };
}
