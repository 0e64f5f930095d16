import type { Receipt } from "../canon/receipt.ts";
import type { Stop } from "../canon/stop.ts";
import { completionTokens, promptTokens, type Usage, type UsageSource } from "../canon/usage.ts";
import { priceUsage } from "../catalogue/pricing.ts";
import { tokensOfCharacters } from "../dialects/estimate-tokens.ts";
import type { Provider } from "../providers/provider.ts";
import type { PlannedOffer } from "../routing/plan.ts";
import type { Call } from "./call.ts";
import type { Gateway } from "./gateway.ts";

/** How a call ended, as far as money is concerned. */
export interface Ending {
  /** `ok`, `client_gone`, or the kind of the error. */
  outcome: string;
  planned: PlannedOffer<Provider> | undefined;
  lane?: "native" | "translated";
  /** An answer had begun: something was produced, and is to be paid. */
  produced: boolean;
  usage: Usage | undefined;
  /** The usage is that of everything so far, even where the answer broke off. */
  usageRuns?: boolean;
  generatedCharacters: number;
  stop: Stop | undefined;
  firstContentAtMs: number | undefined;
}

/** Writes the call's one ledger row and gives its reservation back. Resolves when the row is committed. */
export function settle(call: Call, gateway: Gateway, ending: Ending): Promise<void> {
  const { usage, source } = usageOf(call, ending);
  const offer = ending.planned?.offer;
  const { costNanoUsd, rule } = priceUsage(usage, offer?.pricings ?? call.model.pricings);
  call.admission.release({ costNanoUsd, tokens: promptTokens(usage) + completionTokens(usage) });
  const now = gateway.nowMs();
  const receipt: Receipt = {
    id: call.receiptId,
    project: call.principal.project,
    key: call.principal.keyId,
    createdAtMs: Math.round(call.startedAtMs),
    model: call.model.id,
    provider: offer?.provider ?? call.offersTried.at(-1)?.provider ?? "",
    upstreamModel: offer?.upstreamModel ?? "",
    verb: call.incoming.verb,
    clientDialect: call.incoming.dialect.name,
    upstreamDialect: ending.planned?.dialect ?? call.incoming.dialect.name,
    lane: ending.lane ?? "native",
    stream: call.stream,
    outcome: ending.outcome,
    offers: call.offersTried,
    fields: call.notes,
    usage,
    usageSource: source,
    priceRule: rule,
    costNanoUsd,
    totalMs: Math.round(now - call.startedAtMs),
  };
  if (ending.stop !== undefined) receipt.stop = ending.stop;
  if (ending.firstContentAtMs !== undefined) {
    receipt.firstContentMs = Math.round(ending.firstContentAtMs - call.startedAtMs);
  }
  gateway.runningCalls--;
  return gateway.ledger.write(receipt, gateway.runningCalls === 0);
}

/** The upstream's own figures where it gave them; else what can be counted here, and marked as such (H14). */
function usageOf(call: Call, ending: Ending): { usage: Usage; source: UsageSource } {
  if (!ending.produced || call.incoming.verb === "count_tokens") return { usage: {}, source: "measured" };
  if (ending.outcome === "ok" && ending.usage?.output !== undefined) return { usage: ending.usage, source: "measured" };
  const estimate: Usage = {
    input: call.incoming.dialect.estimateTokens(call.body),
    output: tokensOfCharacters(ending.generatedCharacters),
  };
  // A provider may tell the prompt's tokens and not the answer's: what it tells counts.
  if (ending.outcome === "ok") return { usage: { ...estimate, ...ending.usage }, source: "estimated" };
  if (ending.usage && ending.usageRuns) return { usage: ending.usage, source: "partial" };
  // Elsewhere the figures of a broken stream are those of its beginning: the rest is counted from the text that passed.
  const { reasoning = 0, output = 0 } = ending.usage ?? {};
  const generated = Math.max(output + reasoning, estimate.output ?? 0);
  return { usage: { ...estimate, ...ending.usage, output: generated - reasoning }, source: "partial" };
}
