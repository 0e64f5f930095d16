import type { Migration } from "./migration.ts";

/**
 * Of a receipt: why its offers were tried in their order, and where its answer went on, as JSON; NULL where there was nothing to
 * choose. Of a key: how its calls are served where they do not say otherwise, as JSON.
 */
export const routing: Migration = {
  version: 9,
  name: "routing",
  statements: ["ALTER TABLE receipts ADD COLUMN routing TEXT", "ALTER TABLE api_keys ADD COLUMN routing TEXT"],
};
