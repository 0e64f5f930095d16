import type { MediaAdapters } from "../../media/adapter.ts";
import { images } from "./images.ts";
import { videos } from "./videos.ts";

/** Images and videos at Volcengine's Ark, which also speaks chat completions. */
export const volcengineAdapters: MediaAdapters = { images: [images], videos: [videos] };
