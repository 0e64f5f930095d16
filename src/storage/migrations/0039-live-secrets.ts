import type { Migration } from "./migration.ts";

/** Secrets that open live connections for a short time. `session` is sealed with a key that only the secret's holder can derive. */
export const liveSecrets: Migration = {
  version: 39,
  name: "live-secrets",
  statements: [
    `CREATE TABLE live_secrets (
      hash TEXT PRIMARY KEY,
      key_id TEXT NOT NULL,
      model TEXT NOT NULL,
      session TEXT NOT NULL,
      expires_at_ms BIGINT NOT NULL
    )`,
    "CREATE INDEX live_secrets_by_expiry ON live_secrets (expires_at_ms)",
    "CREATE INDEX live_secrets_by_key ON live_secrets (key_id)",
  ],
};
