import type { Family } from "../../telemetry/family.ts";

/** The metrics of one of several processes. */
export interface WorkerMetrics {
  /** Its place among them, which the process that replaces it takes over. */
  worker: string;
  families: readonly Family[];
}

/** What workers know of each other's metrics. */
export interface MetricsOfWorkers {
  /** What this one says when it is asked. */
  answerWith(own: () => readonly Family[]): void;
  /** Of all, this one included. */
  all(): Promise<readonly WorkerMetrics[]>;
}

/** Each metric once, with the samples of all processes. Counters of a process start at 0, so they are not added up here. */
export function mergeWorkers(workers: readonly WorkerMetrics[]): Family[] {
  const merged = new Map<string, Family>();
  for (const { worker, families } of workers) {
    for (const { samples, ...about } of families) {
      const family = merged.get(about.name) ?? { ...about, samples: [] };
      merged.set(about.name, family);
      for (const sample of samples) {
        family.samples.push({ ...sample, labels: [["worker", worker], ...sample.labels] });
      }
    }
  }
  return [...merged.values()];
}
