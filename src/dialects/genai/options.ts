/** What a client requests by its URL and headers. */
export interface GenaiOptions {
  /** Write the vendor's bare finish reasons instead of the contract's. */
  bareFinishReason: boolean;
  /** Stream as a JSON array instead of server-sent events. */
  arrayFraming: boolean;
}

export const streamType = ({ arrayFraming }: GenaiOptions): string =>
  arrayFraming ? "application/json" : "text/event-stream";
