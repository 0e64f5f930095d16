import type { Migration } from "./migration.ts";

/** Providers that make images count and price their tokens apart. */
export const imageTokens: Migration = {
  version: 5,
  name: "image-tokens",
  statements: [
    "ALTER TABLE receipts ADD COLUMN usage_image_input BIGINT",
    "ALTER TABLE receipts ADD COLUMN usage_image_output BIGINT",
  ],
};
