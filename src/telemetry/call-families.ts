import { CounterFamily, HistogramFamily, type SeriesBudget } from "./series.ts";

const MS = 1_000;
const NANO = 1_000_000_000;

const DURATION = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
const FIRST_CONTENT = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];
const SPEED = [1, 2, 5, 10, 20, 40, 60, 80, 100, 150, 200, 400, 800];
const ADMISSION = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];

/** Every metric that is made of receipts. */
export const makeCallFamilies = (budget: SeriesBudget) => {
  const counted = (name: string, help: string, labels: readonly string[], unit = 1) =>
    new CounterFamily({ name, help, labels, unit }, budget);
  const measured = (name: string, help: string, labels: readonly string[], bounds: readonly number[], unit = 1) =>
    new HistogramFamily({ name, help, labels, bounds, unit }, budget);
  return {
    calls: counted("trivium_calls_total", "Calls that were settled: each has a receipt.", [
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
      "Requests that did not become a call: by the kind of their error, the key that they showed, and where they came from.",
      ["reason", "key", "address_class"],
    ),
    duration: measured(
      "trivium_call_duration_seconds",
      "From the arrival of a request to its settlement.",
      ["model", "provider", "outcome_class"],
      DURATION,
      MS,
    ),
    firstContent: measured(
      "trivium_first_content_seconds",
      "From the arrival of a request to the first content of its answer.",
      ["model", "provider", "lane"],
      FIRST_CONTENT,
      MS,
    ),
    speed: measured(
      "trivium_output_tokens_per_second",
      "Generated tokens a second of one answer, from its first content on.",
      ["model", "provider"],
      SPEED,
    ),
    admission: measured(
      "trivium_admission_seconds",
      "From the arrival of a request to its first attempt at a provider: what the gateway does before it asks.",
      ["lane"],
      ADMISSION,
      MS,
    ),
    tokens: counted("trivium_tokens_total", "Tokens by kind; no token is in two kinds.", ["model", "provider", "kind"]),
    cost: counted(
      "trivium_cost_usd_total",
      "What calls have cost, in US dollars.",
      ["model", "provider", "project"],
      NANO,
    ),
    unpriced: counted("trivium_unpriced_calls_total", "Calls that used something without a price.", [
      "model",
      "provider",
    ]),
    corrected: counted(
      "trivium_usage_corrected_total",
      "Calls for which the provider reported a usage that cannot be true, by what is wrong with it.",
      ["provider", "reason"],
    ),
    unpricedUses: counted("trivium_unpriced_total", "Uses of hosted tools, terms and counters without a known price.", [
      "name",
    ]),
    images: counted("trivium_images_total", "Images that were made.", ["model", "provider"]),
    videoSeconds: counted("trivium_video_seconds_total", "Seconds of videos that were made.", ["model", "provider"]),
    audioSeconds: counted("trivium_audio_seconds_total", "Seconds of sound that were made or read.", [
      "model",
      "provider",
    ]),
    searches: counted("trivium_searches_total", "Searches that calls have made.", ["model", "provider"]),
    attempts: counted(
      "trivium_attempts_total",
      "Attempts at a provider: answered, abandoned, or the kind of their error.",
      ["provider", "outcome"],
    ),
    attemptDuration: measured(
      "trivium_attempt_duration_seconds",
      "From the start of an attempt to its answer; of a stream, to its first content.",
      ["provider"],
      FIRST_CONTENT,
      MS,
    ),
    fallbacks: counted("trivium_fallbacks_total", "Calls that went from one provider to another.", ["from", "to"]),
    breaks: counted("trivium_stream_breaks_total", "Answers that had begun, and broke off at the provider.", [
      "provider",
    ]),
    fields: counted(
      "trivium_fields_total",
      "Fields of requests that were not honoured to the letter, by the two dialects.",
      ["dialect", "upstream_dialect", "action"],
    ),
  };
};
