/** The headers that authenticate the gateway. A promise only where a token has to be fetched first. */
export type Authenticator = () => Record<string, string> | Promise<Record<string, string>>;

/** An outgoing request, for hosts that need it signed as a whole. */
export interface OutgoingRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Header lines of this request alone, each with its end; not signed. */
  ownLines?: string | undefined;
  body: string | Uint8Array;
}

/** The headers that sign exactly this request. */
export type Signer = (request: OutgoingRequest) => Record<string, string>;
