import type { MediaAdapters } from "../../media/adapter.ts";
import { geminiImage } from "./gemini-image.ts";
import type { GoogleHost } from "./host.ts";
import { imagen } from "./imagen.ts";
import { veo } from "./veo.ts";

/** Images and videos at the Gemini API or at Vertex AI. */
export const googleAdapters = (host: GoogleHost): MediaAdapters => ({
  images: [geminiImage(host), imagen(host)],
  videos: [veo(host)],
});
