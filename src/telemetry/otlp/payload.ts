import type { Family, Sample } from "../family.ts";
import { type Attribute, Attributes } from "./attributes.ts";
import { SCHEMA_URL } from "./gen-ai.ts";
import { nanoseconds } from "./nanoseconds.ts";

export interface Resource {
  readonly attributes: readonly Attribute[];
}

const scopeOf = (version: string) => ({ name: "trivium", version });

/** The envelope of the spans in a trace request. */
export function aroundSpans(resource: Resource, version: string): { before: string; after: string } {
  const head = `{"resourceSpans":[{"resource":${JSON.stringify(resource)},"schemaUrl":"${SCHEMA_URL}"`;
  const scope = `"scopeSpans":[{"scope":${JSON.stringify(scopeOf(version))},"schemaUrl":"${SCHEMA_URL}"`;
  return { before: `${head},${scope},"spans":[`, after: "]}]}]}" };
}

const CUMULATIVE = 2;

/** One request of metrics: everything since the start, as of now. */
export function metricsPayload(
  resource: Resource,
  version: string,
  families: readonly Family[],
  times: { startedMs: number; nowMs: number },
): string {
  const metrics = families.filter(({ samples }) => samples.length > 0).map((family) => metricOf(family, times));
  return JSON.stringify({
    resourceMetrics: [
      {
        resource,
        schemaUrl: SCHEMA_URL,
        scopeMetrics: [{ scope: scopeOf(version), schemaUrl: SCHEMA_URL, metrics }],
      },
    ],
  });
}

function metricOf({ name, help, type, samples }: Family, { startedMs, nowMs }: { startedMs: number; nowMs: number }) {
  const times = { startTimeUnixNano: nanoseconds(startedMs), timeUnixNano: nanoseconds(nowMs) };
  const about = { name, description: help, unit: unitOf(name) };
  const points = () =>
    samples.map(({ labels, value }) => ({ attributes: attributesOf(labels), ...times, asDouble: value }));
  if (type === "gauge") return { ...about, gauge: { dataPoints: points() } };
  if (type === "counter") {
    return { ...about, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints: points() } };
  }
  const dataPoints = histogramPoints(samples).map((point) => ({ ...point, ...times }));
  return { ...about, histogram: { aggregationTemporality: CUMULATIVE, dataPoints } };
}

/** Samples as Prometheus has them, put together again: its buckets count all below them, too. */
function histogramPoints(samples: readonly Sample[]) {
  const points: {
    attributes: Attribute[];
    bucketCounts: string[];
    explicitBounds: number[];
    sum: number;
    count: string;
  }[] = [];
  let bucketCounts: string[] = [];
  let explicitBounds: number[] = [];
  let below = 0;
  let sum = 0;
  for (const { suffix, labels, value } of samples) {
    if (suffix === "_bucket") {
      const bound = Number(labels.at(-1)?.[1]);
      if (Number.isFinite(bound)) explicitBounds.push(bound);
      bucketCounts.push(String(value - below));
      below = value;
    } else if (suffix === "_sum") sum = value;
    else {
      points.push({ attributes: attributesOf(labels), bucketCounts, explicitBounds, sum, count: String(value) });
      bucketCounts = [];
      explicitBounds = [];
      below = 0;
    }
  }
  return points;
}

function attributesOf(labels: Sample["labels"]): Attribute[] {
  const attributes = new Attributes();
  for (const [name, value] of labels) attributes.text(name, value);
  return attributes.list;
}

const UNITS: readonly (readonly [RegExp, string])[] = [
  [/tokens_per_second$/, "{token}/s"],
  [/(_seconds|_seconds_total|\.duration|\.time_to_first_chunk)$/, "s"],
  [/_bytes$/, "By"],
  [/_usd_total$/, "{USD}"],
  [/(tokens_total|\.token\.usage)$/, "{token}"],
];

const unitOf = (name: string): string => UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? "1";
