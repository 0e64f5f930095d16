import { CounterFamily, HistogramFamily, type SeriesBudget } from "./series.ts";

const MS = 1_000;
const NANO = 1_000_000_000;

const DURATION = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
const FIRST_CONTENT = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];
const SPEED = [1, 2, 5, 10, 20, 40, 60, 80, 100, 150, 200, 400, 800];
const ADMISSION = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];

/** The metrics that are derived from receipts. */
export const makeCallFamilies = (budget: SeriesBudget) => {
  const counted = (name: string, help: string, labels: readonly string[], unit = 1) =>
    new CounterFamily({ name, help, labels, unit }, budget);
  const measured = (name: string, help: string, labels: readonly string[], bounds: readonly number[], unit = 1) =>
    new HistogramFamily({ name, help, labels, bounds, unit }, budget);
  return {
    calls: counted("trivium_calls_total", "Settled calls, each of which has a receipt.", [
      "verb",
      "dialect",
      "model",
      "provider",
      "lane",
      "stream",
      "outcome",
    ]),
    refusals: counted(
      "trivium_refusals_total",
      "Rejected requests, by error kind, key, and class of the client address.",
      ["reason", "key", "address_class"],
    ),
    duration: measured(
      "trivium_call_duration_seconds",
      "Time from the arrival of a request to its settlement.",
      ["model", "provider", "outcome_class"],
      DURATION,
      MS,
    ),
    firstContent: measured(
      "trivium_first_content_seconds",
      "Time from the arrival of a request to the first content of its response.",
      ["model", "provider", "lane"],
      FIRST_CONTENT,
      MS,
    ),
    speed: measured(
      "trivium_output_tokens_per_second",
      "Generated tokens per second of a response, counted from its first content.",
      ["model", "provider"],
      SPEED,
    ),
    admission: measured(
      "trivium_admission_seconds",
      "Time from the arrival of a request to its first attempt at a provider, which is the overhead of the gateway.",
      ["lane"],
      ADMISSION,
      MS,
    ),
    tokens: counted("trivium_tokens_total", "Tokens by kind; each token counts in one kind only.", [
      "model",
      "provider",
      "kind",
    ]),
    cost: counted("trivium_cost_usd_total", "Cost of calls in US dollars.", ["model", "provider", "project"], NANO),
    unpriced: counted("trivium_unpriced_calls_total", "Calls that used something without a known price.", [
      "model",
      "provider",
    ]),
    corrected: counted(
      "trivium_usage_corrected_total",
      "Calls for which the provider reported implausible usage, by problem.",
      ["provider", "reason"],
    ),
    unpricedUses: counted(
      "trivium_unpriced_total",
      "Uses of hosted tools, terms, and counters without a known price.",
      ["name"],
    ),
    images: counted("trivium_images_total", "Generated images.", ["model", "provider"]),
    videoSeconds: counted("trivium_video_seconds_total", "Seconds of generated video.", ["model", "provider"]),
    audioSeconds: counted("trivium_audio_seconds_total", "Seconds of generated or transcribed audio.", [
      "model",
      "provider",
    ]),
    searches: counted("trivium_searches_total", "Searches made by calls.", ["model", "provider"]),
    guardVerdicts: counted("trivium_guard_verdicts_total", "Verdicts of guards on requests and responses.", [
      "guard",
      "on",
      "verdict",
    ]),
    guardDuration: measured(
      "trivium_guard_duration_seconds",
      "Time that a guard took for a request or a response, including what it asked outside of the gateway.",
      ["guard", "on"],
      DURATION,
      MS,
    ),
    attempts: counted(
      "trivium_attempts_total",
      "Attempts at a provider, by outcome: answered, abandoned, or the error kind.",
      ["provider", "outcome"],
    ),
    attemptDuration: measured(
      "trivium_attempt_duration_seconds",
      "Time from the start of an attempt to its response, or to the first content of a stream.",
      ["provider"],
      FIRST_CONTENT,
      MS,
    ),
    fallbacks: counted("trivium_fallbacks_total", "Calls that fell back from one provider to another.", ["from", "to"]),
    breaks: counted("trivium_stream_breaks_total", "Responses that the provider interrupted after they had started.", [
      "provider",
    ]),
    fields: counted(
      "trivium_fields_total",
      "Request fields that were dropped or approximated, by client and provider dialect.",
      ["dialect", "upstream_dialect", "action"],
    ),
  };
};
