import { ratioDistance, readRatio } from "../../src/media/aspect-ratio.ts";
import type { InlineImage, PixelSize } from "../../src/media/image.ts";
import { tierOf } from "../../src/media/image-size.ts";
import { readSize } from "../../src/media/read-size.ts";
import { receiptOf } from "./image-audit.ts";
import type { ImageHarness } from "./image-harness.ts";
import type { RandomImageRequest } from "./random-images.ts";

/** How long a call may take before it counts as stuck. */
const TIMEOUT_MS = 30_000;
/** The sides of an image are multiples of a step, so its shape may be off by this much. */
const SHAPE_TOLERANCE = 0.07;

interface Answer {
  status: number;
  text: string;
  headers: Headers;
}

/** Problems of the response to a random request; empty if there are none. */
export async function judgeImages(
  harness: ImageHarness,
  model: string,
  request: RandomImageRequest,
): Promise<string[]> {
  const before = harness.simulator.stats().requests;
  const answer = await send(harness, model, request);
  const received = harness.simulator.stats().requests - before;
  if (answer.status >= 500) return [`status ${answer.status}: ${answer.text}`];
  if (answer.status !== 200) return judgeRefusal(answer, request, received);
  const receipt = await receiptOf(harness, answer.headers.get("x-trivium-receipt"));
  const noted = new Set(receipt.fields.map(({ path }) => path));
  return judgeImagesMade(answer, request, noted);
}

async function send({ gateway }: ImageHarness, model: string, request: RandomImageRequest): Promise<Answer> {
  const { url, body } = requestOf(model, request);
  const form = body instanceof FormData;
  const response = await fetch(gateway.url + url, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, ...(form ? {} : { "content-type": "application/json" }) },
    body: form ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

function requestOf(model: string, request: RandomImageRequest): { url: string; body: FormData | object } {
  switch (request.door) {
    case "predict": {
      const [publisher, name] = model.split("/");
      return { url: `/api/genai/v1/publishers/${publisher}/models/${name}:predict`, body: predictBody(request) };
    }
    case "generations":
      return { url: "/api/v1/images/generations", body: generationBody(model, request) };
    case "edits":
      return { url: "/api/v1/images/edits", body: editForm(model, request) };
  }
}

const PASSTHROUGH = ["imageSize", "quality", "sampleImageSize"];

export function predictBody({ settings, prompt, inputs, mask, likeSdk }: RandomImageRequest): object {
  const bytes = ({ base64, mimeType }: InlineImage) => ({ bytesBase64Encoded: base64, mimeType });
  const raw = inputs.map((input, index) => {
    return { referenceType: "REFERENCE_TYPE_RAW", referenceId: index, referenceImage: bytes(input) };
  });
  const masked = mask && {
    referenceType: "REFERENCE_TYPE_MASK",
    referenceImage: bytes(mask),
    maskImageConfig: { maskMode: "MASK_MODE_USER_PROVIDED" },
  };
  const [only] = inputs;
  const given =
    only && inputs.length === 1 && !mask && !likeSdk
      ? { image: bytes(only) }
      : { referenceImages: [...raw, ...(masked ? [masked] : [])] };
  const atRoot = Object.entries(settings).filter(([name]) => likeSdk && PASSTHROUGH.includes(name));
  const inside = Object.entries(settings).filter(([name]) => !likeSdk || !PASSTHROUGH.includes(name));
  return { instances: [{ prompt, ...given }], parameters: Object.fromEntries(inside), ...Object.fromEntries(atRoot) };
}

export function generationBody(model: string, { settings, prompt, inputs }: RandomImageRequest): object {
  const image = inputs.map(({ mimeType, base64 }) => `data:${mimeType};base64,${base64}`);
  return { model, prompt, ...settings, ...(image.length === 0 ? {} : { image }) };
}

function editForm(model: string, { settings, prompt, inputs, mask }: RandomImageRequest): FormData {
  const form = new FormData();
  form.set("model", model);
  form.set("prompt", prompt);
  for (const [name, value] of Object.entries(settings)) form.set(name, String(value));
  const file = ({ base64, mimeType }: InlineImage) =>
    new File([Buffer.from(base64, "base64")], "fox", { type: mimeType });
  for (const input of inputs) form.append(inputs.length === 1 ? "image" : "image[]", file(input));
  if (mask) form.set("mask", file(mask));
  return form;
}

/** A refusal must be the gateway's: it comes before a host gets a request, and uses the client's name for the field. */
function judgeRefusal({ status, text }: Answer, request: RandomImageRequest, received: number): string[] {
  if (status !== 400) return [`status ${status}: ${text}`];
  if (received > 0) return [`refused by the host: ${text}`];
  const path = pathOf(text, request.door);
  return path !== undefined && ownPaths(request).some((own) => path === own || path.startsWith(`${own}[`))
    ? []
    : [`the refusal names ${path}, which is no path of the request: ${text}`];
}

function pathOf(text: string, door: RandomImageRequest["door"]): string | undefined {
  const { error } = JSON.parse(text) as {
    error: { param?: string | null; details?: { fieldViolations?: { field: string }[] }[] };
  };
  if (door !== "predict") return error.param ?? undefined;
  return error.details?.flatMap(({ fieldViolations = [] }) => fieldViolations)[0]?.field;
}

/** The fields that the client sent, and the images that it could have sent. */
function ownPaths({ door, settings, likeSdk }: RandomImageRequest): string[] {
  const names = Object.keys(settings);
  if (door !== "predict") return ["prompt", "image", "images", "image[]", "mask", ...names];
  const parameters = names.map((name) => (likeSdk && PASSTHROUGH.includes(name) ? name : `parameters.${name}`));
  return ["instances[0].prompt", "instances[0].image", "instances[0].referenceImages", ...parameters];
}

interface Made {
  base64: string;
  mimeType?: string;
}

async function judgeImagesMade(
  answer: Answer,
  request: RandomImageRequest,
  noted: ReadonlySet<string>,
): Promise<string[]> {
  const { door, settings } = request;
  const made = imagesOf(answer, request);
  if (typeof made === "string") return [made];
  const problems: string[] = [];
  const asked = Number(settings[door === "predict" ? "sampleCount" : "n"] ?? 1);
  if (made.length !== asked) problems.push(`${made.length} images instead of ${asked}: ${answer.text.slice(0, 400)}`);
  for (const { base64, mimeType } of made) {
    const { format, width, height } = await new Bun.Image(Buffer.from(base64, "base64")).metadata();
    const wanted = typeOf(request);
    if (wanted !== undefined && wanted !== `image/${format}`) problems.push(`a ${format} instead of ${wanted}`);
    if (mimeType !== undefined && mimeType !== `image/${format}`) problems.push(`a ${format} is called ${mimeType}`);
    problems.push(...judgeSize({ width, height }, request, noted));
  }
  return [...new Set(problems)];
}

function imagesOf({ text, headers }: Answer, { door, settings }: RandomImageRequest): Made[] | string {
  if (door === "predict") {
    const { predictions } = JSON.parse(text) as {
      predictions: { bytesBase64Encoded?: string; mimeType?: string }[];
    };
    const odd = predictions.find(({ bytesBase64Encoded }) => bytesBase64Encoded === undefined);
    if (odd) return `an element without an image: ${JSON.stringify(odd)}`;
    return predictions.map(({ bytesBase64Encoded = "", ...rest }) => ({ base64: bytesBase64Encoded, ...rest }));
  }
  if (settings["stream"] === true) {
    if (!headers.get("content-type")?.startsWith("text/event-stream")) return "no stream, although one was asked for";
    const events = [...text.matchAll(/^event: (.*)\ndata: (.*)$/gm)];
    const failure = events.find(([, name]) => name === "error");
    if (failure) return `an error in the stream: ${failure[2]}`;
    return events
      .filter(([, name = ""]) => name.endsWith(".completed"))
      .map(([, , data = "{}"]) => ({ base64: (JSON.parse(data) as { b64_json: string }).b64_json }));
  }
  const { data, errors } = JSON.parse(text) as { data: { b64_json: string }[]; errors?: unknown[] };
  return errors === undefined ? data.map(({ b64_json }) => ({ base64: b64_json })) : JSON.stringify(errors);
}

/** Contract 2.4: PNG by default there; the other endpoints keep the host's own type. */
function typeOf({ door, settings }: RandomImageRequest): string | undefined {
  if (door === "predict")
    return (settings["outputOptions"] as { mimeType?: string } | undefined)?.mimeType ?? "image/png";
  const format = settings["output_format"];
  return typeof format === "string" ? `image/${format}` : undefined;
}

/** What was requested and not noted must be met. */
function judgeSize(made: PixelSize, request: RandomImageRequest, noted: ReadonlySet<string>): string[] {
  const { door, settings, likeSdk } = request;
  const predict = door === "predict";
  const isNoted = (name: string) =>
    noted.has(predict && !(likeSdk && PASSTHROUGH.includes(name)) ? `parameters.${name}` : name);
  const facts = `${made.width}x${made.height}`;
  const problems: string[] = [];
  const sizeName = predict ? "imageSize" : "size";
  const word = settings[sizeName];
  const { size, tier } = (typeof word === "string" && readSize(word)) || {};
  if (size !== undefined && size !== "auto" && !isNoted(sizeName) && facts !== `${size.width}x${size.height}`) {
    problems.push(`${facts} instead of ${String(word)}`);
  }
  const ratioName = predict ? "aspectRatio" : "aspect_ratio";
  const ratio = readRatio(String(settings[ratioName] ?? ""));
  if (ratio !== undefined && !isNoted(ratioName) && ratioDistance(made.width / made.height, ratio) > SHAPE_TOLERANCE) {
    problems.push(`${facts} instead of ${ratioName} ${String(settings[ratioName])}`);
  }
  const tierName = typeof settings["sampleImageSize"] === "string" ? "sampleImageSize" : sizeName;
  const level = tierName === "sampleImageSize" ? String(settings["sampleImageSize"]).toUpperCase() : tier;
  // A wide image has the level's side as its longer one, and a smaller area: hosts make no side longer than the level's.
  const reaches = Math.max(made.width, made.height) >= Number.parseInt(level ?? "", 10) * 1024;
  if (level !== undefined && !isNoted(tierName) && tierOf(made) !== level && !reaches) {
    problems.push(`${facts} instead of ${tierName} ${level}`);
  }
  return problems;
}
