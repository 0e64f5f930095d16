import { expect, test } from "bun:test";
import { Secret } from "../base/secret.ts";
import { system } from "../base/system.ts";
import type { ProviderSettings } from "../config/config.ts";
import { createProvider, PROVIDER_KINDS } from "./index.ts";

const probeOf = (kind: string, more: Partial<ProviderSettings> = {}) =>
  createProvider({ name: kind, kind, apiKey: new Secret("the-key"), ...more }, system).probe();

test("every provider with a single key and a dialect can be probed, with its key and at its own host", async () => {
  const kinds = [...PROVIDER_KINDS.values()].filter(
    ({ variables = {}, dialects }) => Object.keys(variables).join() === "api_key" && Object.keys(dialects).length > 0,
  );
  expect(kinds.length).toBeGreaterThan(12);
  for (const { kind, baseUrl } of kinds) {
    const probe = await probeOf(kind);
    expect(probe?.url).toStartWith(baseUrl({ name: kind, kind }));
    expect(Object.values(probe?.headers ?? {}).some((value) => value.endsWith("the-key"))).toBe(true);
  }
});

test("if the list of models needs no key or is elsewhere, the probe requests something else", async () => {
  expect((await probeOf("openrouter"))?.url).toEndWith("/api/v1/key");
  const azure = (baseUrl: string) => probeOf("azure-openai", { baseUrl });
  expect((await azure("https://acme.example"))?.url).toBe("https://acme.example/openai/v1/models");
  expect((await azure("https://acme.example/openai/v1"))?.url).toBe("https://acme.example/openai/v1/models");
  expect(await probeOf("kling", { accessKey: new Secret("a"), secretKey: new Secret("b") })).toBeUndefined();
});
