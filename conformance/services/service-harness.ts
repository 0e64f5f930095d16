import { DEFAULT_SECRET_ACCESS_KEY, type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const SECRET = "upstream-secret-of-the-suite";
const BEDROCK = { access_key_id: "AKIDOFTHESUITE", secret_access_key: DEFAULT_SECRET_ACCESS_KEY };

/** A host in the simulator, and the models requested from it. */
interface ServiceHost {
  /** The provider's kind, unless another is given. */
  name: string;
  kind?: string;
  path: string;
  settings?: object;
  embedder?: string;
  /** The default size of its vectors. */
  size?: number;
  /** Its model has other sizes too. */
  sized?: true;
  /** The maximum number of inputs in one of its requests. */
  batch?: number;
  /** It reports the number of tokens. */
  counts?: false;
  reranker?: string;
  /** It is priced by searches. */
  searches?: true;
}

/** Every host that embeds or ranks. */
export const SERVICE_HOSTS: readonly ServiceHost[] = [
  { name: "openai", path: "/openai/v1", embedder: "text-embedding-3-small", size: 1536, sized: true, batch: 2048 },
  {
    name: "azure-openai",
    path: "/hosts/azure-openai",
    embedder: "my-deployment",
    size: 1024,
    sized: true,
    batch: 2048,
  },
  {
    name: "gemini",
    path: "/gemini",
    embedder: "gemini-embedding-001",
    size: 3072,
    sized: true,
    batch: 100,
    counts: false,
  },
  {
    name: "vertex",
    path: "/vertex",
    settings: { project: "p" },
    embedder: "text-embedding-005",
    size: 3072,
    sized: true,
    batch: 250,
  },
  {
    name: "vertex-one",
    kind: "vertex",
    path: "/vertex",
    settings: { project: "p" },
    embedder: "gemini-embedding-001",
    size: 3072,
    sized: true,
    batch: 1,
  },
  {
    name: "vertex-two",
    kind: "vertex",
    path: "/vertex",
    settings: { project: "p" },
    embedder: "gemini-embedding-2",
    size: 3072,
    sized: true,
    batch: 1,
  },
  { name: "mistral", path: "/hosts/mistral/v1", embedder: "mistral-embed", size: 1024, batch: 128 },
  {
    name: "cohere",
    path: "/hosts/cohere/compatibility/v1",
    embedder: "embed-v4.0",
    size: 1536,
    sized: true,
    batch: 96,
    reranker: "rerank-v3.5",
    searches: true,
  },
  {
    name: "qwen",
    path: "/hosts/qwen/compatible-mode/v1",
    embedder: "text-embedding-v4",
    size: 1024,
    sized: true,
    batch: 10,
    reranker: "qwen3-rerank",
  },
  {
    name: "voyage",
    path: "/hosts/voyage/v1",
    embedder: "voyage-4",
    size: 2048,
    sized: true,
    batch: 1000,
    reranker: "rerank-2.5",
  },
  {
    name: "bedrock",
    path: "/bedrock",
    settings: BEDROCK,
    embedder: "amazon.titan-embed-text-v2:0",
    size: 1024,
    sized: true,
    batch: 1,
    reranker: "cohere.rerank-v3-5:0",
    searches: true,
  },
  {
    name: "bedrock-cohere",
    kind: "bedrock",
    path: "/bedrock",
    settings: BEDROCK,
    embedder: "cohere.embed-english-v3",
    size: 1024,
    batch: 96,
  },
  { name: "ollama", path: "/hosts/ollama/v1", embedder: "nomic-embed-text", size: 1024, sized: true, batch: 256 },
  {
    name: "vllm",
    path: "/hosts/vllm/v1",
    embedder: "BAAI/bge-m3",
    size: 1024,
    sized: true,
    batch: 256,
    reranker: "BAAI/bge-reranker-v2-m3",
  },
  {
    name: "llama.cpp",
    path: "/hosts/llama.cpp/v1",
    embedder: "bge",
    size: 1024,
    sized: true,
    batch: 256,
    reranker: "bge-reranker",
  },
  {
    name: "together",
    path: "/hosts/together/v1",
    embedder: "bge",
    size: 1024,
    sized: true,
    batch: 256,
    reranker: "reranker",
  },
  {
    name: "fireworks",
    path: "/hosts/fireworks/v1",
    embedder: "bge",
    size: 1024,
    sized: true,
    batch: 256,
    reranker: "reranker",
  },
  { name: "openrouter", path: "/hosts/openrouter/v1", embedder: "bge", size: 1024, sized: true, batch: 256 },
  {
    name: "openai-compatible",
    path: "/hosts/vllm/v1",
    embedder: "bge",
    size: 1024,
    sized: true,
    batch: 256,
    reranker: "reranker",
  },
];

/** The price of a million tokens and of a search at all of them. */
export const USD_PER_MILLION = 2;
export const USD_PER_SEARCH = 0.003;

const price = (value: number, unit: string) => [{ value, unit, currency: "USD" }];

const modelsOf = ({ name, embedder, reranker, searches }: ServiceHost): object[] => [
  ...(embedder === undefined
    ? []
    : [
        {
          id: `${name}/embedder`,
          output_modalities: ["embeddings"],
          pricings: { prompt: price(USD_PER_MILLION, "perMTokens") },
          offers: [{ provider: name, model: embedder }],
        },
      ]),
  ...(reranker === undefined
    ? []
    : [
        {
          id: `${name}/reranker`,
          output_modalities: ["rerank"],
          pricings: searches
            ? { search_unit: price(USD_PER_SEARCH, "perCount") }
            : { prompt: price(USD_PER_MILLION, "perMTokens") },
          offers: [{ provider: name, model: reranker }],
        },
      ]),
];

export interface ServiceSuite {
  gateway: TestGateway;
  simulator: Simulator;
  /** How many requests the simulator received since the last time. */
  asked(): number;
  stop(): Promise<void>;
}

/** The whole gateway with a provider of every kind that embeds or ranks, each pointed at its host in the simulator. */
export async function startServiceSuite(): Promise<ServiceSuite> {
  const simulator = await startSimulator({ tokenDelayMs: 0 });
  const providerOf = ({ name, kind = name, path, settings }: ServiceHost) => [
    name,
    { kind, base_url: simulator.url + path, ...(settings === BEDROCK ? {} : { api_key: SECRET }), ...settings },
  ];
  const gateway = await startTestGateway({
    config: {
      providers: Object.fromEntries(SERVICE_HOSTS.map(providerOf)),
      models: SERVICE_HOSTS.flatMap(modelsOf),
    },
  });
  let before = 0;
  return {
    gateway,
    simulator,
    asked: () => {
      const { requests } = simulator.stats();
      const since = requests - before;
      before = requests;
      return since;
    },
    stop: async () => {
      await gateway.stop();
      await simulator.stop();
    },
  };
}

export function cosine(one: readonly number[], other: readonly number[]): number {
  let product = 0;
  for (const [index, value] of one.entries()) product += value * (other[index] ?? Number.NaN);
  return product / (Math.hypot(...one) * Math.hypot(...other));
}
