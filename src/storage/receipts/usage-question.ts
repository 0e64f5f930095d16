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
  "end_user",
] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** Matches receipts that have all of the given values. */
export interface UsageFilter {
  project?: string;
  keyId?: string;
  model?: string;
  provider?: string;
  dialect?: string;
  /** `failed` matches every kind of error. */
  outcome?: string;
  /** Receipts that have this tag. */
  tag?: string;
  endUser?: string;
}

/** Sums of hours and days do not know end users: such questions are answered from receipts. */
export const isOfEndUsers = ({ by, endUser }: Pick<UsageQuestion, "by" | "endUser">): boolean =>
  by.includes("end_user") || endUser !== undefined;

export interface UsageQuestion extends UsageFilter {
  by: readonly UsageDimension[];
  sources: UsageSources;
  /** The offsets of the zone whose days are meant, in order; empty for UTC. */
  offsets: readonly ZoneOffset[];
}
