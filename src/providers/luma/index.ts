// https://docs.lumalabs.ai/docs/api

import { bearer } from "../auth.ts";
import type { ProviderDeclaration } from "../provider.ts";
import { images } from "./images.ts";
import { videos } from "./videos.ts";

export const luma: ProviderDeclaration = {
  kind: "luma",
  publishers: ["luma"],
  variables: { api_key: "LUMA_API_KEY" },
  fields: { required: ["api_key"], optional: [] },
  baseUrl: () => "https://api.lumalabs.ai/dream-machine/v1",
  authenticate: bearer,
  dialects: {},
  media: { images: [images], videos: [videos] },
};
