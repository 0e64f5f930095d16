/** What a client asks for by its URL and headers. */
export interface GenaiOptions {
  /** The vendor's bare words for the finish reason instead of the contract's. */
  bareFinishReason: boolean;
  /** A stream is a JSON array instead of server-sent events. */
  arrayFraming: boolean;
}

export const streamType = ({ arrayFraming }: GenaiOptions): string =>
  arrayFraming ? "application/json" : "text/event-stream";
