// https://cloud.baidu.com/doc/qianfan-api/s/8m7u6un8a

import { bearer } from "../auth.ts";
import type { ProviderDeclaration } from "../provider.ts";
import { baiduImages } from "./images.ts";

/** Qianfan, for its images. */
export const baidu: ProviderDeclaration = {
  kind: "baidu",
  publishers: ["baidu"],
  variables: { api_key: "QIANFAN_API_KEY" },
  fields: { required: ["api_key"], optional: [] },
  baseUrl: () => "https://qianfan.baidubce.com/v2",
  authenticate: bearer,
  dialects: {},
  media: { images: [baiduImages] },
};
