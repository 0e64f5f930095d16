import { Secret } from "../../src/base/secret.ts";
import { system } from "../../src/base/system.ts";
import { builtInModels } from "../../src/catalogue/built-in-models.ts";
import { fitImageCall } from "../../src/media/fit-image-call.ts";
import { fitVideoCall } from "../../src/media/fit-video-call.ts";
import type { FittedImageCall, ImageOption } from "../../src/media/image-call.ts";
import type { ImageRequest } from "../../src/media/image-request.ts";
import type { FittedVideoCall } from "../../src/media/video-call.ts";
import type { VideoRequest } from "../../src/media/video-request.ts";
import { createProvider } from "../../src/providers/index.ts";
import type { ProviderMedia } from "../../src/providers/media-adapters/provider-media.ts";

/** The provider of a model, and its name there. */
export interface Maker {
  kind: string;
  upstreamModel: string;
}

/** The provider's own name of a model, by the catalogue or the configuration. */
export function upstreamModelOf(model: string, configured: readonly ConfiguredModel[]): string {
  const id = model.split(":")[0] ?? "";
  const name =
    configured.find((one) => one.id === id)?.offers[0]?.model ??
    builtInModels.find((one) => one.id === id)?.upstreamModel;
  if (name === undefined) throw new Error(`no provider has ${model}`);
  return name;
}

interface ConfiguredModel {
  id: string;
  offers: readonly { model: string }[];
}

function mediaOf(kind: string): ProviderMedia {
  const secret = new Secret("upstream-secret-key");
  const keys = { apiKey: secret, accessKey: secret, secretKey: secret, secretId: "id" };
  const { media } = createProvider(
    {
      name: kind,
      kind,
      baseUrl: "http://127.0.0.1:9",
      project: "p",
      location: "l",
      ...keys,
    },
    system,
  );
  if (media === undefined) throw new Error(`${kind} has no media`);
  return media;
}

/** Another value for each option. A request that is the same with either of them does not carry the option. */
const OTHER_IMAGE_OPTIONS: Readonly<Record<ImageOption, unknown>> = {
  negativePrompt: "another thing",
  quality: undefined,
  seed: 4_711,
  guidanceScale: 5.5,
  enhancePrompt: undefined,
  watermark: undefined,
  personGeneration: "another",
  safetySetting: "another",
  includeRaiReason: undefined,
  background: "another",
  moderation: "another",
  inputFidelity: "another",
  editMode: "another",
};

/** The paths of a call's options that are not sent to the model although no note says so. */
export function unsentImageOptions(request: ImageRequest, { kind, upstreamModel }: Maker): string[] {
  const media = mediaOf(kind);
  const adapter = media.images(upstreamModel);
  if (adapter === undefined) throw new Error(`${kind} has no ${upstreamModel}`);
  const { call } = fitImageCall(request.call, adapter.capabilities(upstreamModel), upstreamModel);
  const sent = (one: FittedImageCall) => JSON.stringify(adapter.submit(one, media.context(upstreamModel, "job")));
  const options = Object.keys(OTHER_IMAGE_OPTIONS) as ImageOption[];
  return options
    .filter((option) => call[option] !== undefined && sent(call) === sent(changed(call, option)))
    .map((option) => request.paths[option]);
}

function changed(call: FittedImageCall, option: ImageOption): FittedImageCall {
  const value = call[option];
  const other = OTHER_IMAGE_OPTIONS[option] ?? (typeof value === "boolean" ? !value : `${value}-`);
  return { ...call, [option]: other };
}

/** The same for videos. What prices depend on is settled, so it is compared too. */
export function unsentVideoOptions(request: VideoRequest, { kind, upstreamModel }: Maker): string[] {
  const media = mediaOf(kind);
  const adapter = media.videos(upstreamModel);
  if (adapter === undefined) throw new Error(`${kind} has no ${upstreamModel}`);
  const { call, notes } = fitVideoCall(request.call, adapter.capabilities(upstreamModel), upstreamModel);
  const sent = (one: FittedVideoCall) =>
    JSON.stringify(adapter.submit({ ...one, count: 1 }, media.context(upstreamModel, "job")));
  const others = {
    negativePrompt: "another thing",
    personGeneration: "another",
    seed: 4_711,
    fps: 61,
    aspectRatio: "9:16",
  };
  const flags = { enhancePrompt: !call.enhancePrompt };
  const unsent = Object.entries({ ...others, ...flags }).filter(([option, value]) => {
    const own = option as keyof typeof others;
    if (call[own] === undefined || request.call[own] === undefined || notes.some(({ field }) => field === own))
      return false;
    const other = call[own] === value ? "16:9" : value;
    return sent(call) === sent({ ...call, [option]: other });
  });
  return unsent.map(([option]) => request.paths[option as keyof typeof others]);
}
