import { readdirSync } from "node:fs";
import { counter, type Family, family, gauge } from "../../telemetry/family.ts";
import { VERSION } from "../../version.ts";

/** The standard process metrics of Prometheus. `startedMs` is by the wall clock. */
export function processFamilies(startedMs: number): Family[] {
  const { user, system } = process.cpuUsage();
  const openFiles = countOpenFiles();
  return [
    gauge("process_resident_memory_bytes", "Resident memory size.", process.memoryUsage.rss()),
    counter("process_cpu_seconds_total", "Total user and system CPU time.", (user + system) / 1e6),
    gauge("process_start_time_seconds", "Start time of the process since the Unix epoch.", startedMs / 1000),
    ...(openFiles === undefined ? [] : [gauge("process_open_fds", "Number of open file descriptors.", openFiles)]),
    family("gauge", "trivium_build_info", "Version of the gateway and its runtime.", [
      { labels: { version: VERSION, bun: Bun.version }, value: 1 },
    ]),
  ];
}

function countOpenFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    // This folder exists only on Linux.
    return undefined;
  }
}
