/**
 * An image on its way through the gateway. Base64 (the standard alphabet, padded) is what the JSON of both sides carries,
 * so bytes are made only where somebody must look into them.
 */
export interface InlineImage {
  /** Such as `image/png`. */
  mimeType: string;
  base64: string;
}

/** An image or video that an upstream keeps for a while at an address of its own. */
export interface MediaLink {
  url: string;
  mimeType?: string;
  /** The address wants the provider's credential; without it the credential must not be shown there. */
  credential?: true;
}

export interface PixelSize {
  width: number;
  height: number;
}

export const IMAGE_TIERS = ["1K", "2K", "4K"] as const;

/** The level of an image's resolution: about 1024, 2048 or 4096 pixels a side, whatever its shape. */
export type ImageTier = (typeof IMAGE_TIERS)[number];
