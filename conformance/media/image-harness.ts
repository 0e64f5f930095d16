import { HUNYUAN_SECRET } from "../../simulator/hosts/hunyuan/verify-signature.ts";
import { KLING_SECRET } from "../../simulator/hosts/kling/authenticate.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** A key whose calls are refused if any field would be dropped (H09). */
export const STRICT_KEY = `sk-trv-${"ConformanceStrictKey".padEnd(43, "x")}`;

export interface ImageHarness {
  gateway: TestGateway;
  simulator: Simulator;
  stop(): Promise<void>;
}

/** One gateway with every provider that makes images, each at its simulated host. */
export async function startImageHarness(more: readonly OwnModel[] = [], pollFactor = 0.02): Promise<ImageHarness> {
  const simulator = await startSimulator({ mediaJobMs: 40, tokenDelayMs: 0 });
  const gateway = await startTestGateway({
    config: {
      providers: providersAt(simulator.url),
      models: [...OWN_MODELS, ...more],
      keys: [
        { name: "tests", key: TEST_KEY, provider_objects: true },
        { name: "strict", key: STRICT_KEY, strict: true, provider_objects: true },
      ],
    },
    timings: { mediaPollFactor: pollFactor },
  });
  return {
    gateway,
    simulator,
    stop: async () => {
      await gateway.stop();
      await simulator.stop();
    },
  };
}

function providersAt(simulatorUrl: string): Record<string, object> {
  const at = (path: string) => ({ base_url: simulatorUrl + path, api_key: "upstream-secret-of-the-suite" });
  const host = (kind: string, path: string) => ({ kind, ...at(`/hosts/${kind}${path}`) });
  return {
    openai: { kind: "openai", ...at("/openai/v1") },
    "azure-openai": host("azure-openai", ""),
    gemini: { kind: "gemini", ...at("/gemini") },
    vertex: { kind: "vertex", ...at("/vertex"), project: "p", location: "us-central1" },
    "x-ai": host("x-ai", "/v1"),
    "z-ai": host("z-ai", "/api/paas/v4"),
    qwen: host("qwen", "/compatible-mode/v1"),
    minimax: host("minimax", "/v1"),
    volcengine: host("volcengine", "/api/v3"),
    baidu: host("baidu", "/v2"),
    "black-forest-labs": host("black-forest-labs", "/v1"),
    runway: host("runway", "/v1"),
    luma: host("luma", "/dream-machine/v1"),
    kling: {
      kind: "kling",
      base_url: `${simulatorUrl}/hosts/kling`,
      access_key: "access-key-of-the-suite",
      secret_key: KLING_SECRET,
    },
    hunyuan: {
      kind: "hunyuan",
      base_url: `${simulatorUrl}/hosts/hunyuan`,
      secret_id: "secret-id-of-the-suite",
      secret_key: HUNYUAN_SECRET,
    },
  };
}

/** The first of two offers answers with links, the second with images. */
export const TWO_OFFERS = "own/two-offers";

type OwnModel = ReturnType<typeof own>;

export const own = (id: string, provider: string, model: string) => ({
  id,
  input_modalities: ["text", "image"],
  output_modalities: ["image"],
  pricings: { image: [{ value: 0.01, unit: "perCount", currency: "USD" }] },
  offers: [{ provider, model }],
});

/** Models that are not in the built-in catalogue, or have no price there. */
export const OWN_MODELS = [
  own("own/dall-e-2", "openai", "dall-e-2"),
  own("own/dall-e-3", "openai", "dall-e-3"),
  own("own/azure-image", "azure-openai", "gpt-image-1.5"),
  own("own/imagine-2", "x-ai", "grok-imagine-image-2.0"),
  own("own/glm-image", "z-ai", "glm-image"),
  own("own/cogview", "z-ai", "cogview-4-250304"),
  own("own/ernie", "baidu", "ernie-image-turbo"),
  own("own/musesteamer", "baidu", "musesteamer-air-image"),
  own("own/hosted", "baidu", "flux.1-schnell"),
  own("own/minimax", "minimax", "image-01"),
  own("own/minimax-live", "minimax", "image-01-live"),
  own("own/gen4", "runway", "gen4_image"),
  own("own/photon", "luma", "photon-1"),
  own("own/seedream-3", "volcengine", "doubao-seedream-3-0-t2i-250415"),
  own("own/qwen-image", "qwen", "qwen-image-plus"),
  own("own/qwen-image-2", "qwen", "qwen-image-2.0"),
  own("own/qwen-edit", "qwen", "qwen-image-edit-plus"),
  own("own/wan-2.7", "qwen", "wan2.7-image"),
  own("own/wan-2.5", "qwen", "wan2.5-t2i-preview"),
  own("own/wan-edit", "qwen", "wan2.5-i2i-preview"),
  own("own/hunyuan", "hunyuan", "SubmitTextToImageJob"),
  own("own/hunyuan-lite", "hunyuan", "TextToImageLite"),
  {
    ...own(TWO_OFFERS, "z-ai", "glm-image"),
    offers: [
      { provider: "z-ai", model: "glm-image" },
      { provider: "minimax", model: "image-01" },
    ],
  },
];
