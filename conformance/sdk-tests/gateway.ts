import { makeStillVideo } from "../../simulator/media-maker/make-still-video.ts";
import { startSimulator } from "../../simulator/simulator.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway } from "../support/test-gateway.ts";

/** Providers at the URLs where the simulator plays their hosts. */
const PROVIDERS: Readonly<Record<string, { kind: string; path: string }>> = {
  openai: { kind: "openai", path: "/openai/v1" },
  anthropic: { kind: "anthropic", path: "/anthropic" },
  gemini: { kind: "gemini", path: "/gemini" },
};

/** The text models that the tests name. The simulator answers for each with its standard model. */
const TEXT_MODELS: Readonly<Record<string, readonly string[]>> = {
  openai: ["gpt-6-astra", "gpt-5.4", "gpt-5", "gpt-4.1", "gpt-4o", "gpt-4o-mini", "model", "auto"],
  anthropic: ["claude-opus-5-5", "claude-sonnet-5-5", "claude-opus-4-6", "claude-sonnet-4-5", "string"],
  gemini: [
    "gemini-1.5-flash",
    "gemini-2.0-flash",
    "gemini-2.5-flash",
    "gemini-2.5-pro",
    "gemini-flash-latest",
    "gemini-3-flash-preview",
    "gemini-3-pro-preview",
    "gemini-3.5-flash",
    "gemini-3.1-pro-preview",
  ],
};

/** Models of other kinds that the simulator does not have, by one that it has. */
const ALIASES: Readonly<Record<string, string>> = {
  "gpt-3.5-turbo-instruct": "sim/standard",
  "gpt-image-1.5": "openai/gpt-image-1",
  "gpt-image-2.5-flare": "openai/gpt-image-1",
  "omni-moderation-2024-09-26": "openai/omni-moderation-latest",
};

const FACTS = {
  context_length: 200_000,
  max_output_tokens: 64_000,
  input_modalities: ["text", "image", "audio", "file"],
  output_modalities: ["text"],
  reasoning: true,
  pricings: {},
};

const vendorOf = (provider: string) => (provider === "gemini" ? "google" : provider);

/** A gateway in front of the simulator that knows the models of the SDKs' tests. */
export async function startSdkGateway() {
  const simulator = await startSimulator({ tokenDelayMs: 0, mediaJobMs: 100, makeVideo: makeStillVideo });
  const gateway = await startTestGateway({
    config: {
      simulator: true,
      // The tests name objects of a provider by example ids.
      keys: [{ name: "tests", key: TEST_KEY, provider_objects: true }],
      aliases: ALIASES,
      providers: Object.fromEntries(
        Object.entries(PROVIDERS).map(([name, { kind, path }]) => [
          name,
          { kind, base_url: `${simulator.url}${path}`, api_key: "simulated" },
        ]),
      ),
      models: Object.entries(TEXT_MODELS).flatMap(([provider, names]) =>
        names.map((name) => ({
          id: `${vendorOf(provider)}/${name}`,
          ...FACTS,
          offers: [{ provider, model: "standard" }],
        })),
      ),
    },
    timings: { mediaPollFactor: 0.02 },
  });
  return {
    url: gateway.url,
    key: gateway.key,
    stop: async () => {
      await gateway.stop();
      await simulator.stop();
    },
  };
}
