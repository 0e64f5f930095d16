import type { Migration } from "./migration.ts";

/**
 * What running instances have spent with receipts that retention deleted. The sums by day do not know who wrote a receipt, and an
 * instance reports what it has spent itself.
 */
export const instanceDays: Migration = {
  version: 67,
  name: "instance-days",
  statements: [
    `CREATE TABLE instance_days (
      instance TEXT NOT NULL,
      day BIGINT NOT NULL,
      project TEXT NOT NULL,
      key_id TEXT NOT NULL,
      model TEXT NOT NULL,
      tags TEXT NOT NULL,
      calls BIGINT NOT NULL,
      tokens BIGINT NOT NULL,
      cost_nano_usd BIGINT NOT NULL,
      PRIMARY KEY (instance, day, project, key_id, model, tags)
    )`,
  ],
};
