import type { MediaAdapters } from "../../media/adapter.ts";
import { images } from "./images.ts";
import { videos } from "./videos.ts";
import { wanImages } from "./wan-images.ts";

/** Images and videos at DashScope. They stand at its own address, beside the one that is compatible with others. */
export const qwenMedia: MediaAdapters = {
  base: (baseUrl) => baseUrl.replace(/\/compatible-mode\/v1$/, "/api/v1"),
  images: [images, wanImages],
  videos: [videos],
};
