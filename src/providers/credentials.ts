/** The headers that authenticate the gateway; a promise only if a token must be fetched first. */
export type Authenticator = () => Record<string, string> | Promise<Record<string, string>>;

/** An outgoing request, for hosts that need it signed as a whole. */
export interface OutgoingRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Unsigned header lines of this request, each with its line end. */
  ownLines?: string | undefined;
  body: string | Uint8Array;
}

/** The headers that sign exactly this request. */
export type Signer = (request: OutgoingRequest) => Record<string, string>;
