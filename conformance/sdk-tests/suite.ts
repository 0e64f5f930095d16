import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeGenaiData } from "./genai-data.ts";

/** The tests of one vendor's SDK, in the source distribution of its Python package. */
export interface Suite {
  name: string;
  package: string;
  /** The folders of tests, below the root of the package. */
  folders: readonly string[];
  /** What the tests import besides the package. */
  needs: readonly string[];
  pytest: readonly string[];
  /** Adds what the source distribution leaves out. */
  prepare?(folder: string): Promise<void>;
  environment(recorderUrl: string): Record<string, string>;
  /** Where the SDK sends its key. */
  keyHeader: "authorization" | "x-api-key" | "x-goog-api-key";
  /** Whether a body is an error in this vendor's form. */
  isError(body: unknown): boolean;
}

type Loose = Readonly<Record<string, unknown>> | null | undefined;
const errorIn = (body: unknown): Loose => (body as Loose)?.["error"] as Loose;
const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

/**
 * Each request is tested in many ways that do not differ on the wire: by a client that checks types strictly or not, synchronous
 * or not, with raw or streamed responses. One of them is enough.
 */
const ONE_OF_EACH = ["-k", "test_method_ and loose and not TestAsync"];
const COMMON_NEEDS = ["pytest", "pytest-asyncio", "dirty-equals", "respx", "aiohttp"];

export const SUITES: readonly Suite[] = [
  {
    name: "openai",
    package: "openai",
    folders: ["tests/api_resources"],
    needs: [...COMMON_NEEDS, "inline-snapshot", "Pillow"],
    pytest: ONE_OF_EACH,
    environment: (url) => ({ TEST_API_BASE_URL: `${url}/v1` }),
    keyHeader: "authorization",
    isError: (body) => {
      const error = errorIn(body);
      return isText(error?.["message"]) && isText(error?.["type"]) && error !== null && "param" in (error ?? {});
    },
  },
  {
    name: "anthropic",
    package: "anthropic",
    folders: ["tests/api_resources"],
    needs: [
      ...COMMON_NEEDS,
      "inline-snapshot",
      "nest_asyncio",
      "time-machine",
      "http-snapshot[httpx]",
      "standardwebhooks",
    ],
    pytest: ONE_OF_EACH,
    environment: (url) => ({ TEST_API_BASE_URL: url }),
    keyHeader: "x-api-key",
    isError: (body) => {
      const error = errorIn(body);
      return (body as Loose)?.["type"] === "error" && isText(error?.["message"]) && isText(error?.["type"]);
    },
  },
  {
    name: "google-genai",
    package: "google-genai",
    folders: ["models", "operations", "files", "caches", "batches", "tunings", "file_search_stores"].map(
      (folder) => `google/genai/tests/${folder}`,
    ),
    needs: [...COMMON_NEEDS, "Pillow", "requests"],
    pytest: ["-p", "genai_base_url", "--mode", "api", "-k", "not async"],
    prepare: (folder) => writeGenaiData(join(folder, "google/genai/tests")),
    environment: () => ({
      GOOGLE_API_KEY: "AIza-of-the-tests",
      GOOGLE_GENAI_RUN_GEMINI_ONLY_IN_API_MODE: "true",
      // Recordings of responses, which are written there and not read.
      GOOGLE_GENAI_REPLAYS_DIRECTORY: join(tmpdir(), "trivium-sdk-tests", "replays"),
    }),
    keyHeader: "x-goog-api-key",
    isError: (body) => {
      const error = errorIn(body);
      return typeof error?.["code"] === "number" && isText(error["message"]) && isText(error["status"]);
    },
  },
];
