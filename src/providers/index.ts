import type { Sources } from "../base/sources.ts";
import type { ProviderSettings } from "../config/config.ts";
import { BUILT_IN_DIALECTS } from "../dialects/index.ts";
import { anthropic } from "./anthropic.ts";
import { azureOpenai } from "./azure-openai.ts";
import { baidu } from "./baidu/index.ts";
import { bedrock } from "./bedrock.ts";
import { blackForestLabs } from "./black-forest-labs/index.ts";
import { COMPATIBLE_PROVIDERS } from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { hunyuan } from "./hunyuan/index.ts";
import { kling } from "./kling/index.ts";
import { luma } from "./luma/index.ts";
import { openai } from "./openai.ts";
import { openaiCompatible } from "./openai-compatible.ts";
import { Provider, type ProviderDeclaration } from "./provider.ts";
import type { Registry } from "./registry.ts";
import { runway } from "./runway/index.ts";
import { simulator } from "./simulator.ts";
import { vertex } from "./vertex.ts";
import { voyage } from "./voyage/index.ts";

const DECLARATIONS: readonly ProviderDeclaration[] = [
  openai,
  anthropic,
  gemini,
  vertex,
  bedrock,
  azureOpenai,
  ...COMPATIBLE_PROVIDERS,
  blackForestLabs,
  kling,
  hunyuan,
  baidu,
  runway,
  luma,
  voyage,
  openaiCompatible,
  simulator,
];

/** Every kind of provider that a configuration can name. */
export const PROVIDER_KINDS: ReadonlyMap<string, ProviderDeclaration> = new Map(
  DECLARATIONS.map((declaration) => [declaration.kind, declaration]),
);

/** The built-in registry. */
export const BUILT_IN: Registry = { dialects: BUILT_IN_DIALECTS, kinds: PROVIDER_KINDS };

export function createProvider(settings: ProviderSettings, sources: Sources, kinds = PROVIDER_KINDS): Provider {
  const declaration = kinds.get(settings.kind);
  if (!declaration) throw new Error(`unknown provider kind ${settings.kind}`);
  return new Provider(declaration, settings, sources);
}
