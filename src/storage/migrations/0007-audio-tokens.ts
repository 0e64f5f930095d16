import type { Migration } from "./migration.ts";

/** Some models price the sound of a prompt apart from its text. */
export const audioTokens: Migration = {
  version: 7,
  name: "audio-tokens",
  statements: ["ALTER TABLE receipts ADD COLUMN usage_audio_input BIGINT"],
};
