import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { failureOf } from "../sdk/support.ts";
import { contractDoor, dropInDoor, GENAI_IMAGES, type ImageAnswer, type ImageConfig } from "./genai-images.ts";
import { CallTable, expectBilled, lookAt, lookAtAll, notesOf, receiptOf } from "./image-audit.ts";
import { IMAGE_FAMILIES, type ImageFamily, SETTINGS, type Setting } from "./image-families.ts";
import { type ImageHarness, STRICT_KEY, startImageHarness } from "./image-harness.ts";
import { IMAGE_DOORS, OPENAI_IMAGES } from "./openai-images.ts";

const PROMPT = "a red fox in the snow";

/** Every setting of contract 2.4, except those that exclude each other. */
const EVERYTHING: ImageConfig = {
  negativePrompt: "dogs",
  aspectRatio: "16:9",
  guidanceScale: 3,
  seed: 7,
  includeRaiReason: true,
  outputMimeType: "image/jpeg",
  outputCompressionQuality: 80,
  enhancePrompt: true,
  people: "adults",
  filter: "high only",
};

const BOTH_GENERATIONS = ["openai/gpt-image-2", "google/imagen-4.0-generate-001:vertex", "own/wan-2.7"];

let harness: ImageHarness;
const table = new CallTable("Images from words: SDK x provider");
/** The package announces on the console that these calls will move. */
const warn = spyOn(console, "warn").mockImplementation(() => {});

beforeAll(async () => {
  harness = await startImageHarness();
});
afterAll(async () => {
  warn.mockRestore();
  await harness.stop();
  table.print();
});

const sizeOf = (expected: string): string => expected.replace(/^~/, "");
/** Every setting that the family does not refuse. */
const everythingFor = ({ wide }: ImageFamily): ImageConfig => {
  const { aspectRatio, ...others } = EVERYTHING;
  return wide === "refused" || aspectRatio === undefined ? others : { ...others, aspectRatio };
};

/** Contract 2.4, 8: the call is refused by the client's own name for the field, and no host gets a request. */
async function expectRefusal(call: Promise<unknown>, path: string): Promise<void> {
  const before = harness.simulator.stats().requests;
  const failure = await failureOf(call);
  expect(failure).toMatchObject({ status: 400 });
  expect(failure.message).toContain(`${path}: `);
  expect(harness.simulator.stats().requests).toBe(before);
}
/** The host's own type: if a test is not about types, no conversion is needed. */
const ownType = ({ usual }: ImageFamily): string => usual.split(" ")[0] ?? "";
const inOwnType = (family: ImageFamily): ImageConfig => ({ outputMimeType: `image/${ownType(family)}` });
/** Contract 2.4: images are PNG by default, whatever the host makes. */
const usualPng = ({ usual }: ImageFamily): string => `png ${usual.split(" ")[1]}`;
const bytesOf = ({ generatedImages = [] }: ImageAnswer) => generatedImages.map(({ image }) => image?.imageBytes);
const receiptFor = ({ sdkHttpResponse }: ImageAnswer) =>
  receiptOf(harness, sdkHttpResponse?.headers?.["x-trivium-receipt"]);

/** The notes that are expected for a family's settings, and for the field of the size. */
function expectedNotes({ takes }: ImageFamily, settings: readonly Setting[], size: string, path: string): string[] {
  const dropped = settings.filter((one) => !takes.includes(one)).map((one) => `dropped parameters.${one}`);
  if (size.startsWith("~")) dropped.push(`approximated ${path}`);
  return dropped.sort();
}

const families = IMAGE_FAMILIES.filter(({ editsOnly }) => !editsOnly);

for (const family of families) {
  const { model } = family;
  const two = Math.min(2, family.most);

  for (const { version, connect, error } of GENAI_IMAGES) {
    // What a generation sends does not depend on the model: a few models are enough for the older one.
    const thorough = version === "2" || BOTH_GENERATIONS.includes(model);
    describe(`genai ${version}, ${model}`, () => {
      const client = () => connect(contractDoor(harness.gateway.url, harness.gateway.key));

      test("contract 2.4: only a prompt", async () => {
        const answer = await client().generate(model, PROMPT);
        expect(await lookAtAll(bytesOf(answer))).toEqual([usualPng(family)]);
        expect(answer.generatedImages?.[0]?.image?.mimeType).toBe("image/png");
        const receipt = await receiptFor(answer);
        expectBilled(receipt, family, 1);
        expect(notesOf(receipt)).toEqual([]);
        table.good(family, `genai-${version}`);
      });

      test("contract 2.4, H09: every setting is honoured or noted, and images have the requested type", async () => {
        if (family.wide === "refused") {
          await expectRefusal(client().generate(model, PROMPT, EVERYTHING), "parameters.aspectRatio");
        }
        const answer = await client().generate(model, PROMPT, { ...everythingFor(family), numberOfImages: two });
        const expected = `jpeg ${family.wide === "refused" ? family.usual.split(" ")[1] : family.wide}`;
        expect(await lookAtAll(bytesOf(answer))).toEqual(new Array(two).fill(expected));
        const receipt = await receiptFor(answer);
        expectBilled(receipt, family, two);
        expect(notesOf(receipt)).toEqual(expectedNotes(family, SETTINGS, "", ""));
        table.good(family, `settings-${version}`);
      });

      if (thorough)
        test("contract 2.4: passthrough at the root, and inside parameters", async () => {
          const quality = ["own/dall-e-3", "own/cogview"].includes(model) ? "hd" : "low";
          const takesMark = family.takes.includes("addWatermark");
          const inside = { parameters: { quality, sampleImageSize: "2K" } };
          const large = client().generate(model, PROMPT, {
            ...inOwnType(family),
            ...(takesMark ? { addWatermark: true } : {}),
            httpOptions: { extraBody: inside },
          });
          if (family.large === "refused") await expectRefusal(large, "parameters.sampleImageSize");
          else {
            expect(await lookAtAll(bytesOf(await large))).toEqual([`${ownType(family)} ${family.large}`]);
            const receipt = await receiptFor(await large);
            expectBilled(receipt, family, 1, true);
            expect(notesOf(receipt)).toEqual(expectedNotes(family, ["quality"], "", ""));
          }
          const marked = client().generate(model, PROMPT, { ...inOwnType(family), addWatermark: true });
          if (takesMark) expect(notesOf(await receiptFor(await marked))).toEqual([]);
          else await expectRefusal(marked, "parameters.addWatermark");

          const exact = client().generate(model, PROMPT, {
            ...inOwnType(family),
            httpOptions: { extraBody: { imageSize: "1536x1024" } },
          });
          if (family.exact === "refused") await expectRefusal(exact, "imageSize");
          else {
            const answer = await exact;
            expect(await lookAtAll(bytesOf(answer))).toEqual([`${ownType(family)} ${sizeOf(family.exact)}`]);
            expect(notesOf(await receiptFor(answer))).toEqual(expectedNotes(family, [], family.exact, "imageSize"));
          }
          table.good(family, `passthrough-${version}`);
        });

      if (thorough)
        test("H09: a strict key, and a strict call, are refused if a field would be dropped", async () => {
          const everything = everythingFor(family);
          const config = { ...everything, httpOptions: { headers: { "x-trivium-strict": "true" } } };
          const lost = expectedNotes(family, SETTINGS, "", "");
          const strict = connect(contractDoor(harness.gateway.url, STRICT_KEY));
          for (const call of [client().generate(model, PROMPT, config), strict.generate(model, PROMPT, everything)]) {
            if (lost.length === 0) {
              expect(bytesOf(await call)).toHaveLength(1);
              continue;
            }
            const failure = await failureOf(call);
            expect(failure).toBeInstanceOf(error);
            expect(failure).toMatchObject({ status: 400 });
            for (const note of lost) expect(failure.message).toContain(note.split(" ")[1] ?? "");
          }
          expect(bytesOf(await strict.generate(model, PROMPT))).toHaveLength(1);
          table.good(family, `strict-${version}`);
        });
    });
  }

  for (const [index, { version, connect, errors }] of OPENAI_IMAGES.entries()) {
    const door = IMAGE_DOORS[index % IMAGE_DOORS.length] ?? "";
    describe(`openai ${version} at ${door}, ${model}`, () => {
      const client = () =>
        connect({ baseURL: `${harness.gateway.url}${door}`, apiKey: harness.gateway.key, maxRetries: 0 });

      if (version === "7")
        test("contract 4: an image keeps the host's own type by default", async () => {
          const { data = [] } = await client().images.generate({ model, prompt: PROMPT });
          expect(await lookAtAll(data.map(({ b64_json }) => b64_json))).toEqual([family.usual]);
        });

      test("contract 4, choices 5: several images without a stream, in the requested type", async () => {
        const format = version === "7" ? "png" : "jpeg";
        const asked = client().images.generate({ model, prompt: PROMPT, n: two, output_format: format });
        const { data: answer, response } = await asked.withResponse();
        const images = (answer.data ?? []).map(({ b64_json }) => b64_json);
        expect(await lookAtAll(images)).toEqual(new Array(two).fill(`${format} ${family.usual.split(" ")[1]}`));
        expect(answer).toMatchObject({ output_format: format });
        // The vendor's response cannot express a choice that was left to the model.
        expect(Object.values(answer)).not.toContain("auto");
        expectBilled(await receiptOf(harness, response.headers.get("x-trivium-receipt")), family, two);
        table.good(family, `openai-${version}`);
      });

      test("contract 8: more images than the model makes are refused, by the client's name for the field", async () => {
        const failure = await failureOf(client().images.generate({ model, prompt: PROMPT, n: family.most + 1 }));
        expect(failure).toBeInstanceOf(errors.BadRequestError);
        expect(failure).toMatchObject({ param: "n", type: "invalid_request_error" });
        expect(failure.message).toContain(`at most ${family.most}`);
      });
    });
  }
}

describe("genai 1 at the drop-in door", () => {
  // The second generation itself refuses the call if only a host is configured.
  const first = GENAI_IMAGES.find(({ version }) => version === "1");

  test.each(["own/wan-2.7", "google/imagen-4.0-generate-001:gemini", "openai/gpt-image-1.5"])(
    "choices 1: with only a host, %s",
    async (model) => {
      const client = first?.connect(dropInDoor(harness.gateway.url, harness.gateway.key));
      const answer = await client?.generate(model, PROMPT, { numberOfImages: 2, aspectRatio: "1:1" });
      expect(await lookAtAll(bytesOf(answer ?? {}))).toEqual(["png 1024x1024", "png 1024x1024"]);
    },
  );
});

describe("types that a provider does not support", () => {
  const [openai] = OPENAI_IMAGES;

  test.each(["own/ernie", "own/minimax", "openai/gpt-image-2"])(
    "contract 2.14 output_format: %s as webp",
    async (model) => {
      const client = openai?.connect({
        baseURL: `${harness.gateway.url}/api/v1`,
        apiKey: harness.gateway.key,
        maxRetries: 0,
      });
      const sizes: number[] = [];
      for (const output_compression of [10, 100]) {
        const format = { output_format: "webp", output_compression } as const;
        const answer = await client?.images.generate({ model, prompt: PROMPT, ...format });
        const image = answer?.data?.[0]?.b64_json;
        expect(await lookAt(image)).toBe("webp 1024x1024");
        sizes.push(image?.length ?? 0);
      }
      expect(sizes[0]).toBeLessThan(sizes[1] ?? 0);
    },
  );
});

describe("fan-out beyond the maximum of one provider call", () => {
  const [genai] = GENAI_IMAGES;
  const narrow = families.filter(({ perCall, most }) => perCall < most);

  test.each(narrow)("contract 2.4 sampleCount: $model reaches its maximum with several calls", async (family) => {
    const before = harness.simulator.stats().byModel;
    const client = genai?.connect(contractDoor(harness.gateway.url, harness.gateway.key));
    const config = { numberOfImages: family.most, seed: 7, ...inOwnType(family) };
    const answer = await client?.generate(family.model, PROMPT, config);
    const images = bytesOf(answer ?? {});
    expect(images).toHaveLength(family.most);
    for (const image of images) expect(await lookAt(image)).toBe(family.usual);
    // The same seed for all of them would make the same image several times.
    if (family.takes.includes("seed")) expect(new Set(images).size).toBe(family.most);
    const receipt = await receiptFor(answer ?? {});
    expectBilled(receipt, family, family.most);
    const after = harness.simulator.stats().byModel;
    const calls = Object.entries(after).reduce((sum, [name, count]) => sum + count - (before[name] ?? 0), 0);
    // Two of the simulated hosts do not count by model.
    if (family.provider !== "runway" && family.provider !== "luma") expect(calls).toBe(family.most / family.perCall);
  });
});
