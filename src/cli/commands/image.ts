import { extname } from "node:path";
import { withoutAbsent } from "../../base/without-absent.ts";
import { sniffMedia } from "../../wire/sniff-media.ts";
import { defineCommand, UsageError } from "../command.ts";
import { CONNECTION_FLAGS, connect, type GatewayClient } from "../gateway-client.ts";
import { type ReceivedImage, readImageAnswer, readImageStream } from "../image-answer.ts";
import { MAX_RESULTS, readImageFile } from "../media-flags.ts";
import { checkOutput, numbered, withSuffix, writeOutput } from "../output-file.ts";
import { type MediaOutcome, readAbout, reportMedia } from "../report-media.ts";
import { readWholeNumber } from "../whole-number.ts";

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  png: [".png"],
  jpeg: [".jpg", ".jpeg"],
  webp: [".webp"],
};
/** Some models take minutes for one image, and may generate several in sequence. */
const TIMEOUT_MS = 20 * 60_000;
/** The gateway's limit. */
const MAX_PARTIALS = 3;

export const image = defineCommand({
  flags: {
    output: {
      type: "string",
      short: "o",
      value: "FILE",
      about: "output file; numbered if there is more than one image",
    },
    force: { type: "boolean", default: false, about: "overwrite existing files" },
    model: { type: "string", value: "M", about: "PROVIDER/MODEL (default: sim/image)" },
    n: { type: "string", value: "N", about: "number of images" },
    size: { type: "string", value: "SIZE", about: "image size, such as 1536x1024" },
    ratio: { type: "string", value: "RATIO", about: "aspect ratio, such as 16:9" },
    quality: { type: "string", value: "WORD", about: "image quality, such as high" },
    format: {
      type: "string",
      value: "FORMAT",
      about: `one of ${Object.keys(FORMATS).join(", ")} (default: from the extension of FILE)`,
    },
    seed: { type: "string", value: "N", about: "seed for reproducible images, if the model supports it" },
    image: { type: "string", multiple: true, default: [], value: "FILE", about: "image to edit" },
    mask: { type: "string", value: "FILE", about: "mask of the area to edit" },
    partial: { type: "string", value: "N", about: "number of partial images to stream" },
    ...CONNECTION_FLAGS,
  },
  takes: 1,
  run: async ({ values, positionals: [prompt] }) => {
    const { output, force } = values;
    if (!prompt) throw new UsageError("Missing prompt. Describe the image in quotes.");
    if (!output) throw new UsageError("Missing output file. Pass it with -o, such as -o fox.png.");
    if (values.mask !== undefined && values.image.length === 0) {
      throw new UsageError("--mask requires --image: pass the image to edit.");
    }
    const count = readWholeNumber("--n", values.n, 1, MAX_RESULTS) ?? 1;
    const partials = readWholeNumber("--partial", values.partial, 0, MAX_PARTIALS) ?? 0;
    const seed = readWholeNumber("--seed", values.seed);
    const format = readFormat(values.format, output);
    const images = values.image.map((path) => readImageFile("--image", path));
    const mask = values.mask === undefined ? undefined : readImageFile("--mask", values.mask);
    const paths = Array.from({ length: count }, (_, index) => numbered(output, index, count));
    const partialPaths = Array.from({ length: partials * count }, (_, index) => partialPath(output, index));
    checkOutput([...paths, ...partialPaths], force);

    const client = await connect(values);
    const model = await client.chooseModel(values.model, "sim/image", "image");
    const fields = {
      model,
      prompt,
      n: count,
      output_format: format,
      ...withoutAbsent({ size: values.size, aspect_ratio: values.ratio, quality: values.quality, seed }),
      ...(partials === 0 ? {} : { stream: true, partial_images: partials }),
    };
    const edit = images.length > 0;
    const path = edit ? "/api/v1/images/edits" : "/api/v1/images/generations";
    const body = edit ? formOf(fields, images, mask) : fields;
    const response = await client.post(path, body, { timeoutMs: TIMEOUT_MS });
    const about = readAbout(response);
    const steps = partials === 0 ? readImageAnswer(response) : readImageStream(response);
    const outcome = await writeImages(steps, { client, output, count, force, format });
    return reportMedia(outcome, { model, ...about }, values.json);
  },
});

const partialPath = (output: string, index: number): string => withSuffix(output, `.partial-${index}`);

function readFormat(flag: string | undefined, output: string): string {
  const extension = extname(output).toLowerCase();
  const implied = Object.keys(FORMATS).find((format) => FORMATS[format]?.includes(extension));
  const format = flag ?? implied;
  if (format === undefined || !Object.hasOwn(FORMATS, format)) {
    const known = Object.keys(FORMATS).join(", ");
    throw new UsageError(
      flag === undefined
        ? `-o: "${output}" does not end in ${Object.values(FORMATS).flat().join(", ")}. Choose the format with --format.`
        : `--format: "${flag}" is not one of ${known}.`,
    );
  }
  if (implied !== undefined && implied !== format) {
    throw new UsageError(`--format is ${format}, but the extension of "${output}" is for ${implied}.`);
  }
  return format;
}

type ImageFile = ReturnType<typeof readImageFile>;

function formOf(fields: object, images: readonly ImageFile[], mask: ImageFile | undefined): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  const add = (name: string, { bytes, mimeType, name: fileName }: ImageFile) =>
    form.append(name, new Blob([bytes], { type: mimeType }), fileName);
  for (const input of images) add(images.length === 1 ? "image" : "image[]", input);
  if (mask) add("mask", mask);
  return form;
}

interface Writing {
  client: GatewayClient;
  output: string;
  count: number;
  force: boolean;
  format: string;
}

/** Every image is written as it arrives: an image that was paid for is not lost when a later one fails. */
async function writeImages(steps: AsyncGenerator<ReceivedImage>, writing: Writing): Promise<MediaOutcome> {
  const { output, count } = writing;
  const files: MediaOutcome["files"] = [];
  const notMade: MediaOutcome["notMade"] = [];
  for await (const step of steps) {
    if (step.kind === "partial") {
      await writeOutput({ path: partialPath(output, step.index), content: [step.bytes], force: true });
    } else if (step.kind === "made") files.push(await writeImage(step, writing));
    else notMade.push({ reason: step.reason, moderated: step.moderated });
  }
  const missing = count - files.length - notMade.length;
  // One failure may be reported for all of them.
  if (missing > 0 && (files.length > 0 || notMade.length === 0)) {
    const reason = `${missing} of ${count} images ${missing === 1 ? "was" : "were"} not generated. The provider gave no reason.`;
    notMade.push({ reason, moderated: false });
  }
  return { files, notMade };
}

async function writeImage(
  { index, image: made, revisedPrompt }: Extract<ReceivedImage, { kind: "made" }>,
  { client, output, count, force, format }: Writing,
): Promise<MediaOutcome["files"][number]> {
  const path = numbered(output, index, count);
  const content = "url" in made ? client.download(made.url, { timeoutMs: TIMEOUT_MS }) : [made.bytes];
  const bytes = await writeOutput({ path, content, force });
  const first = new Uint8Array(await Bun.file(path).slice(0, 16).arrayBuffer());
  const mimeType = sniffMedia(first) ?? "application/octet-stream";
  if (mimeType !== `image/${format}`) console.error(`"${path}" contains ${mimeType}, not the requested ${format}.`);
  return {
    path,
    mime_type: mimeType,
    bytes,
    ...withoutAbsent({ revised_prompt: revisedPrompt }),
  };
}
