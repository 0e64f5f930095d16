import type { Family } from "../../telemetry/family.ts";

/** The metrics of one of several processes. */
export interface WorkerMetrics {
  /** Its number, which its replacement takes over. */
  worker: string;
  families: readonly Family[];
}

/** How workers read each other's metrics. */
export interface MetricsOfWorkers {
  /** Sets how this worker reports its own metrics. */
  answerWith(own: () => readonly Family[]): void;
  /** The metrics of all workers, including this one. */
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
