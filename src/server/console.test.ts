import { describe, expect, test } from "bun:test";
import { type BundledConsole, consoleRoutes } from "./console.ts";
import { RouteTable } from "./route-table.ts";
import type { Handler, RoutedRequest, ServerContext } from "./routed-request.ts";

const BUNDLED: BundledConsole = {
  page: "<!doctype html><title>Trivium</title>",
  files: [{ name: "main-1.js", type: "text/javascript", gzip: Bun.gzipSync("let a = 1;").toBase64() }],
};

const context = { gateway: { log: { error: () => undefined } } } as unknown as ServerContext;

function served(read: () => Promise<BundledConsole> = async () => BUNDLED) {
  const table = new RouteTable<Handler>(consoleRoutes(read));
  return async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const match = table.find(method, path);
    if (match === undefined) return undefined;
    const request = new Request(`http://127.0.0.1${path}`, { headers, method });
    return match.route.handle({ request, parameters: match.parameters } as unknown as RoutedRequest, context);
  };
}

describe("S14: the console", () => {
  test.each(["/", "/calls", "/calls/rcp_1", "/keys", "/usage", "/config"])("is the same page at %s", async (path) => {
    const answer = await served()(path);
    expect(await answer?.text()).toBe(BUNDLED.page);
    const policy = answer?.headers.get("content-security-policy") ?? "";
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ])
      expect(policy).toContain(part);
    expect(policy).not.toContain("unsafe");
  });

  test("each of its pages can be opened and reloaded at its address", async () => {
    const app = await Bun.file(new URL("../../console/app.tsx", import.meta.url)).text();
    const names = [...app.matchAll(/^ {2}"?([\w-]+)"?: async \(\) => \(await import/gm)].map(([, name]) => name ?? "");
    const ofOne = [...app.matchAll(/^ {2}"?[\w-]+"?: "([\w-]+)",$/gm)].map(([, name]) => name);
    expect([names.length > 20, ofOne.includes("call")]).toEqual([true, true]);
    // One call or batch has its address below that of the list.
    for (const name of names.filter((one) => one !== "" && !ofOne.includes(one)))
      expect([name, (await served()(`/${name}`))?.status]).toEqual([name, 200]);
  });

  test.each(["/api/keys", "/callsign", "/metrics", "/assets/", "/healthz"])("is not at %s", async (path) => {
    expect(await served()(path)).toBeUndefined();
  });

  test("a file is sent compressed or not, and may be cached forever", async () => {
    const ask = served();
    const packed = await ask("/assets/main-1.js", { "accept-encoding": "gzip, br" });
    expect(packed?.headers.get("content-encoding")).toBe("gzip");
    expect(packed?.headers.get("cache-control")).toContain("immutable");
    const plain = await ask("/assets/main-1.js");
    expect([plain?.headers.get("content-encoding"), await plain?.text()]).toEqual([null, "let a = 1;"]);
    expect((await ask("/assets/other.js"))?.status).toBe(404);
  });

  test("is bundled once, for the first request; a failure is reported, and retried", async () => {
    let tries = 0;
    const ask = served(async () => {
      tries += 1;
      if (tries === 1) throw new Error("no bundler");
      return BUNDLED;
    });
    expect(tries).toBe(0);
    expect((await ask("/"))?.status).toBe(500);
    await Promise.all([ask("/"), ask("/calls")]);
    expect((await ask("/"))?.status).toBe(200);
    expect(tries).toBe(2);
  });
});
