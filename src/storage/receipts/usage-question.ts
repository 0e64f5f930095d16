import type { ZoneOffset } from "../../base/time-zone.ts";
import type { UsageSources } from "./usage-spans.ts";

export const USAGE_DIMENSIONS = [
  "model",
  "key",
  "day",
  "hour",
  "provider",
  "project",
  "dialect",
  "outcome",
  "tag",
] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** Receipts that are alike in all that is given. */
export interface UsageFilter {
  project?: string;
  keyId?: string;
  model?: string;
  provider?: string;
  dialect?: string;
  /** `failed` stands for every kind of error. */
  outcome?: string;
  /** Those that have this one among their tags. */
  tag?: string;
}

export interface UsageQuestion extends UsageFilter {
  by: readonly UsageDimension[];
  sources: UsageSources;
  /** Those of the zone whose days are meant, in order; none for UTC. */
  offsets: readonly ZoneOffset[];
}
