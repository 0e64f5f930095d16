import type { Picture } from "./picture.ts";

/** A picture as a client is given it: the bytes, or, above the inline limit, where they are kept. */
export type GivenPicture = Picture | KeptPicture;

export interface KeptPicture {
  url: string;
  mimeType: string;
}
