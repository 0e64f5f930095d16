// https://cloud.tencent.com/document/product/1668/124632

import type { ProviderDeclaration } from "../provider.ts";
import { images } from "./images.ts";
import { liteImages } from "./lite-images.ts";
import { signTc3 } from "./tc3.ts";

const SERVICE = "aiart";

/** Tencent's Hunyuan images. There is no API key: each request is signed. */
export const hunyuan: ProviderDeclaration = {
  kind: "hunyuan",
  publishers: ["tencent"],
  variables: { secret_id: "TENCENTCLOUD_SECRET_ID", secret_key: "TENCENTCLOUD_SECRET_KEY" },
  fields: { required: ["secret_id", "secret_key"], optional: ["region"] },
  baseUrl: () => `https://${SERVICE}.tencentcloudapi.com`,
  authenticate: () => () => ({}),
  sign: ({ secretId, secretKey }, { clock }) => {
    if (!secretId || !secretKey) throw new Error("secret_id and secret_key are required");
    const credentials = { secretId, secretKey: secretKey.reveal() };
    return (request) => signTc3(request, credentials, SERVICE, new Date(clock.wallMs()));
  },
  dialects: {},
  media: { images: [images, liteImages] },
};
