/** Headers that prove who the gateway is. A promise only where a token has to be fetched first. */
export type Authenticator = () => Record<string, string> | Promise<Record<string, string>>;

/** A request on its way out, for hosts that want it signed as a whole. */
export interface OutgoingRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | Uint8Array;
}

/** Gives the headers that prove who sent exactly this request. */
export type Signer = (request: OutgoingRequest) => Record<string, string>;
