import type { Family, Sample } from "./family.ts";

/** The format of a response to a scraper. */
export interface Exposition {
  contentType: string;
  text: string;
}

const TEXT = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** Prometheus's text format, or OpenMetrics where the scraper asks for that. */
export function expose(families: readonly Family[], accept: string): Exposition {
  const open = /application\/openmetrics-text/i.test(accept);
  const lines = families.flatMap((family) => linesOf(family, open));
  if (open) lines.push("# EOF");
  return { contentType: open ? OPEN_METRICS : TEXT, text: `${lines.join("\n")}\n` };
}

function linesOf({ name, help, type, samples }: Family, open: boolean): string[] {
  // OpenMetrics names the family of a counter without the suffix of its samples.
  const shown = open && type === "counter" ? name.replace(/_total$/, "") : name;
  const head = [`# HELP ${shown} ${escaped(help, open)}`, `# TYPE ${shown} ${type}`];
  return [...head, ...samples.map((sample) => `${name}${sample.suffix ?? ""}${labelsOf(sample)} ${numberOf(sample)}`)];
}

function labelsOf({ labels }: Sample): string {
  if (labels.length === 0) return "";
  return `{${labels.map(([name, value]) => `${name}="${escaped(value, true)}"`).join(",")}}`;
}

const escaped = (text: string, quotes: boolean): string => {
  const shown = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return quotes ? shown.replaceAll('"', '\\"') : shown;
};

const numberOf = ({ value }: Sample): string =>
  Number.isFinite(value) ? String(value) : value > 0 ? "+Inf" : value < 0 ? "-Inf" : "NaN";
