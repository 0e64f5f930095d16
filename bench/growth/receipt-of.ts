import { RECEIPT_PREFIX, timePrefix } from "../../src/base/timed-id.ts";
import type { Receipt } from "../../src/canon/receipt.ts";

const MODELS = 20;
const MODELS_OF_KEY = 3;
const TEAMS = 10;
const FEATURES = 5;

/** The receipt of a call by one of so many keys, each with 3 of 20 models, in 5 projects. */
export function receiptOf(number: number, ms: number, keys: number): Receipt {
  const createdAtMs = Math.floor(ms);
  // Numbers that follow from the first and are not in its order, as those of a real id.
  const mixed = Math.imul(number, 2_654_435_761) >>> 0;
  const other = Math.imul(mixed ^ (mixed >>> 15), 2_246_822_519) >>> 0;
  const key = mixed % keys;
  const model = (key * 7 + (other % MODELS_OF_KEY)) % MODELS;
  const isMessages = key % 3 === 0;
  return {
    id: `${RECEIPT_PREFIX}${timePrefix(createdAtMs)}${mixed.toString(36).padStart(7, "0")}${number}`,
    project: `project-${key % 5}`,
    key: `key_${key}`,
    createdAtMs,
    model: `acme/m${model}`,
    provider: `host-${model % 4}`,
    upstreamModel: "upstream",
    verb: "generate",
    clientDialect: isMessages ? "messages" : "chat",
    upstreamDialect: "chat",
    lane: isMessages ? "translated" : "native",
    stream: other % 2 === 0,
    outcome: other % 31 === 0 ? "upstream_failed" : other % 97 === 0 ? "client_gone" : "ok",
    stop: { unified: "stop", raw: "stop" },
    offers: [{ provider: `host-${model % 4}`, outcome: "answered", ms: 40 }],
    fields: [],
    usage: { input: 1_000 + (other % 500), cacheRead: other % 700, output: 200 + (other % 90) },
    usageSource: "measured",
    priceRule: "prompt 0.2 + completion 0.6 USD/MTok",
    costNanoUsd: 1_000 + (other % 100_000),
    firstContentMs: 200 + (other % 300),
    totalMs: 900 + (other % 4_000),
    instance: `instance_${number % 2}`,
    ...(other % 3 === 0 ? { tags: [`team=${key % TEAMS}`, `feature=${(other >>> 8) % FEATURES}`] } : {}),
  };
}
