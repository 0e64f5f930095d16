import { describe, expect, test } from "bun:test";
import type { RoutedRequest, ServerContext } from "../routed-request.ts";
import { getRoot } from "./root-page.ts";

async function pageOf(publicUrl: string, version: string): Promise<Response> {
  const request = new Request("http://127.0.0.1/", { headers: { accept: "text/html" } });
  return getRoot.handle({ request } as RoutedRequest, { publicUrl: () => publicUrl, version } as ServerContext);
}

describe("S14: the page at /", () => {
  test("shows every text as text", async () => {
    const html = await (await pageOf(`https://x.example/"><script>alert(1)</script>`, "<img src=x>&")).text();
    expect(html).not.toMatch(/<script|<img/);
    expect(html).toContain("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(html).toContain("&lt;img src=x&gt;&amp;");
  });

  test("allows no script, no embedding frame and no external resource", async () => {
    const policy = (await pageOf("https://x.example", "1.0.0")).headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("script-src");
  });
});
