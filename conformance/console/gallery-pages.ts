import type { Page } from "playwright-core";
import type { GalleryGateway } from "./gallery-gateway.ts";

interface GalleryPage {
  name: string;
  /** Undefined if there is no such page with this data. */
  path: string | ((gateway: GalleryGateway) => string | undefined);
  act?: (page: Page) => Promise<void>;
}

/** Every page of the console. */
export const GALLERY_PAGES: readonly GalleryPage[] = [
  { name: "overview", path: "/?range=24h" },
  { name: "calls", path: "/calls?range=24h" },
  { name: "call", path: ({ call }) => (call === undefined ? undefined : `/calls/${call}`) },
  {
    name: "bodies",
    path: ({ captured }) => (captured === undefined ? undefined : `/calls/${captured}`),
    act: async (page) => {
      await page.getByRole("button", { name: "Show bodies" }).click();
      await page.locator(".paths li").first().waitFor();
      await page.locator(".bodies").scrollIntoViewIfNeeded();
    },
  },
  { name: "in-flight", path: "/in-flight" },
  { name: "live", path: "/live" },
  { name: "refused", path: "/refused?range=24h" },
  { name: "usage", path: "/usage?range=30d&by=day,model" },
  { name: "usage-ranked", path: "/usage?range=30d&by=key,model" },
  { name: "end-users", path: "/end-users" },
  { name: "end-user", path: ({ call }) => (call === undefined ? undefined : "/end-users/customer-17") },
  { name: "keys", path: "/keys" },
  { name: "key", path: ({ key }) => (key === undefined ? undefined : `/keys/${key}`) },
  { name: "projects", path: "/projects" },
  { name: "project", path: ({ key }) => (key === undefined ? undefined : "/projects/shop") },
  { name: "providers", path: "/providers" },
  { name: "provider", path: ({ provider }) => (provider === undefined ? undefined : `/providers/${provider}`) },
  { name: "models", path: "/models" },
  { name: "model", path: ({ provider }) => (provider === undefined ? undefined : "/models/anthropic/claude-sonnet-5") },
  { name: "catalogue", path: "/catalogue" },
  { name: "operations", path: "/operations" },
  { name: "batches", path: "/batches" },
  { name: "batch", path: ({ batch }) => (batch === undefined ? undefined : `/batches/${batch}`) },
  { name: "files", path: "/files" },
  { name: "caches", path: "/caches" },
  {
    name: "play",
    path: "/play?model=sim%2Fstandard&model2=sim%2Fthinker",
    act: async (page) => {
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.locator(".figures-line .state.good").nth(1).waitFor();
    },
  },
  { name: "guards", path: "/guards" },
  { name: "alerts", path: "/alerts" },
  { name: "config", path: "/config" },
  { name: "exports", path: "/exports" },
  { name: "people", path: "/people" },
  { name: "audit", path: "/audit" },
];
