import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { halfTransparent, plainPng } from "../../src/media/images.sample.ts";
import { failureOf } from "../sdk/support.ts";
import { contractDoor, GENAI_IMAGES, type GivenImage, type ImageAnswer } from "./genai-images.ts";
import { CallTable, expectBilled, lookAt, notesOf, receiptOf } from "./image-audit.ts";
import { IMAGE_FAMILIES, type ImageFamily } from "./image-families.ts";
import { type ImageHarness, startImageHarness } from "./image-harness.ts";
import { IMAGE_DOORS, type ImageEvent, OPENAI_IMAGES } from "./openai-images.ts";

const PROMPT = "give the fox a hat";
/** Large enough for every host, and square, as the oldest of the models needs it. */
const SIDE = 320;
const INPUT = plainPng(SIDE, SIDE);
const MASK = halfTransparent(SIDE, SIDE);

const given = ({ base64, mimeType }: typeof INPUT): GivenImage => ({ imageBytes: base64, mimeType });
const inputs = (count: number) => Array.from({ length: count }, () => given(INPUT));
const file = ({ base64, mimeType }: typeof INPUT, name = "fox.png") =>
  new File([Buffer.from(base64, "base64")], name, { type: mimeType });

let harness: ImageHarness;
const table = new CallTable("Images from images: SDK x provider");
const warn = spyOn(console, "warn").mockImplementation(() => {});

beforeAll(async () => {
  harness = await startImageHarness();
});
afterAll(async () => {
  warn.mockRestore();
  await harness.stop();
  table.print();
});

const receiptFor = ({ sdkHttpResponse }: ImageAnswer) =>
  receiptOf(harness, sdkHttpResponse?.headers?.["x-trivium-receipt"]);

/** How many images to send if a model accepts several. */
const several = (family: ImageFamily): number => Math.min(3, family.inputs);

async function expectImage(image: string | undefined): Promise<void> {
  expect(await lookAt(image)).toMatch(/^(?:png|jpeg) \d+x\d+$/);
}

for (const family of IMAGE_FAMILIES) {
  const { model } = family;

  for (const { version, connect, error } of GENAI_IMAGES) {
    describe(`genai ${version}, ${model}`, () => {
      const client = () => connect(contractDoor(harness.gateway.url, harness.gateway.key));

      if (family.inputs > 0)
        test("contract 2.4: one raw image, and several", async () => {
          const one = await client().edit(model, PROMPT, { inputs: inputs(1) });
          await expectImage(one.generatedImages?.[0]?.image?.imageBytes);
          const receipt = await receiptFor(one);
          expectBilled(receipt, family, 1);
          expect(notesOf(receipt)).toEqual([]);
          if (family.inputs > 1) {
            // The simulator draws the number of its inputs into an image, so that a lost one shows.
            const many = await client().edit(model, PROMPT, { inputs: inputs(several(family)) });
            expect(many.generatedImages).toHaveLength(1);
            expect(many.generatedImages?.[0]?.image?.imageBytes).not.toBe(one.generatedImages?.[0]?.image?.imageBytes);
          }
          table.good(family, `genai-${version}`);
        });

      test("contract 8: one image too many is refused, and the message states the limit", async () => {
        const failure = await failureOf(client().edit(model, PROMPT, { inputs: inputs(family.inputs + 1) }));
        expect(failure).toBeInstanceOf(error);
        expect(failure).toMatchObject({ status: 400 });
        expect(failure.message).toContain(family.inputs === 0 ? "accepts no images" : `at most ${family.inputs}`);
        expect(failure.message).toContain("instances[0].referenceImages");
      });

      if (family.inputs > 0)
        test("contract 2.4: a mask is applied, or refused by a model without support", async () => {
          const call = client().edit(model, PROMPT, { inputs: inputs(1), mask: given(MASK) });
          if (family.mask) {
            const answer = await call;
            await expectImage(answer.generatedImages?.[0]?.image?.imageBytes);
            expect(notesOf(await receiptFor(answer))).toEqual([]);
            table.good(family, `mask-${version}`);
          } else {
            const failure = await failureOf(call);
            expect(failure).toMatchObject({ status: 400 });
            expect(failure.message).toContain("does not accept a mask");
            expect(failure.message).toContain("instances[0].referenceImages[1]");
          }
        });
    });
  }

  if (family.inputs === 0) continue;
  for (const [index, { version, connect, errors }] of OPENAI_IMAGES.entries()) {
    const door = IMAGE_DOORS[index % IMAGE_DOORS.length] ?? "";
    describe(`openai ${version} at ${door}, ${model}`, () => {
      const client = () =>
        connect({ baseURL: `${harness.gateway.url}${door}`, apiKey: harness.gateway.key, maxRetries: 0 });

      test("contract 4: a form with one file", async () => {
        const { data, response } = await client()
          .images.edit({ model, prompt: PROMPT, image: file(INPUT) })
          .withResponse();
        expect(data.data).toHaveLength(1);
        await expectImage(data.data?.[0]?.b64_json);
        expectBilled(await receiptOf(harness, response.headers.get("x-trivium-receipt")), family, 1);
        table.good(family, `openai-${version}`);
      });

      if (family.inputs > 1)
        test("contract 4: several files, and several resulting images", async () => {
          const image = Array.from({ length: several(family) }, (_, at) => file(INPUT, `fox-${at}.png`));
          const n = Math.min(2, family.most);
          const answer = await client().images.edit({ model, prompt: PROMPT, image, n });
          expect(answer.data).toHaveLength(n);
          for (const { b64_json } of answer.data ?? []) await expectImage(b64_json);
          table.good(family, `files-${version}`);
        });

      test("contract 4: a mask and a file", async () => {
        const call = client().images.edit({ model, prompt: PROMPT, image: file(INPUT), mask: file(MASK, "mask.png") });
        if (family.mask) await expectImage((await call).data?.[0]?.b64_json);
        else {
          const failure = await failureOf(call);
          expect(failure).toBeInstanceOf(errors.BadRequestError);
          expect(failure).toMatchObject({ param: "mask" });
        }
      });

      test("contract 6.3: streamed, the events are those of an edit, and the last one has the image", async () => {
        const stream = await client().images.edit({ model, prompt: PROMPT, image: file(INPUT), stream: true });
        const events: ImageEvent[] = [];
        for await (const event of stream) events.push(event);
        expect(events.map(({ type }) => type)).toEqual(["image_edit.completed"]);
        await expectImage(events[0]?.b64_json);
        table.good(family, `stream-${version}`);
      });
    });
  }
}

test("contract 2.4, providers 2.2: a mask is sent in the host's form, in the size of the image", async () => {
  const [genai] = GENAI_IMAGES;
  const client = genai?.connect(contractDoor(harness.gateway.url, harness.gateway.key));
  await client?.edit("google/imagen-3.0-capability-001", PROMPT, { inputs: inputs(1), mask: given(MASK) });
  const sent = harness.simulator.stats().last?.body as SentEdit | undefined;
  const [raw, mask] = sent?.instances[0]?.referenceImages ?? [];
  expect(raw).toMatchObject({
    referenceType: "REFERENCE_TYPE_RAW",
    referenceImage: { bytesBase64Encoded: INPUT.base64 },
  });
  expect(mask).toMatchObject({
    referenceType: "REFERENCE_TYPE_MASK",
    maskImageConfig: { maskMode: "MASK_MODE_USER_PROVIDED" },
  });
  expect(await lookAt(mask?.referenceImage.bytesBase64Encoded)).toBe(`png ${SIDE}x${SIDE}`);
  expect(mask?.referenceImage.bytesBase64Encoded).not.toBe(MASK.base64);
  expect(sent?.parameters.editMode).toBe("EDIT_MODE_INPAINT_INSERTION");
});

interface SentEdit {
  instances: { referenceImages: { referenceImage: { bytesBase64Encoded: string } }[] }[];
  parameters: { editMode?: string };
}
