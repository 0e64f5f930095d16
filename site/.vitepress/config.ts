import { defineConfig } from "vitepress";
import { unlinkRepository } from "./repository-links.ts";

/** The sidebar is the map in `docs/README.md`; `scripts/site.test.ts` compares them. */
const page = (text: string, name: string) => ({ text, link: `/${name}` });

export default defineConfig({
  title: "Trivium",
  description: "A self-hosted gateway for generative models.",
  srcDir: "pages",
  outDir: "../dist/site",
  cacheDir: "../node_modules/.cache/trivium-site",
  // Pages load nothing from other hosts.
  cleanUrls: false,
  lastUpdated: false,
  rewrites: { ":folder/README.md": ":folder/index.md" },
  markdown: {
    html: false,
    config: unlinkRepository,
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  head: [["link", { rel: "icon", href: "/icon.svg", type: "image/svg+xml" }]],
  themeConfig: {
    logo: "/icon.svg",
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: [
      {
        text: "Get started",
        items: [
          page("Get started", "getting-started"),
          page("Connect a provider", "providers"),
          page("Clients", "clients/"),
          page("Command line", "cli"),
        ],
      },
      {
        text: "Use the API",
        items: [
          page("Routing", "routing"),
          page("Stored responses", "responses"),
          page("Conversations and stored completions", "conversations"),
          page("Anthropic's API", "messages"),
          page("Interactions API", "interactions"),
          page("Files", "files"),
          page("Batches", "batches"),
          page("Live connections", "live"),
          page("Talk to a model", "talk"),
          page("Cache of responses", "answer-cache"),
          page("Caches", "caches"),
          page("Images and videos", "media"),
          page("Speech", "speech"),
          page("Embeddings and reranking", "embeddings"),
          page("Receipts", "receipts"),
          page("Errors", "errors"),
          page("Test your error handling", "testing-with-the-simulator"),
        ],
      },
      {
        text: "Keys and budgets",
        items: [
          page("Keys and projects", "keys"),
          page("Limits and budgets", "budgets"),
          page("End users", "end-users"),
          page("People and tokens", "people"),
          page("Usage and cost", "usage"),
          page("Prices", "prices"),
        ],
      },
      {
        text: "Operate",
        items: [
          page("Deploy", "deploy"),
          page("Operate", "operating"),
          page("Scale", "scaling"),
          page("Secure", "security"),
          page("Guards", "guards"),
          page("Telemetry", "telemetry"),
          page("Alerts", "alerts"),
          page("Console", "console"),
          page("Exports", "exports"),
          page("Move from another gateway", "import"),
        ],
      },
      {
        text: "Reference",
        items: [
          page("Configuration", "configuration"),
          page("API", "reference/api"),
          page("Admin API", "admin"),
          page("Responses API", "reference/responses"),
          page("Fields between protocols", "mapping"),
          page("Fields between Realtime and Live", "reference/live-mapping"),
          page("Media models", "reference/media-models"),
          page("Timeouts", "reference/timeouts"),
          page("Memory", "reference/memory"),
          page("Endings of a call", "reference/endings"),
          page("Benchmarks", "benchmarks"),
        ],
      },
      {
        text: "Develop",
        items: [
          page("Architecture", "architecture"),
          page("Lifecycles", "reference/lifecycles"),
          page("The native lane", "reference/native-lane"),
          page("Add a provider", "adding-a-provider"),
          page("Add an endpoint", "adding-an-endpoint"),
          page("Add a dialect", "adding-a-dialect"),
          page("Drift report", "drift"),
          page("Simulation", "simulation"),
          page("Hazards", "reference/hazards"),
          page("Choices", "reference/choices"),
          page("Mapping choices", "reference/mapping-choices"),
          page("What SDKs send", "reference/sdks"),
          page("What providers need", "reference/providers"),
          page("The runtime", "reference/runtime"),
          page("Decisions", "decisions/"),
        ],
      },
    ],
  },
});
