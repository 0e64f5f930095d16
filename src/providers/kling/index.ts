// https://app.klingai.com/global/dev/document-api

import { bearer } from "../auth.ts";
import type { ProviderDeclaration } from "../provider.ts";
import { images } from "./images.ts";
import { tokenBearer } from "./token.ts";
import { videos } from "./videos.ts";

/** Kling. Accounts have either a key, or a pair of keys that tokens are signed with. */
export const kling: ProviderDeclaration = {
  kind: "kling",
  publishers: ["klingai"],
  variables: { access_key: "KLING_ACCESS_KEY", secret_key: "KLING_SECRET_KEY" },
  fields: { required: [], optional: ["api_key", "access_key", "secret_key"] },
  baseUrl: () => "https://api-singapore.klingai.com",
  authenticate: (settings, { clock }) => {
    const { apiKey, accessKey, secretKey } = settings;
    if (apiKey) return bearer(settings);
    if (!accessKey || !secretKey) throw new Error("either api_key or both access_key and secret_key are required");
    return tokenBearer(accessKey.reveal(), secretKey.reveal(), clock.wallMs);
  },
  dialects: {},
  media: { images: [images], videos: [videos] },
};
