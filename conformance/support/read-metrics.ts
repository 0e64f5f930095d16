export interface ReadSample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

/**
 * Reads Prometheus's text format strictly: every line is well formed, every sample has a family, every series occurs
 * once.
 */
export function readMetrics(text: string): ReadSample[] {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const types = new Map<string, string>();
  const seen = new Set<string>();
  const samples: ReadSample[] = [];
  for (const line of text.split("\n").slice(0, -1)) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line);
    if (type !== null) {
      if (types.has(type[1] ?? "")) throw new Error(`two families: ${line}`);
      types.set(type[1] ?? "", type[2] ?? "");
      continue;
    }
    if (/^# HELP \S+ ./.test(line)) continue;
    const parts = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (parts === null) throw new Error(`no sample: ${line}`);
    const [, name = "", labels = "", value = ""] = parts;
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
    if (!types.has(family)) throw new Error(`no family: ${line}`);
    const series = `${name}{${labels}}`;
    if (seen.has(series)) throw new Error(`twice: ${series}`);
    seen.add(series);
    samples.push({
      name,
      labels: readLabels(labels),
      value: value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value),
    });
  }
  return samples;
}

const readLabels = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = "", value = ""]) => [name, value]),
  );

export const sumOf = (
  samples: readonly ReadSample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number =>
  samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
