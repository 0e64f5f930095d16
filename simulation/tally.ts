import type { RunResult } from "./run-scenario.ts";

/** Totals of many runs. */
export class Tally {
  seeds = 0;
  failedSeeds = 0;
  calls = 0;
  attempts = 0;
  rows = 0;
  kills = 0;
  continued = 0;
  passedMs = 0;
  /** Time taken, in all processes. */
  cpuSeconds = 0;
  readonly endings: Record<string, number> = {};

  add({ violations, calls, attempts, rows, kills, continued, passedMs, endings }: RunResult): void {
    this.join({
      seeds: 1,
      failedSeeds: violations.length > 0 ? 1 : 0,
      calls,
      attempts,
      rows,
      kills,
      continued,
      passedMs,
      cpuSeconds: 0,
      endings,
    });
  }

  addCpu({ user, system }: { user: number; system: number }): void {
    this.cpuSeconds += (user + system) / 1e6;
  }

  join(other: Omit<Tally, "add" | "addCpu" | "join" | "text">): void {
    this.seeds += other.seeds;
    this.failedSeeds += other.failedSeeds;
    this.calls += other.calls;
    this.attempts += other.attempts;
    this.rows += other.rows;
    this.kills += other.kills;
    this.continued += other.continued;
    this.passedMs += other.passedMs;
    this.cpuSeconds += other.cpuSeconds;
    for (const [ending, count] of Object.entries(other.endings)) {
      this.endings[ending] = (this.endings[ending] ?? 0) + count;
    }
  }

  text(): string {
    const seconds = this.cpuSeconds;
    const endings = Object.entries(this.endings).sort(([, one], [, other]) => other - one);
    return [
      `${this.seeds} seeds, ${this.failedSeeds} failed`,
      `${this.calls} calls, ${this.attempts} requests to providers, ${this.rows} rows, ${this.continued} answers continued elsewhere, ${this.kills} kills`,
      `${(this.passedMs / 3_600_000).toFixed(1)} hours in ${seconds.toFixed(1)} s of CPU: ${Math.round(this.calls / seconds)} calls/s`,
      ...endings.map(([ending, count]) => `  ${String(count).padStart(9)} ${ending}`),
    ].join("\n");
  }
}
