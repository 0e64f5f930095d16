import { DEFAULT_MEDIA_QUIRKS, type MediaQuirks } from "../request/media-quirks.ts";

/** What differs between hosts of the generative-content protocol. */
export interface GenaiQuirks extends MediaQuirks {
  /** Whether the host accepts `labels`, file names, and the methods of safety settings. */
  labels: boolean;
  /** The host accepts plain JSON Schema (`parametersJsonSchema`, `responseJsonSchema`); otherwise schemas are lowered (H08). */
  jsonSchema: boolean;
  /** The counter takes the prompt inside a `generateContentRequest`; otherwise its fields are in the body. */
  countsWholeRequest: boolean;
  /** Calls and results carry ids. */
  functionIds: boolean;
}

export const DEFAULT_GENAI_QUIRKS: GenaiQuirks = {
  ...DEFAULT_MEDIA_QUIRKS,
  labels: true,
  jsonSchema: true,
  countsWholeRequest: false,
  functionIds: true,
};
