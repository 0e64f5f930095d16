import type { MediaWires } from "../../media/media-wire.ts";
import { images } from "./images.ts";
import { videos } from "./videos.ts";

/** Images and videos at Volcengine's Ark, beside its chat completions. */
export const volcengineMedia: MediaWires = { images: [images], videos: [videos] };
