import { expect } from "bun:test";
import type { Reader } from "./reader.ts";
import { testPage } from "./test-page.ts";

function expectVideo(reader: Reader, name: string): void {
  const file = reader.read(name);
  expect(file.toString("latin1", 4, 8)).toBe("ftyp");
  expect(file.length).toBeGreaterThan(10_000);
}

const imageOf = (reader: Reader, name: string) => new Bun.Image(reader.read(name)).metadata();

testPage("docs/media.md", {
  expected: {
    "/images/generations": async (_output, reader) =>
      expect(await imageOf(reader, "fox.png")).toMatchObject({ width: 1536, height: 1024, format: "png" }),
    "bin/trivium image": (output, reader) => {
      expect(output).toBe("snow.png\nnight-1.jpg\nnight-2.jpg\nsnow.mp4\n");
      expectVideo(reader, "snow.mp4");
    },
    "images.generate(": async (_output, reader) => expect((await imageOf(reader, "fox.webp")).format).toBe("webp"),
    "vertexai: true": (_output, reader) => expectVideo(reader, "fox.mp4"),
    "ts version 2": async (code, reader) => {
      await reader.run([process.execPath], "version-2.ts", code.replace("@google/genai", "genai-2"));
      expectVideo(reader, "sleeping-fox.mp4");
    },
    "videos.create(": (_output, reader) => expectVideo(reader, "looking-fox.mp4"),
  },
});
