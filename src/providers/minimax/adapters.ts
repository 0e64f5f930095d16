import type { MediaAdapters } from "../../media/adapter.ts";
import { h3 } from "./h3.ts";
import { hailuo } from "./hailuo.ts";
import { images } from "./images.ts";

export const minimaxAdapters: MediaAdapters = {
  // The newest video models are below another version than everything else.
  base: (baseUrl) => baseUrl.replace(/\/v1$/, ""),
  images: [images],
  videos: [h3, hailuo],
};
