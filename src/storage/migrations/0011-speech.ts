import type { Migration } from "./migration.ts";

/** Speech is paid by its characters, or by tokens of sound. */
export const speech: Migration = {
  version: 11,
  name: "speech",
  statements: [
    "ALTER TABLE receipts ADD COLUMN usage_audio_output BIGINT",
    "ALTER TABLE receipts ADD COLUMN usage_characters BIGINT",
  ],
};
