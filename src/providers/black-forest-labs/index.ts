// https://docs.bfl.ai/

import { headerKey } from "../auth.ts";
import type { ProviderDeclaration } from "../provider.ts";
import { images } from "./images.ts";

/** The makers of FLUX. A job is polled in the region that accepted it, which is a host of its own. */
export const blackForestLabs: ProviderDeclaration = {
  kind: "black-forest-labs",
  publishers: ["black-forest-labs"],
  variables: { api_key: "BFL_API_KEY" },
  fields: { required: ["api_key"], optional: [] },
  baseUrl: () => "https://api.bfl.ai/v1",
  authenticate: headerKey("x-key"),
  dialects: {},
  media: { ownHosts: /^(?:[\w-]+\.)*bfl\.ai$/, images: [images] },
};
