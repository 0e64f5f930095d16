import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import { withFetched } from "../image-request.ts";
import { decodePredict } from "./decode-predict.ts";

const BYTES = Buffer.from([0xfb, 0xff, 0xfe, 0xff]);
const STANDARD = BYTES.toString("base64");
const image = { bytesBase64Encoded: STANDARD, mimeType: "image/png" };
const decode = (parameters: object, root: object = {}) =>
  decodePredict({ instances: [{ prompt: "a fox" }], parameters, ...root });
const refused = (body: unknown): { path: string | undefined; message: string } => {
  try {
    decodePredict(body);
  } catch (error) {
    if (error instanceof GatewayError && error.kind === "invalid_request")
      return { path: error.path, message: error.message };
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("contract 2.4: a predict request", () => {
  test("the smallest one has no parameters at all (sdks 1.2)", () => {
    const request = decodePredict({ instances: [{ prompt: "a fox" }] });
    expect(request.call).toEqual({ prompt: "a fox", count: 1, outputMimeType: "image/png", inputs: [], extras: {} });
    expect(request).toMatchObject({ edit: false, stream: false, partialImages: 0, links: [], notes: [] });
  });

  test("every parameter, as the SDK writes it", () => {
    const { call, notes } = decode({
      negativePrompt: "dog",
      sampleCount: 2,
      aspectRatio: "1:1",
      guidanceScale: 3.5,
      seed: 1,
      safetySetting: "BLOCK_ONLY_HIGH",
      personGeneration: "ALLOW_ADULT",
      includeRaiReason: true,
      outputOptions: { mimeType: "image/jpeg", compressionQuality: 0 },
      addWatermark: false,
      enhancePrompt: true,
      sampleImageSize: "2k",
      imageSize: "1536x1024",
      quality: "HIGH",
      editMode: "EDIT_MODE_OUTPAINT",
    });
    expect(call).toEqual({
      prompt: "a fox",
      count: 2,
      negativePrompt: "dog",
      aspectRatio: "1:1",
      guidanceScale: 3.5,
      seed: 1,
      safetySetting: "block_only_high",
      personGeneration: "allow_adult",
      includeRaiReason: true,
      outputMimeType: "image/jpeg",
      compression: 0,
      watermark: false,
      enhancePrompt: true,
      tier: "2K",
      size: { width: 1536, height: 1024 },
      quality: "high",
      editMode: "EDIT_MODE_OUTPAINT",
      inputs: [],
      extras: {},
    });
    expect(notes).toEqual([]);
  });

  test("snake_case names are the same fields, and null counts as absent (sdks 5)", () => {
    const { call } = decode({
      sample_count: 3,
      output_options: { mime_type: "IMAGE/JPG" },
      seed: null,
      camera_fixed: true,
    });
    expect(call).toMatchObject({
      count: 3,
      outputMimeType: "image/jpeg",
      compression: 100,
      extras: { camera_fixed: true },
    });
    expect(call).not.toHaveProperty("seed");
  });

  test("passthrough fields are read at the root too, where SDKs put them, and known by their path", () => {
    const { call, paths } = decode({}, { imageSize: "auto", quality: "low", sample_image_size: "4K" });
    expect(call).toMatchObject({ size: "auto", quality: "low", tier: "4K", extras: {} });
    expect(paths).toMatchObject({ size: "imageSize", quality: "quality", tier: "sampleImageSize" });
  });

  test("parameters take precedence over the root, and the receipt notes it", () => {
    const { call, paths, notes } = decode({ quality: "high" }, { quality: "low" });
    expect(call.quality).toBe("high");
    expect(paths.quality).toBe("parameters.quality");
    expect(notes).toEqual([{ path: "quality", action: "dropped", reason: "parameters.quality takes precedence" }]);
  });

  test("compression applies only to JPEG", () => {
    const { call, notes } = decode({ outputOptions: { compressionQuality: 50 } });
    expect(call).not.toHaveProperty("compression");
    expect(notes).toMatchObject([{ path: "parameters.outputOptions.compressionQuality", action: "dropped" }]);
  });

  test("unknown fields are kept for the provider that knows them", () => {
    const { call, notes } = decode(
      { editConfig: { baseSteps: 35 }, steps: 30 },
      { labels: { a: "b" }, steps: 20, fallbacks: [], provider: {} },
    );
    expect(call.extras).toEqual({ labels: { a: "b" }, steps: 30, editConfig: { baseSteps: 35 } });
    expect(notes).toMatchObject([
      { path: "fallbacks", action: "dropped" },
      { path: "steps", action: "dropped", reason: "parameters.steps takes precedence" },
    ]);
  });

  test("H09: it keeps its path, and a second value elsewhere is noted", () => {
    const { call, notes } = decodePredict({
      instances: [{ prompt: "a fox", steps: 10, tone: "warm", constructor: 1 }],
      parameters: { steps: 30 },
      labels: { a: "b" },
      tone: "warm",
    });
    expect(Object.entries(call.extras)).toEqual([
      ["steps", 30],
      ["labels", { a: "b" }],
      ["tone", "warm"],
      ["constructor", 1],
    ]);
    expect([...(call.extraPaths ?? [])]).toEqual([
      ["steps", "parameters.steps"],
      ["labels", "labels"],
      ["tone", "tone"],
      ["constructor", "instances[0].constructor"],
    ]);
    expect(notes).toEqual([
      { path: "instances[0].steps", action: "dropped", reason: "parameters.steps takes precedence" },
    ]);
  });

  const wrong: [string, unknown, string, string][] = [
    ["no prompt", { instances: [{}] }, "instances[0].prompt", "it is missing"],
    ["an empty prompt", { instances: [{ prompt: "" }] }, "instances[0].prompt", "it is empty"],
    [
      "two instances",
      { instances: [{ prompt: "a" }, { prompt: "b" }] },
      "instances",
      "an array with one element; it has 2 items",
    ],
    ["no instances", { instances: [] }, "instances", "it has 0 items"],
    ["an embedding", { instances: [{ content: "hi" }] }, "instances[0].content", "this model generates images"],
    ...(
      [
        [{ sampleCount: 0 }, "sampleCount", "an integer of at least 1; it is 0"],
        [{ sampleCount: 1.5 }, "sampleCount", "it is 1.5"],
        [{ sampleCount: "2" }, "sampleCount", 'it is "2"'],
        [{ aspectRatio: "wide" }, "aspectRatio", 'such as "16:9"; it is "wide"'],
        [{ aspectRatio: "0:1" }, "aspectRatio", "two integers"],
        [
          { outputOptions: { mimeType: "image/gif" } },
          "outputOptions.mimeType",
          '"image/png", "image/jpeg"; it is "image/gif"',
        ],
        [
          { outputOptions: { mimeType: "image/jpeg", compressionQuality: 101 } },
          "outputOptions.compressionQuality",
          "an integer from 0 to 100; it is 101",
        ],
        [{ personGeneration: "everyone" }, "personGeneration", '"dont_allow"'],
        [{ seed: 1.5 }, "seed", "an integer"],
        [{ enhancePrompt: "yes" }, "enhancePrompt", "true or false"],
        [{ guidanceScale: "7" }, "guidanceScale", "a number"],
        [{ imageSize: "big" }, "imageSize", '"1536x1024"; it is "big"'],
        [{ quality: "ultra" }, "quality", '"low", "medium", "high", "auto"'],
        [{ sampleImageSize: "8K" }, "sampleImageSize", '"1K", "2K", "4K"; it is "8K"'],
      ] as const
    ).map(([parameters, name, words]): [string, unknown, string, string] => [
      JSON.stringify(parameters),
      { instances: [{ prompt: "a" }], parameters },
      `parameters.${name}`,
      words,
    ]),
  ];
  test.each(wrong)("%s is rejected in words", (_, body, path, words) => {
    const error = refused(body);
    expect(error.path).toBe(path);
    expect(error.message).toContain(words);
  });
});

describe("contract 2.4: images to edit", () => {
  const reference = (referenceType: string, more: object = {}) => ({
    referenceType,
    referenceId: 1,
    referenceImage: image,
    ...more,
  });
  const edit = (...referenceImages: object[]) => ({ instances: [{ prompt: "edit", referenceImages }] });
  const mask = reference("REFERENCE_TYPE_MASK", {
    maskImageConfig: { maskMode: "MASK_MODE_USER_PROVIDED", dilation: 0.1 },
  });

  test("the form of the SDK: a source and a mask", () => {
    const { call, edit: edits, inputPaths, paths, notes } = decodePredict(edit(reference("REFERENCE_TYPE_RAW"), mask));
    expect(edits).toBe(true);
    expect(call.inputs).toEqual([{ mimeType: "image/png", base64: STANDARD }]);
    expect(call.mask).toEqual({ mimeType: "image/png", base64: STANDARD });
    expect(inputPaths).toEqual(["instances[0].referenceImages[0].referenceImage"]);
    expect(paths.mask).toBe("instances[0].referenceImages[1].referenceImage");
    expect(notes.map(({ path }) => path)).toEqual(["instances[0].referenceImages[1].maskImageConfig.dilation"]);
  });

  test("the REST form of the contract comes first", () => {
    const { inputPaths, paths } = decodePredict({ instances: [{ prompt: "edit", image }] });
    expect(inputPaths).toEqual(["instances[0].image"]);
    expect(paths.inputs).toBe("instances[0].image");
  });

  test.each([STANDARD, "-__-_w==", "-__-_w", "+//+\n/w=="])(
    "base64 in either alphabet, padded or not: %p",
    (bytesBase64Encoded) => {
      const { call } = decodePredict({
        instances: [{ prompt: "edit", image: { bytes_base64_encoded: bytesBase64Encoded } }],
      });
      expect(call.inputs[0]?.base64).toBe(STANDARD);
    },
  );

  test("kinds that only one family supports are kept whole and are not inputs", () => {
    const style = reference("reference_type_style", { styleImageConfig: { styleDescription: "ink" } });
    const automatic = reference("REFERENCE_TYPE_MASK", { maskImageConfig: { maskMode: "MASK_MODE_BACKGROUND" } });
    const { call, inputPaths } = decodePredict(edit(reference("REFERENCE_TYPE_RAW"), style, automatic));
    expect(inputPaths).toHaveLength(1);
    expect(call.mask).toBeUndefined();
    expect(call.extras).toEqual({ referenceImages: [{ ...style, referenceType: "REFERENCE_TYPE_STYLE" }, automatic] });
    expect(call.extraPaths?.get("referenceImages")).toBe("instances[0].referenceImages");
  });

  test("a URL is fetched later, and keeps its position among the inputs", () => {
    const link = { ...reference("REFERENCE_TYPE_RAW"), referenceImage: { gcsUri: "https://example.com/a.png" } };
    const linkedMask = { ...mask, referenceImage: { gcsUri: "https://example.com/m.png" } };
    const request = decodePredict(
      edit(reference("REFERENCE_TYPE_RAW"), link, reference("REFERENCE_TYPE_RAW"), linkedMask),
    );
    expect(request.links).toEqual([
      { url: "https://example.com/a.png", position: 1 },
      { url: "https://example.com/m.png", position: "mask" },
    ]);
    const fetched = (name: string) => ({ mimeType: "image/png", base64: name });
    const { call, links } = withFetched(request, [fetched("AAAA"), fetched("BBBB")]);
    expect(call.inputs.map(({ base64 }) => base64)).toEqual([STANDARD, "AAAA", STANDARD]);
    expect(call.mask?.base64).toBe("BBBB");
    expect(links).toEqual([]);
  });

  const wrong: [string, unknown, string, string][] = [
    [
      "a bucket",
      { instances: [{ prompt: "e", image: { gcsUri: "gs://b/a.png" } }] },
      "instances[0].image.gcsUri",
      "https",
    ],
    ["nothing", { instances: [{ prompt: "e", image: {} }] }, "instances[0].image.bytesBase64Encoded", "missing"],
    [
      "no base64",
      { instances: [{ prompt: "e", image: { bytesBase64Encoded: "a{}b" } }] },
      "instances[0].image.bytesBase64Encoded",
      "base64",
    ],
    [
      "half a group",
      { instances: [{ prompt: "e", image: { bytesBase64Encoded: "abcde" } }] },
      "instances[0].image.bytesBase64Encoded",
      "base64",
    ],
    [
      "an unknown kind",
      edit(reference("REFERENCE_TYPE_X")),
      "instances[0].referenceImages[0].referenceType",
      "REFERENCE_TYPE_RAW",
    ],
    [
      "two masks",
      edit(reference("REFERENCE_TYPE_RAW"), mask, mask),
      "instances[0].referenceImages[2].referenceImage",
      "second mask",
    ],
  ];
  test.each(wrong)("%s is rejected in words", (_, body, path, words) => {
    const error = refused(body);
    expect(error.path).toBe(path);
    expect(error.message).toContain(words);
  });
});
