import { describe, expect, test } from "bun:test";
import { UPSTREAM_URL } from "../../../testing/harness.ts";
import type { Script } from "../../../testing/memory-network.ts";
import { plainPng } from "../../media/images.sample.ts";
import { fetchImage, fetchResult } from "./fetch-result.ts";
import { answers, ImageGateway, PNG, readImages, refuses, SECRET } from "./image-gateway.sample.ts";

const images = ImageGateway.forTests();
const LINKED = { model: "test/linked" };
/** A host that answers with a link, and its own files: one script for each fetch, the last one for all that follow. */
const linkTo = (url: string, ...files: Script[]): Script => {
  let fetches = 0;
  return (reply, request) => {
    const isFetch = !request.url.endsWith("/images/generations");
    const script = isFetch ? files[Math.min(fetches++, files.length - 1)] : answers({ data: [{ url }] });
    return script?.(reply, request);
  };
};
const OWN_URL = `${UPSTREAM_URL}/links/fox.png`;

const sends =
  (bytes: Uint8Array, headers: Record<string, string> = { "content-type": "image/png" }): Script =>
  (reply) => {
    reply.head(200, headers);
    void reply.write(bytes);
    reply.end();
  };
const png = Buffer.from(PNG, "base64");
const redirects = (location: string, status = 302): Script => answers("", status, { location });

describe("an image that the provider gives by its URL", () => {
  test("S07: is fetched from the provider's own host without the credential, which its link does not need", async () => {
    images.play(linkTo(OWN_URL, sends(png)));
    expect((await images.generated(LINKED)).made).toEqual([PNG]);
    const [asked, fetched] = images.harness.upstream.requests;
    expect(fetched?.url).toBe(OWN_URL);
    expect(JSON.stringify(asked?.headers)).toContain(SECRET);
    expect(JSON.stringify(fetched?.headers)).not.toContain(SECRET);
  });

  test("S12: is fetched from any other host under the rules for foreign URLs", async () => {
    images.harness.web.files.set("https://cdn.test/fox.png", { bytes: png, mimeType: "image/png" });
    images.play(linkTo("https://cdn.test/fox.png"));
    expect((await images.generated(LINKED)).made).toEqual([PNG]);
    expect(images.harness.web.asked).toEqual(["https://cdn.test/fox.png"]);
    expect(images.harness.upstream.requests).toHaveLength(1);
  });

  test("is followed over three redirects, also to another host, and not over four", async () => {
    const hop = redirects("/links/next");
    images.play(linkTo(OWN_URL, hop, hop, hop, sends(png)));
    expect((await images.generated(LINKED)).made).toEqual([PNG]);
    images.play(linkTo(OWN_URL, hop));
    const lost = await images.generated(LINKED);
    expect([lost.status, lost.error?.message]).toEqual([502, expect.stringContaining("redirects more than 3 times")]);
    images.harness.web.files.set("https://cdn.test/moved.png", { bytes: png, mimeType: "image/png" });
    images.play(linkTo(OWN_URL, redirects("https://cdn.test/moved.png", 307)));
    expect((await images.generated(LINKED)).made).toEqual([PNG]);
  });

  test.each([
    [refuses(404), "HTTP status 404"],
    [refuses(400), "HTTP status 400"],
    [answers("", 304), "HTTP status 304"],
    [redirects("/links/next", 400), "HTTP status 400"],
    [redirects("/links/next", 201), undefined],
    [redirects("/links/next", 299), undefined],
    [redirects("/links/next", 300), "redirects more than"],
  ])("%# with another status than success: %s", async (answer, reason) => {
    images.play(linkTo(OWN_URL, answer));
    const { status, error } = await images.generated(LINKED);
    if (reason === undefined) expect(status).toBe(200);
    else expect([status, error?.message]).toEqual([502, expect.stringContaining(reason)]);
  });

  test("that its host does not have is a failure of the offer", async () => {
    images.play(linkTo("https://cdn.test/expired.png"));
    const { status, error } = await images.generated(LINKED);
    expect([status, error?.message]).toEqual([502, expect.stringContaining("its host returned HTTP status 404")]);
    expect(images.sent).toHaveLength(2);
  });

  test("whose host breaks off is a failure of the offer", async () => {
    const breaks: Script = async (reply) => {
      reply.head(200, { "content-type": "image/png" });
      await reply.write(png.subarray(0, 20));
      reply.fail("broken");
    };
    images.play(linkTo(OWN_URL, breaks));
    const { status, error } = await images.generated(LINKED);
    expect([status, error?.message]).toEqual([502, expect.stringContaining("closed the connection")]);
  });

  test("H28: whose host never answers is waited for five minutes", async () => {
    images.play(linkTo(OWN_URL, () => {}));
    const { status, endMs } = await images.generated(LINKED);
    expect([status, endMs]).toEqual([504, 300_000]);
  });

  test("a gateway that is stopped does not wait for it", async () => {
    const begins: Script = (reply) => {
      reply.head(200);
      void reply.write(png.subarray(0, 20));
    };
    images.play(linkTo(OWN_URL, begins));
    const call = images.generate(LINKED);
    await images.pass(1_000);
    images.harness.gateway.closing = true;
    const answer = readImages(await images.harness.clock.until(call.answer));
    images.harness.gateway.closing = false;
    expect([answer.status, answer.error?.message]).toEqual([503, expect.stringContaining("shutting down")]);
  });
});

describe("a fetched result", () => {
  const fetching = () => {
    const { clock, send, streamMedia, snapshot } = images.harness.gateway;
    const provider = snapshot.providers.get("links")?.[0];
    if (!provider) throw new Error("no such provider");
    return { clock, send, streamMedia, provider, signal: new AbortController().signal };
  };
  const typeOf = async (headers: Record<string, string>, mimeType?: string) => {
    images.play(sends(png, headers));
    const link = { url: OWN_URL, ...(mimeType === undefined ? {} : { mimeType }) };
    const { mimeType: found, content } = await fetchResult(link, fetching());
    await content.cancel();
    return found;
  };

  test("has the type of its link, or of its host, or of a video", async () => {
    expect(await typeOf({ "content-type": "image/webp; charset=utf-8" })).toBe("image/webp");
    expect(await typeOf({ "content-type": "image/webp" }, "image/png")).toBe("image/png");
    expect(await typeOf({ "content-type": "" })).toBe("video/mp4");
  });

  test("S07: shows the credential where its link needs it, and below the provider's base URL", async () => {
    images.play(sends(png));
    const { content } = await fetchResult({ url: "/content/1", credential: true }, fetching());
    await content.cancel();
    const [request] = images.harness.upstream.requests;
    expect(request?.url).toBe(`${UPSTREAM_URL}/links/v4/content/1`);
    expect(JSON.stringify(request?.headers)).toContain(SECRET);
  });

  test("the type of an image is read from its bytes, not from its host's headers", async () => {
    images.play(sends(png, { "content-type": "application/octet-stream" }));
    expect(await fetchImage({ url: OWN_URL }, fetching())).toEqual({ mimeType: "image/png", base64: PNG });
    images.play(sends(Buffer.from("odd bytes"), { "content-type": "image/avif" }));
    expect(await fetchImage({ url: OWN_URL }, fetching())).toMatchObject({ mimeType: "image/avif" });
  });

  test("an image has at most 64 MiB", async () => {
    const chunk = new Uint8Array(32 * 1024 * 1024);
    const chunks =
      (...all: Uint8Array[]): Script =>
      async (reply) => {
        reply.head(200, { "content-type": "image/png" });
        for (const one of all) await reply.write(one);
        reply.end();
      };
    images.play(chunks(chunk, chunk));
    expect((await fetchImage({ url: OWN_URL }, fetching())).base64.length).toBe(4 * Math.ceil((64 * 1024 * 1024) / 3));
    images.play(chunks(chunk, chunk, png));
    await expect(fetchImage({ url: OWN_URL }, fetching())).rejects.toThrow("larger than 67108864 bytes");
  });

  test("an abort of the fetch is the reason of its error", async () => {
    const stopping = new AbortController();
    images.play((reply) => {
      reply.head(200, { "content-type": "image/png" });
      void reply.write(png.subarray(0, 20));
    });
    const fetched = fetchImage({ url: OWN_URL }, { ...fetching(), signal: stopping.signal });
    await images.pass(100);
    const reason = new Error("the gateway stops");
    stopping.abort(reason);
    await expect(fetched).rejects.toBe(reason);
  });

  test("all chunks of it, in their order", async () => {
    const { base64 } = plainPng(40, 40);
    const bytes = Buffer.from(base64, "base64");
    images.play(async (reply) => {
      reply.head(200, { "content-type": "image/png" });
      for (let at = 0; at < bytes.length; at += 50) await reply.write(bytes.subarray(at, at + 50));
      reply.end();
    });
    expect((await fetchImage({ url: OWN_URL }, fetching())).base64).toBe(base64);
  });
});
