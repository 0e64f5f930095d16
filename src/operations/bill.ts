import { withoutAbsent } from "../base/without-absent.ts";
import type { Operation } from "../canon/operation.ts";
import type { PricedPart, Receipt } from "../canon/receipt.ts";
import type { Usage } from "../canon/usage.ts";
import { keptPrices } from "../catalogue/kept-prices.ts";
import type { Pricings } from "../catalogue/model.ts";
import { priceCall } from "../catalogue/price-call.ts";
import { pricingsOfVideo } from "../catalogue/video-prices.ts";

/** The cost of an ended operation: the seconds of the generated videos, at the prices when it was submitted. */
export function operationBill(operation: Operation): Pick<Receipt, "usage" | "costNanoUsd" | "priceRule" | "pricedBy"> {
  const { job } = operation;
  const { discount = 0 } = job;
  const pricings = job.pricings as Pricings;
  let usage: Usage = {};
  let costNanoUsd = 0;
  const rules = new Set<string>();
  const parts: PricedPart[] = [];
  for (const part of operation.parts) {
    // What a provider has generated is billed, even if the store was full.
    const made = Math.max(part.videos.length, part.unkept?.made ?? 0);
    if (made === 0) continue;
    const seconds = (part.seconds ?? job.seconds) * made;
    const video = { resolution: part.resolution ?? job.resolution, audio: part.audio ?? job.audio };
    const applied = { pricings: pricingsOfVideo(pricings, video), terms: [], discount };
    const priced = priceCall({ seconds }, applied, [], discount);
    parts.push({ usage: { seconds }, prices: keptPrices(applied) });
    usage = { seconds: (usage.seconds ?? 0) + seconds };
    costNanoUsd += priced.costNanoUsd;
    rules.add(priced.rule);
  }
  const [first] = parts;
  return withoutAbsent({
    usage,
    costNanoUsd,
    priceRule: rules.size === 0 ? "nothing used" : [...rules].join("; "),
    pricedBy: parts.length === 1 ? first?.prices : first && parts,
  });
}

/**
 * The cost if everything is generated as requested. Each video is rounded separately, so that the bill can never be
 * more.
 */
export function expectedCostOf({ job }: Operation): number {
  const pricings = pricingsOfVideo(job.pricings as Pricings, job);
  return priceCall({ seconds: job.seconds }, { pricings }, [], job.discount).costNanoUsd * job.count;
}

/** The ledger row of an operation. */
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
    clientDialect: job.client ?? "genai",
    upstreamDialect: "media",
    lane: "translated",
    stream: false,
    outcome: operation.error?.kind ?? "ok",
    offers: job.offers,
    ...withoutAbsent({ plan: job.plan, guards: job.guards }),
    fields: job.notes,
    ...withoutAbsent({
      tags: operation.tags,
      endUser: operation.endUser,
      requestId: job.request?.id,
      traceId: job.request?.trace?.traceId,
    }),
    usageSource: "measured",
    // The two clocks may differ by now.
    totalMs: Math.max(0, endedAtMs - operation.createdAtMs),
    ...operationBill(operation),
  };
}
