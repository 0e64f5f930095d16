import type { GatewayError } from "../../canon/error.ts";
import { type MediaTokens, withMedia } from "../../canon/media-tokens.ts";
import type { Stop } from "../../canon/stop.ts";
import type { CorrectedUsage } from "../../canon/usage.ts";
import { completionTokens, type Usage, type UsagePass, type UsageSource } from "../../canon/usage.ts";
import { tokensOfCharacters } from "../../dialects/reading/estimate-tokens.ts";
import type { Call } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { outputLimit } from "../request/output-limit.ts";
import { withRequestedTools } from "../request/with-requested-tools.ts";
import { findOffer } from "./bill-usage.ts";
import { correctUsage, type UsageBounds } from "./correct-usage.ts";
import type { RequestedBillables } from "./sent-billables.ts";
import { unseenTokens } from "./unseen-tokens.ts";
import { passBounds, usageBounds } from "./usage-bounds.ts";

/** How a call ended, for billing. */
export interface Ending {
  /** `ok`, `client_gone`, or the kind of the error. */
  outcome: string;
  /** The gateway stopped the provider, which may have generated more than was seen. */
  ended?: boolean;
  /** The response was complete, even if its client disconnected before. */
  whole: boolean;
  /** A response had begun, so there is something to bill. */
  produced: boolean;
  usage: Usage | undefined;
  /** The usage is a running total, valid even if the response broke off. */
  usageRuns?: boolean;
  /** Undefined if it was not counted, because the usage is plausible without it. */
  generatedCharacters: number | undefined;
  /** Generated images and sound. */
  generatedMedia?: MediaTokens | undefined;
  /** Reasoning was part of the output. */
  reasoningSeen: boolean;
  stop: Stop | undefined;
  firstContentAtMs: number | undefined;
  /** When the attempt began, if the call began earlier. */
  begunAtMs?: number;
  /** The error as its client receives it. */
  error?: GatewayError | undefined;
}

/** An offer that continues a response also receives its beginning. What a cache contains is read in addition to the request. */
function estimatePrompt({ incoming, body, continued, cache }: Call): Pick<Usage, "input" | "cacheRead"> {
  const prompt = incoming.dialect.requests.estimateTokens(body);
  const input = continued === undefined ? prompt : prompt + tokensOfCharacters(continued.at(-1)?.fromCharacters ?? 0);
  return cache === undefined ? { input } : { input, cacheRead: cache.tokens };
}

interface BilledUsage {
  usage: Usage;
  source: UsageSource;
  corrected?: CorrectedUsage | undefined;
}

/**
 * What an attempt is billed for: the usage that the provider reported, or an estimate that is marked as one (H14, H26), with the
 * hosted tools that only the request shows.
 */
export function billedUsage(
  call: Call,
  gateway: Gateway,
  attempt: RequestedBillables["attempt"],
  ending: Ending,
): BilledUsage {
  const counted = countedUsage(call, gateway, ending);
  if (!ending.produced || call.billables.length === 0) return counted;
  const { billables } = call;
  const brokeOff = !ending.whole && ending.firstContentAtMs !== undefined;
  return { ...counted, usage: withRequestedTools({ billables, attempt, brokeOff }, counted.usage) };
}

/** The upstream's figures if it reported them, otherwise what can be counted here, marked as an estimate (H14, H26). */
function countedUsage(call: Call, gateway: Gateway, ending: Ending): BilledUsage {
  if (!ending.produced || call.incoming.verb === "count_tokens") return { usage: {}, source: "measured" };
  const { generatedCharacters = 0, whole } = ending;
  const { usage: reported, corrected } = reportedUsage(call, gateway, ending);
  if (!whole) {
    const usage = brokenUsage(call, gateway, { ...ending, usage: reported });
    return { usage: withMedia(usage, reported, ending.generatedMedia), source: "partial", corrected };
  }
  if (reported?.output !== undefined) {
    return { usage: reported, source: corrected === undefined ? "measured" : "estimated", corrected };
  }
  const estimate: Usage = { ...estimatePrompt(call), output: tokensOfCharacters(generatedCharacters) };
  // A provider may report only the prompt's tokens; those count.
  const usage = withMedia({ ...estimate, ...reported }, reported, ending.generatedMedia);
  return { usage, source: "estimated", corrected };
}

/** The reported usage, corrected to what is possible (decision 0085). */
function reportedUsage(
  call: Call,
  gateway: Gateway,
  ending: Ending,
): Partial<Pick<BilledUsage, "usage" | "corrected">> {
  const { usage, generatedCharacters: characters, reasoningSeen, stop } = ending;
  if (usage === undefined) return {};
  const seen = {
    whole: ending.whole && usage.output !== undefined,
    characters: characters ?? 0,
    stop,
    estimatePrompt: () => estimatePrompt(call),
    bounds: usageBounds(call, usage, { characters, reasoningSeen }),
  };
  const own = correctUsage(usage, seen);
  if (own.reasons.length === 0 && usage.passes === undefined) return { usage };
  const passes = usage.passes?.map((pass) => {
    const known = { ...seen, whole: false, bounds: boundsOfPass(call, gateway, pass) };
    const corrected = correctUsage(pass.usage, known);
    return { reasons: corrected.reasons, pass: { ...pass, usage: corrected.usage } };
  });
  const reasons = [...new Set([...own.reasons, ...(passes ?? []).flatMap((pass) => pass.reasons)])];
  if (reasons.length === 0) return { usage };
  const { offer } = call.attempt?.target ?? {};
  gateway.log.warn(
    {
      receipt: call.receiptId,
      provider: offer?.provider,
      upstreamModel: offer?.upstreamModel,
      reasons,
      reported: usage,
    },
    "provider reported implausible usage; billing the corrected usage",
  );
  return {
    usage: passes === undefined ? own.usage : { ...own.usage, passes: passes.map(({ pass }) => pass) },
    corrected: { reported: usage, reasons },
  };
}

function boundsOfPass(call: Call, { snapshot }: Gateway, { model }: UsagePass): UsageBounds {
  const own = call.attempt?.target?.offer;
  const named = model === undefined ? undefined : findOffer(snapshot.catalogue, own?.provider, model);
  return passBounds(call, named?.offer ?? own);
}

/**
 * The usage of a response that broke off: what was reported, at least what passed through, and an estimate of the rest if the
 * gateway ended it.
 */
function brokenUsage(call: Call, gateway: Gateway, ending: Ending): Usage {
  const { usage: reported, firstContentAtMs, generatedCharacters = 0 } = ending;
  const passed = tokensOfCharacters(generatedCharacters);
  const generated = completionTokens(reported ?? {});
  // A running usage counts everything so far.
  if (reported && ending.usageRuns && (generated > 0 || passed === 0)) return reported;
  const ended = ending.ended === true || ending.outcome === "client_gone" || gateway.closing;
  // The provider counted its response and then failed. Its count holds unless more arrived after it.
  if (reported?.input !== undefined && !ended && generated > 0 && passed <= generated * COUNTED_BEFORE) return reported;
  const unseen = ended
    ? unseenTokens(call, {
        contentSeen: firstContentAtMs !== undefined,
        reasoningSeen: ending.reasoningSeen,
        waitedMs: (firstContentAtMs ?? gateway.clock.nowMs()) - (ending.begunAtMs ?? call.startedAtMs),
      })
    : 0;
  const most = Math.max(passed, Math.min(passed + unseen, outputLimit(call, Number.MAX_SAFE_INTEGER)));
  const reasoning = Math.max(reported?.reasoning ?? 0, most - passed);
  const all = Math.max(generated, most);
  return {
    ...(reported?.input === undefined ? estimatePrompt(call) : {}),
    ...reported,
    output: all - reasoning,
    ...(reasoning > 0 ? { reasoning } : {}),
  };
}

/** How many times too large an estimate by characters can be. */
const COUNTED_BEFORE = 2;
