import { DEFAULT_MEDIA_QUIRKS, type MediaQuirks } from "../request/media-quirks.ts";

/** What differs between hosts of the generative-content protocol. */
export interface GenaiQuirks extends MediaQuirks {
  /** Whether the host takes `labels`, names of files, and the methods of safety settings. */
  labels: boolean;
  /** The host takes plain JSON Schema (`parametersJsonSchema`, `responseJsonSchema`); else it is lowered (H08). */
  jsonSchema: boolean;
  /** The counter takes the prompt inside a `generateContentRequest`; else its fields stand in the body. */
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
