/** What differs between hosts and models of live connections. */
export interface LiveQuirks {
  /** The host accepts new instructions and tools within a session (`contextUpdate`). */
  contextUpdates: boolean;
  /** The host accepts `clientContent` only before the conversation, and text within it as `realtimeInput`. */
  contentOnlyFirst: boolean;
  /** The model that writes down what the user says, for a client whose protocol does not name one. */
  transcriptionModel: string;
}

export const DEFAULT_LIVE_QUIRKS: LiveQuirks = {
  contextUpdates: false,
  contentOnlyFirst: false,
  transcriptionModel: "gpt-4o-mini-transcribe",
};
