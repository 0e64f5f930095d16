// https://docs.dev.runwayml.com/api/

import { bearer } from "../auth.ts";
import type { ProviderDeclaration } from "../provider.ts";
import { images } from "./images.ts";
import { videos } from "./videos.ts";

export const runway: ProviderDeclaration = {
  kind: "runway",
  publishers: ["runway"],
  variables: { api_key: "RUNWAYML_API_SECRET" },
  fields: { required: ["api_key"], optional: [] },
  baseUrl: () => "https://api.dev.runwayml.com/v1",
  authenticate: bearer,
  dialects: {},
  media: { images: [images], videos: [videos] },
};
