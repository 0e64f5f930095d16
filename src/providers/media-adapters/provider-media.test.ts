import { describe, expect, test } from "bun:test";
import { Secret } from "../../base/secret.ts";
import { system } from "../../base/system.ts";
import type { MediaAdapters } from "../../media/adapter.ts";
import { ProviderMedia } from "./provider-media.ts";

const settings = { name: "p", kind: "k", apiKey: new Secret("upstream-secret") };
const authenticate = () => ({ authorization: "Bearer upstream-secret" });

const media = (adapters: MediaAdapters = {}, baseUrl = "https://api.example.com/v1", own = settings) =>
  new ProviderMedia(adapters, { settings: own, baseUrl, authenticate, sign: undefined, random: system.random });

describe("S07: the credential is only sent to the provider's own hosts", () => {
  const adapters = { ownHosts: /(^|\.)example\.net$/ };

  test.each([
    ["/images", true],
    ["https://api.example.com/other", true],
    ["https://us1.example.net/poll?id=1", true],
    ["http://us1.example.net/poll", false],
    ["https://example.net.evil.com/poll", false],
    ["https://api.example.com.evil.com/", false],
    ["http://api.example.com/v1/images", false],
    ["https://api.example.com:8443/v1/images", false],
    ["https://api.example.com@evil.com/", false],
  ])("%s: %p", async (url, shown) => {
    const { headers } = await media(adapters).outgoing({ method: "GET", url });
    expect("authorization" in headers).toBe(shown);
  });

  test("a signed URL never gets it, even on the provider's own host", async () => {
    const { headers } = await media().outgoing({ method: "GET", url: "/results/1", anonymous: true });
    expect(headers).not.toHaveProperty("authorization");
  });
});

describe("H24: the credential that an operation is bound to", () => {
  test("changes with the key, the base URL and the project, and not with the name", () => {
    const base = media().credential;
    expect(media({}, undefined, { ...settings, name: "other" }).credential).toBe(base);
    expect(media({}, undefined, { ...settings, apiKey: new Secret("another-secret") }).credential).not.toBe(base);
    expect(media({}, "https://elsewhere.example.com").credential).not.toBe(base);
    expect(base).not.toContain("secret");
  });
});

describe("requests as they are sent", () => {
  test("a base of its own, JSON, and forms with a type for each file", async () => {
    const adapters = { base: (url: string) => url.replace("/v1", "/media") };
    const json = await media(adapters).outgoing({ method: "POST", url: "/make", body: { json: { a: 1 } } });
    expect(json).toMatchObject({ url: "https://api.example.com/media/make", body: '{"a":1}' });
    expect(json.headers["content-type"]).toBe("application/json");
    const form = await media().outgoing({
      method: "POST",
      url: "/edit",
      body: {
        form: [
          { name: "prompt", value: "fox" },
          { name: "image[]", fileName: "a.png", mimeType: "image/png", base64: "AAEC" },
        ],
      },
    });
    const text = Buffer.from(form.body as Uint8Array).toString();
    expect(text).toContain('name="image[]"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n\u0000\u0001\u0002\r\n');
    expect(form.headers["content-type"]).toStartWith("multipart/form-data; boundary=");
  });
});
