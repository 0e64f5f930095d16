import type { Migration } from "./migration.ts";

/**
 * Alerts and their way to each webhook. A row of `alert_claims` is what lets one process of many tell of a thing once; one of
 * `alert_incidents` is a thing that is down or up.
 */
export const alerts: Migration = {
  version: 22,
  name: "alerts",
  statements: [
    // Pages ask for ranges of ids.
    (engine) => `CREATE TABLE alerts (
      id TEXT ${engine === "postgres" ? 'COLLATE "C"' : ""} PRIMARY KEY,
      type TEXT NOT NULL,
      at_ms BIGINT NOT NULL,
      body TEXT NOT NULL
    )`,
    "CREATE INDEX alerts_by_time ON alerts (at_ms)",
    `CREATE TABLE alert_deliveries (
      id TEXT PRIMARY KEY,
      alert_id TEXT NOT NULL,
      webhook TEXT NOT NULL,
      state TEXT NOT NULL,
      tries INTEGER NOT NULL,
      due_at_ms BIGINT NOT NULL,
      lease_owner TEXT NOT NULL,
      lease_until_ms BIGINT NOT NULL,
      tried_at_ms BIGINT,
      status INTEGER,
      error TEXT
    )`,
    "CREATE INDEX alert_deliveries_waiting ON alert_deliveries (due_at_ms) WHERE state = 'pending'",
    "CREATE INDEX alert_deliveries_of ON alert_deliveries (alert_id)",
    "CREATE INDEX alert_deliveries_last ON alert_deliveries (webhook, tried_at_ms)",
    `CREATE TABLE alert_claims (
      name TEXT PRIMARY KEY,
      expires_at_ms BIGINT
    )`,
    `CREATE TABLE alert_incidents (
      subject TEXT PRIMARY KEY,
      state TEXT NOT NULL,
      opened_at_ms BIGINT NOT NULL,
      owner TEXT NOT NULL,
      seen_at_ms BIGINT NOT NULL
    )`,
  ],
};
