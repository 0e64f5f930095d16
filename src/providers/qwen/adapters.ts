import type { MediaAdapters } from "../../media/adapter.ts";
import { images } from "./images.ts";
import { videos } from "./videos.ts";
import { wanImages } from "./wan-images.ts";

/** Images and videos at DashScope, which are at its native endpoint, not at the compatible one. */
export const qwenAdapters: MediaAdapters = {
  base: (baseUrl) => baseUrl.replace(/\/compatible-mode\/v1$/, "/api/v1"),
  images: [images, wanImages],
  videos: [videos],
};
