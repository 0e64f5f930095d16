import { beforeEach, describe, expect, test } from "bun:test";
import { MediaHostHarness } from "../../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../../json.ts";
import { drawImage } from "../../../media-maker/draw-image.ts";
import { openaiMedia } from "../media.ts";

const EDITS = "/openai/v1/images/edits";

let harness: MediaHostHarness;
beforeEach(() => {
  harness = new MediaHostHarness(openaiMedia);
});

const dataOf = (body: JsonObject): JsonObject[] => body.data as JsonObject[];
const errorOf = (body: JsonObject): JsonObject => body.error as JsonObject;

const image = (width = 64, height = 64, transparent = false): Promise<Uint8Array> =>
  drawImage({ prompt: "input", width, height, seed: 1, format: "png", transparent });

const dataUrl = (bytes: Uint8Array): string => `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;

interface Part {
  name: string;
  bytes: Uint8Array;
  type?: string;
}

function form(fields: Record<string, string>, parts: readonly Part[]): FormData {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  for (const { name, bytes, type = "image/png" } of parts) {
    made.append(name, new File([bytes as Uint8Array<ArrayBuffer>], "image", { type }));
  }
  return made;
}

const edit = (fields: Record<string, string>, parts: readonly Part[]) =>
  harness.send(EDITS, { body: form({ model: "gpt-image-2", prompt: "hat", size: "64x64", ...fields }, parts) });

describe("contract 2.4 and H12: edits", () => {
  test("a form with images and a mask, streamed events named after the edit", async () => {
    const input = await image(96, 64);
    const mask = { name: "mask", bytes: await image(96, 64, true) };
    const { status, body } = await edit({ n: "2" }, [
      { name: "image[]", bytes: input },
      { name: "image[]", bytes: input },
      mask,
    ]);
    expect(status).toBe(200);
    expect(dataOf(body)).toHaveLength(2);
    expect(body.usage).toMatchObject({ input_tokens_details: { image_tokens: 12, text_tokens: 1 } });
    const response = await harness.ask(EDITS, {
      body: form({ model: "gpt-image-2", prompt: "hat", size: "64x64", stream: "true" }, [
        { name: "image", bytes: input },
      ]),
    });
    expect(await response.text()).toStartWith("event: image_edit.completed\n");
  });

  test("an edit without a size keeps the attitude of its image", async () => {
    const body = { model: "gpt-image-1.5", prompt: "hat", images: [{ image_url: dataUrl(await image(64, 96)) }] };
    expect((await harness.send(EDITS, { body })).body.size).toBe("1024x1536");
  });

  test("refuses forms whose files are not what they should be", async () => {
    const bytes = await image();
    const cases: [Record<string, string>, Part[], string][] = [
      [{}, [], "missing_required_parameter"],
      [{}, [{ name: "image", bytes, type: "application/octet-stream" }], "unsupported_file_mimetype"],
      [{}, [{ name: "image", bytes, type: "image/webp" }], "invalid_image_file"],
      [{}, [{ name: "image", bytes: new TextEncoder().encode("no image") }], "invalid_image_file"],
      [{}, [{ name: "image", bytes: bytes.slice(0, 20) }], "invalid_image_file"],
      [
        {},
        [
          { name: "image", bytes },
          { name: "image", bytes },
        ],
        "duplicate_parameter",
      ],
      [{}, Array<Part>(17).fill({ name: "image[]", bytes }), "array_above_max_length"],
      [{}, [{ name: "photo", bytes }], "unknown_parameter"],
      [{ image: "text" }, [], "invalid_type"],
      [{ moderation: "low" }, [{ name: "image", bytes }], "unknown_parameter"],
      [{ n: "many" }, [{ name: "image", bytes }], "invalid_type"],
      [
        { model: "gpt-image-1-mini", size: "auto", input_fidelity: "high" },
        [{ name: "image", bytes }],
        "invalid_input_fidelity",
      ],
      [{ model: "dall-e-2", size: "256x256" }, [{ name: "image[]", bytes }], "invalid_value"],
      [{ model: "dall-e-3", size: "1024x1024" }, [{ name: "image", bytes }], "invalid_value"],
      [
        {},
        [
          { name: "image", bytes },
          { name: "mask", bytes: await image(80, 64, true) },
        ],
        "invalid_image_file",
      ],
      [
        {},
        [
          { name: "image", bytes },
          { name: "mask", bytes },
        ],
        "invalid_image_file",
      ],
    ];
    for (const [fields, parts, code] of cases) {
      const { status, body } = await edit(fields, parts);
      expect({ status, code: errorOf(body).code }).toEqual({ status: 400, code });
    }
  });

  test("refuses references that lead to no image, as it was recorded", async () => {
    const send = (images: JsonObject[]) =>
      harness.send(EDITS, { body: { model: "gpt-image-1.5", prompt: "hat", images } });
    const drawing = await send([{ image_url: "https://example.org/logo.svg" }]);
    expect(drawing.status).toBe(400);
    expect(errorOf(drawing.body)).toEqual({
      message: "Invalid image data.",
      type: "image_generation_user_error",
      param: "images[0].image_url",
      code: "invalid_image_file",
    });
    expect((await send([{ image_url: "data:image/png;base64,bm9uZQ==" }])).status).toBe(400);
    expect((await send([{ file_id: "file-1" }])).status).toBe(404);
    expect((await send([{ url: "https://example.org/a.png" }])).status).toBe(400);
    expect((await send([{ image_url: "https://example.org/a.png" }])).status).toBe(200);
  });
});
