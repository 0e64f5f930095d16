import { defineConfig } from "vitepress";
import { unlinkRepository } from "./repository-links.ts";

/** Pages of `docs`, in the order in which people need them. */
const page = (text: string, name: string) => ({ text, link: `/${name}` });

export default defineConfig({
  title: "Trivium",
  description: "A self-hosted gateway for generative models.",
  srcDir: "pages",
  outDir: "../dist/site",
  cacheDir: "../node_modules/.cache/trivium-site",
  // Everything that a page needs comes with it: nothing is asked of another host.
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
        text: "Use it",
        items: [
          page("Clients", "clients/"),
          page("Routing", "routing"),
          page("Stored responses", "responses"),
          page("Images and videos", "media"),
          page("Speech", "speech"),
          page("Embeddings and rankings", "embeddings"),
          page("Receipts", "receipts"),
          page("Errors", "errors"),
          page("Test your error handling", "testing-with-the-simulator"),
        ],
      },
      {
        text: "Run it",
        items: [
          page("Operating", "operating"),
          page("Deploy", "deploy"),
          page("Configuration", "configuration"),
          page("Keys and limits", "keys"),
          page("Scaling", "scaling"),
          page("Telemetry", "telemetry"),
          page("Alerts", "alerts"),
          page("Console", "console"),
          page("Admin API", "admin"),
          page("Command line", "cli"),
        ],
      },
      {
        text: "Understand it",
        items: [
          page("Architecture", "architecture"),
          page("What becomes of each field", "mapping"),
          page("Developing a provider", "adding-a-provider"),
          page("Developing an endpoint", "adding-an-endpoint"),
          page("Developing a dialect", "adding-a-dialect"),
          page("Simulation", "simulation"),
          page("Benchmarks", "benchmarks"),
          page("API reference", "reference/api"),
          page("Choices", "reference/choices"),
          page("Hazards", "reference/hazards"),
        ],
      },
    ],
  },
});
