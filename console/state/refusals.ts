import { HOUR_MS, type Range } from "./range.ts";

/** A sum of `GET /api/refusals`. */
export interface RefusalSum {
  groups: string[];
  requests: number;
  first_at: string | null;
  last_at: string | null;
}

/** What the client of the last refusal of a key, or of requests without one, was told. */
export interface RefusalExample {
  reason: string;
  /** `none` without a known key. */
  key: string;
  endpoint: string;
  message: string;
  at: string;
}

export interface RefusalSums {
  data: RefusalSum[];
  examples: RefusalExample[];
  total: { requests: number; first_at: string | null; last_at: string | null };
  groups_left_out: boolean;
}

export interface Reason {
  status: number;
  /** What the operator can do about it. */
  advice: string;
}

/** Requests without a known key, in the Admin API. */
export const NO_KEY = "none";
/** What was too much to be counted by itself. */
export const OTHERS = "other";

const REASONS: Readonly<Record<string, Reason>> = {
  unauthenticated: {
    status: 401,
    advice:
      "Give the client a valid key. A revoked or expired one is named below; without a name, the key is unknown here.",
  },
  budget_exhausted: {
    status: 402,
    advice: "Raise the budget of the key, its project or the end user, or wait for its end.",
  },
  forbidden: { status: 403, advice: "Allow the key this model, protocol or network, or correct the client." },
  not_found: { status: 404, advice: "Correct the model or the path in the client, or add the model's provider." },
  method_not_allowed: { status: 405, advice: "Correct the method in the client." },
  too_large: { status: 413, advice: "Send less in one request, or upload files first." },
  unsupported_media_type: { status: 415, advice: "Send application/json, or what the endpoint says it accepts." },
  rate_limited: {
    status: 429,
    advice: "Raise the limit that the sentence names, or let the client wait as long as retry-after says.",
  },
  invalid_request: { status: 400, advice: "Correct the field that the sentence names in the client." },
  unsupported_parameter: { status: 400, advice: "Leave the parameter out, or choose a model that has it." },
  content_blocked: { status: 400, advice: "See what the guard found, and change the guard if it is wrong." },
  overloaded: { status: 503, advice: "Raise max_concurrent, or add a process." },
  stopped: { status: 503, advice: "An operator stopped the call. See who in the audit log." },
  upstream_unfunded: { status: 503, advice: "Top up the provider's account." },
  upstream_credentials: { status: 502, advice: "Renew the provider's credential." },
  upstream_failed: { status: 502, advice: "See the provider's last error." },
  upstream_timeout: { status: 504, advice: "See the provider, or raise its time limit." },
  internal: { status: 500, advice: "See the log of the gateway for this request." },
};

export const reasonOf = (name: string): Reason | undefined => REASONS[name];

/** Counts are by the minute, so longer ranges have longer parts. */
export function partOf({ fromMs, toMs }: Range, nowMs: number): { by: "minute" | "hour" | "day"; everyMs: number } {
  const length = (toMs ?? nowMs) - fromMs;
  if (length <= 3 * HOUR_MS) return { by: "minute", everyMs: 60_000 };
  return length <= 8 * 24 * HOUR_MS ? { by: "hour", everyMs: HOUR_MS } : { by: "day", everyMs: 24 * HOUR_MS };
}

export interface RefusalStack {
  times: number[];
  series: { name: string; values: number[] }[];
}

/** A series for each of the most frequent reasons, and one for the others, without gaps: nothing refused is zero. */
export function refusalStack(
  rows: readonly Pick<RefusalSum, "groups" | "requests">[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
  everyMs: number,
  most = 3,
): RefusalStack {
  const first = Math.floor(fromMs / everyMs);
  const last = Math.max(first, Math.floor((toMs - 1) / everyMs));
  const sizes = new Map<string, number>();
  for (const { groups, requests } of rows) sizes.set(groups[1] ?? "", (sizes.get(groups[1] ?? "") ?? 0) + requests);
  const largest = [...sizes].sort(([, one], [, other]) => other - one).map(([name]) => name);
  const own = largest.slice(0, most);
  const names = largest.length > most ? [...own, OTHERS] : own;
  const times = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * everyMs);
  const series = names.map((name) => ({ name, values: times.map(() => 0) }));
  for (const { groups, requests } of rows) {
    const values = series.find(({ name }) => name === groups[1])?.values ?? series.at(-1)?.values;
    const at = Math.floor(Date.parse(groups[0] ?? "") / everyMs) - first;
    if (values?.[at] !== undefined) values[at] += requests;
  }
  return { times, series };
}
