import { DIALECT_NAMES } from "../canon/dialect-name.ts";
import type { ProviderSummary } from "../catalogue/catalogue.ts";
import { SIMULATED_MODELS } from "../sim/models.ts";

/** Made up, so that receipts and budgets can be tried out. */
const SIMULATED_PRICES = {
  prompt: [{ value: 1, unit: "perMTokens" as const, currency: "USD" as const }],
  completion: [{ value: 2, unit: "perMTokens" as const, currency: "USD" as const }],
  input_cache_read: [{ value: 0.1, unit: "perMTokens" as const, currency: "USD" as const }],
};

const usd = (value: number, unit: "perCount" | "perSecond") => [{ value, unit, currency: "USD" as const }];

/** Images and videos that show what was asked for. */
const SIMULATED_MEDIA: NonNullable<ProviderSummary["models"]> = [
  {
    id: "sim/image",
    upstreamModel: "image",
    displayName: "Simulator Image",
    description: "A simulator, not a model: draws images that show the prompt, the size and the seed.",
    inputModalities: ["text", "image"],
    outputModalities: ["image"],
    reasoning: false,
    kind: "image",
    pricings: { image: usd(0.01, "perCount") },
  },
  {
    id: "sim/video",
    upstreamModel: "video",
    displayName: "Simulator Video",
    description: "A simulator, not a model: makes videos that show the prompt, the size and the time.",
    inputModalities: ["text", "image"],
    outputModalities: ["video", "audio"],
    reasoning: false,
    kind: "video",
    pricings: { video: usd(0.01, "perSecond"), audio_and_video: usd(0.02, "perSecond") },
  },
];

/** Names that these models had before; they still work. */
export const SIMULATED_ALIASES: Readonly<Record<string, string>> = {
  "sim/picture": "sim/image",
  "sim/film": "sim/video",
};

/** What the built-in simulator offers, as the catalogue takes it. */
export function simulatedModels(): NonNullable<ProviderSummary["models"]> {
  const models = SIMULATED_MODELS.map(({ name, ...facts }) => ({
    ...facts,
    id: `sim/${name}`,
    upstreamModel: name,
    kind: "text" as const,
    pricings: SIMULATED_PRICES,
  }));
  // The simulator speaks every protocol: a model that speaks one alone lets clients of the others try the translation.
  const single = models.slice(0, 1).flatMap(({ id, displayName, ...standard }) =>
    DIALECT_NAMES.map((dialect) => ({
      ...standard,
      id: `${id}-${dialect}`,
      displayName: `${displayName} (${dialect} alone)`,
      dialect,
    })),
  );
  return [...models, ...single, ...SIMULATED_MEDIA];
}
