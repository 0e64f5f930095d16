/**
 * An image in a request or response. It stays base64 (the standard alphabet, padded), as in the JSON of both sides, and is decoded
 * only if its bytes are needed.
 */
export interface InlineImage {
  /** Such as `image/png`. */
  mimeType: string;
  base64: string;
}

/** An image or video that a provider keeps for a while at a URL. */
export interface MediaLink {
  url: string;
  mimeType?: string;
  /** The URL needs the provider's credential; if absent, the credential must not be sent there. */
  credential?: true;
}

export interface PixelSize {
  width: number;
  height: number;
}

export const IMAGE_TIERS = ["1K", "2K", "4K"] as const;

/** The resolution tier of an image: about 1024, 2048 or 4096 pixels per side, for any aspect ratio. */
export type ImageTier = (typeof IMAGE_TIERS)[number];
