import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { ImageAdapter, JobState, MediaAnswer } from "../../media/adapter.ts";
import type { InlineImage, MediaLink, PixelSize } from "../../media/image.ts";
import type { FittedImageCall } from "../../media/image-call.ts";
import type { ImageCapabilities } from "../../media/image-capabilities.ts";
import type { ImageResult, UpstreamImageReply } from "../../media/image-reply.ts";
import type { CodeTable } from "../media-adapters/code-table.ts";
import { imageType } from "../media-adapters/image-type.ts";
import { emptyAnswer, mediaFailure } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";

const size = (width: number, height: number): PixelSize => ({ width, height });

const SEEDS = { min: 0, max: 4_294_967_295 };

const ERNIE: ImageCapabilities = {
  maxCount: 1,
  perCall: 1,
  takes: ["watermark"],
  seeds: SEEDS,
  sizes: {
    kind: "presets",
    sizes: [
      size(1024, 1024),
      size(1264, 848),
      size(848, 1264),
      size(1200, 896),
      size(896, 1200),
      size(1376, 768),
      size(768, 1376),
    ],
  },
  maxInputs: 0,
  mask: false,
  formats: ["image/png"],
  compresses: false,
  maxPrompt: 2048,
};

/** Models of other vendors, all at one path. */
const HOSTED: ImageCapabilities = {
  maxCount: 4,
  perCall: 4,
  takes: ["negativePrompt", "seed", "guidanceScale", "enhancePrompt", "watermark"],
  seeds: SEEDS,
  guidance: { min: 0, max: 30 },
  sizes: {
    kind: "free",
    free: { multipleOf: 16, minSide: 512, maxSide: 2048, maxRatio: 4 },
    tiers: ["1K", "2K"],
    standard: size(1024, 1024),
  },
  maxInputs: 0,
  mask: false,
  formats: ["image/png"],
  compresses: false,
};

/** The path and capabilities of a family of models: each of the host's own families has a path of its own. */
interface Family {
  path: string;
  capabilities: ImageCapabilities;
  /** It can answer with base64; otherwise images are links that last a day. */
  base64?: true;
}

const FAMILIES: readonly (readonly [string, Family])[] = [
  ["ernie-image", { path: "/ernie-image/images/generations", capabilities: ERNIE }],
  [
    "musesteamer",
    {
      path: "/musesteamer/images/generations",
      capabilities: { ...ERNIE, takes: ["seed", "enhancePrompt"] },
      base64: true,
    },
  ],
];

const OTHERS: Family = { path: "/images/generations", capabilities: HOSTED };

const familyOf = (model: string): Family => FAMILIES.find(([beginning]) => model.startsWith(beginning))?.[1] ?? OTHERS;

export const baiduImages: ImageAdapter = {
  serves: (model) => /image|^flux|^stable-diffusion/.test(model),
  capabilities: (model) => familyOf(model).capabilities,
  submit: (call, { model }) => {
    const family = familyOf(model);
    return { method: "POST", url: family.path, body: { json: bodyOf(call, model, family) } };
  },
  readSubmit,
  error: (answer) => mediaFailure(answer, BAIDU_CODES),
};

function bodyOf(call: FittedImageCall, model: string, { capabilities, base64 }: Family): JsonObject {
  const { pixels, negativePrompt, seed, guidanceScale, enhancePrompt } = call;
  return {
    ...pickExtras(call.extras, capabilities.takes.includes("guidanceScale") ? ["steps"] : []),
    model,
    prompt: call.prompt,
    ...(capabilities.perCall > 1 ? { n: call.count } : {}),
    ...withoutAbsent({
      size: pixels === undefined ? undefined : `${pixels.width}x${pixels.height}`,
      negative_prompt: negativePrompt,
      seed,
      guidance: guidanceScale,
      prompt_extend: enhancePrompt,
    }),
    ...(capabilities.takes.includes("watermark") ? { watermark: call.watermark ?? false } : {}),
    ...(base64 ? { response_format: "b64_json" } : {}),
  };
}

function readSubmit(answer: MediaAnswer): JobState<UpstreamImageReply> {
  const results = arrayAt(answer.body, "data").flatMap((item): ImageResult<InlineImage | MediaLink>[] => {
    const base64 = stringAt(item, "b64_json");
    const url = stringAt(item, "url");
    if (base64) return [{ kind: "made", image: { mimeType: imageType(base64, undefined), base64 } }];
    return url ? [{ kind: "made", image: { url } }] : [];
  });
  if (results.length > 0) return { state: "done", reply: { results } };
  throw answer.body?.["error"] == null ? emptyAnswer("images") : mediaFailure(answer, BAIDU_CODES);
}

/** Codes that say more than the status; for all others the status decides. */
const BAIDU_CODES: CodeTable = [
  [/^(content_filter|system_unsafe)$/, "content_blocked"],
  [/^(invalid_iam_token|invalid_appid|access_denied|insufficient_quota)$/, "upstream_credentials"],
  [/^([rt]pm_)?rate_limit_exceeded$/, "rate_limited"],
];
