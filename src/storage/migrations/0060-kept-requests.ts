import type { Migration } from "./migration.ts";

/**
 * The request of a line as a provider's batch API was sent it, where guards have changed it; and the line of a batch that an announced
 * call belongs to, as JSON.
 */
export const keptRequests: Migration = {
  version: 60,
  name: "kept-requests",
  statements: [
    "ALTER TABLE batch_lines ADD COLUMN sent TEXT",
    "ALTER TABLE intents ADD COLUMN batch_id TEXT",
    "ALTER TABLE intents ADD COLUMN batch TEXT",
  ],
};
