import type { Config } from "./config.ts";

/** Fields that are only used at the start. A reload applies all others. */
const FIXED: Readonly<Record<string, (config: Config) => unknown>> = {
  "server.host": ({ server }) => server.host,
  "server.port": ({ server }) => server.port,
  "server.workers": ({ server }) => server.workers,
  "server.cors": ({ server }) => server.cors.join(" "),
  "server.trusted_proxies": ({ server }) => server.trustedProxies.join(" "),
  "server.memory_mb": ({ server }) => server.memoryBytes,
  "server.drain_delay_seconds": ({ server }) => server.drainDelaySeconds,
  "server.drain_seconds": ({ server }) => server.drainSeconds,
  "admin.host": ({ admin }) => admin.host,
  "admin.port": ({ admin }) => admin.port,
  "admin.public_url": ({ admin }) => admin.publicUrl,
  "admin.open_metrics": ({ admin }) => admin.openMetrics,
  "admin.secret": ({ admin }) => admin.secret?.reveal(),
  data_dir: ({ dataDir }) => dataDir,
  storage: ({ storage }) => storage,
  redis: ({ redis }) => redis?.reveal(),
  files: ({ files }) => files,
  "retention.hours": ({ retention }) => retention.ms,
  "retention.max_file_mb": ({ retention }) => retention.maxFileBytes,
  "retention.max_total_mb": ({ retention }) => retention.maxTotalBytes,
  "retention.max_project_mb": ({ retention }) => retention.maxProjectBytes,
  "objects.max_file_mb": ({ objects }) => objects.maxFileBytes,
  "objects.project_mb": ({ objects }) => objects.maxProjectBytes,
  "objects.default_days": ({ objects }) => objects.retentionMs,
  "batch.mode": ({ batch }) => batch.mode,
  "batch.max_concurrent": ({ batch }) => batch.maxConcurrent,
  "live.max_frame_mb": ({ live }) => live.maxFrameBytes,
  "batch.assumed_output_tokens": ({ batch }) => batch.assumedOutputTokens,
  "ledger.journal_mb": ({ ledger }) => ledger.journalBytes,
  "ledger.intents": ({ ledger }) => ledger.intents,
  "ledger.retention_days": ({ ledger }) => ledger.retentionDays,
  "responses.store": ({ responses }) => responses.store,
  "responses.retention_hours": ({ responses }) => responses.retentionMs,
  "responses.max_mb": ({ responses }) => responses.maxBytes,
  "capture.retention_hours": ({ capture }) => capture.retentionMs,
  "capture.max_body_kb": ({ capture }) => capture.maxBodyBytes,
  "capture.max_total_mb": ({ capture }) => capture.maxTotalBytes,
  exports: ({ exports }) => JSON.stringify(exports),
  simulator: ({ simulator }) => simulator,
  telemetry: ({ telemetry }) => fingerprint(telemetry),
  "log.level": ({ log }) => log.level,
  "log.format": ({ log }) => log.format,
  "log.calls": ({ log }) => log.calls,
};

/** Secrets count, too. */
const fingerprint = ({ headers = {}, ...same }: Config["telemetry"]): string =>
  JSON.stringify([same, Object.entries(headers).map(([name, secret]) => [name, secret.reveal()])]);

/** The fields that need a restart to change, by their names in the file. */
export function restartFields(started: Config, changed: Config): string[] {
  return Object.keys(FIXED).filter((field) => FIXED[field]?.(started) !== FIXED[field]?.(changed));
}
