import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import { readOperationName } from "../../media/predict-long-running/operation-name.ts";
import { awaitOperation } from "../await-operation.ts";
import { defineCommand, EXIT, type Given, UsageError } from "../command.ts";
import { CONNECTION_FLAGS, connect, type GatewayClient, readJson, UnheardError } from "../gateway-client.ts";
import { MAX_RESULTS, readImageFile } from "../media-flags.ts";
import { checkOutput, numbered, writeOutput } from "../output-file.ts";
import { ProgressLine } from "../progress-line.ts";
import { type MediaOutcome, readAbout, reportMedia } from "../report-media.ts";
import { readWholeNumber } from "../whole-number.ts";

const SUBMIT_TIMEOUT_MS = 5 * 60_000;
const DOWNLOAD_TIMEOUT_MS = 30 * 60_000;
const UNHEARD =
  "It is unknown whether the job was accepted. You can repeat the command within ten minutes without creating a second video.";

const FLAGS = {
  output: { type: "string", short: "o", value: "FILE", about: "output file; numbered if there is more than one video" },
  force: { type: "boolean", default: false, about: "overwrite existing files" },
  operation: { type: "string", value: "NAME", about: "resume waiting for this operation" },
  model: { type: "string", value: "M", about: "PROVIDER/MODEL (default: sim/video)" },
  n: { type: "string", value: "N", about: "number of videos" },
  seconds: { type: "string", value: "N", about: "length in seconds" },
  resolution: { type: "string", value: "WORD", about: "resolution, such as 720p" },
  ratio: { type: "string", value: "RATIO", about: "aspect ratio, such as 16:9" },
  image: { type: "string", value: "FILE", about: "image to use as the first frame" },
  "last-frame": { type: "string", value: "FILE", about: "image to use as the last frame" },
  audio: { type: "boolean", about: "generate sound" },
  "no-audio": { type: "boolean", about: "do not generate sound" },
  seed: { type: "string", value: "N", about: "seed for reproducible videos, if the model supports it" },
  ...CONNECTION_FLAGS,
} as const;

type Values = Given<typeof FLAGS>["values"];

export const video = defineCommand({
  flags: FLAGS,
  takes: 1,
  run: async ({ values, positionals: [prompt] }) => {
    const { output } = values;
    if (!output) throw new UsageError("Missing output file. Pass it with -o, such as -o cat.mp4.");
    const request = values.operation === undefined ? readRequest(values, prompt || undefined) : undefined;
    if (!request) checkResumption(values, prompt);
    const count = request?.parameters.sampleCount ?? 1;
    checkOutput(
      Array.from({ length: count }, (_, index) => numbered(output, index, count)),
      values.force,
    );
    const client = await connect(values);
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
    const making: Making = { client, values, output, signal: stopping.signal };
    const submitted = request ? await submit(request, making) : { name: values.operation ?? "", about: {} };
    return submitted === undefined ? EXIT.interrupted : seeThrough(submitted, making);
  },
});

interface Making {
  client: GatewayClient;
  values: Values;
  output: string;
  /** The user pressed Ctrl-C. */
  signal: AbortSignal;
}

interface Submitted {
  name: string;
  about: JsonObject;
}

interface VideoBody {
  instances: JsonObject[];
  parameters: JsonObject & { sampleCount: number };
}

/** Contract 2.1. */
function readRequest(values: Values, prompt: string | undefined): VideoBody {
  const frame = (flag: "image" | "last-frame") => {
    const path = values[flag];
    if (path === undefined) return undefined;
    const { bytes, mimeType } = readImageFile(`--${flag}`, path);
    return { bytesBase64Encoded: Buffer.from(bytes).toString("base64"), mimeType };
  };
  const [first, last] = [frame("image"), frame("last-frame")];
  if (!prompt && !first) throw new UsageError("Missing prompt. Describe the video in quotes, or pass --image.");
  if (values.audio && values["no-audio"]) throw new UsageError("--audio and --no-audio cannot be combined.");
  const seconds = readWholeNumber("--seconds", values.seconds, 1);
  const seed = readWholeNumber("--seed", values.seed);
  const audio = values.audio ? true : values["no-audio"] ? false : undefined;
  return {
    instances: [withoutAbsent({ prompt, image: first, lastFrame: last })],
    parameters: {
      sampleCount: readWholeNumber("--n", values.n, 1, MAX_RESULTS) ?? 1,
      ...withoutAbsent({
        durationSeconds: seconds,
        resolution: values.resolution,
        aspectRatio: values.ratio,
        generateAudio: audio,
        seed,
      }),
    },
  };
}

const WITH_OPERATION = ["config", "json", ...Object.keys(CONNECTION_FLAGS), "operation", "output", "force"];

/** Options of the video cannot be changed after it was submitted. */
function checkResumption(values: Values, prompt: string | undefined): void {
  const more = Object.keys(values).find((flag) => !WITH_OPERATION.includes(flag));
  if (more !== undefined || prompt !== undefined) {
    const what = more === undefined ? "a prompt" : `--${more}`;
    throw new UsageError(`--operation resumes a submitted video, so ${what} cannot be passed with it.`);
  }
  try {
    readOperationName(values.operation ?? "");
  } catch (cause) {
    throw new UsageError(`--operation: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** Undefined if the user interrupted it. */
async function submit(body: VideoBody, { client, values, signal }: Making): Promise<Submitted | undefined> {
  const model = await client.chooseModel(values.model, "sim/video", "video");
  const [publisher = "", name = ""] = model.split("/").map(encodeURIComponent);
  const path = `/api/genai/v1/publishers/${publisher}/models/${name}:predictLongRunning`;
  try {
    const response = await client.post(path, { ...body }, { signal, timeoutMs: SUBMIT_TIMEOUT_MS });
    const about = readAbout(response);
    return { name: stringAt(await readJson(response), "name") ?? "", about };
  } catch (error) {
    if (signal.aborted) {
      console.error(`Interrupted. ${UNHEARD}`);
      return undefined;
    }
    throw error instanceof UnheardError ? error.withMessage(`${error.message} ${UNHEARD}`) : error;
  }
}

/**
 * Waits for an operation and writes its files. The name is printed first, so that the video is not lost if this process ends.
 */
async function seeThrough({ name, about }: Submitted, making: Making): Promise<number> {
  const { client, values, output, signal } = making;
  console.error(`Operation ${name}`);
  const { model } = readOperationName(name);
  const progress = new ProgressLine(model, process.stderr, Date.now);
  try {
    const onProgress = (percent: number | undefined) => progress.set(percent);
    const operation = await awaitOperation(client, name, { signal, onProgress, nowMs: Date.now });
    const outcome = await writeVideos(operation, making);
    progress.stop();
    return reportMedia(outcome, { model, operation: name, ...about }, values.json);
  } catch (error) {
    progress.stop();
    if (!signal.aborted && error instanceof GatewayError && error.kind === "not_found") throw error;
    const resume = `The video is still available. Resume with:\n  ${resumeLine(name, output, values)}`;
    if (signal.aborted) {
      console.error(`Interrupted. ${resume}`);
      return EXIT.interrupted;
    }
    if (error instanceof UsageError) throw new UsageError(`${error.message}\n${resume}`, { cause: error });
    throw error instanceof GatewayError ? error.withMessage(`${error.message}\n${resume}`) : error;
  }
}

async function writeVideos(operation: JsonObject, making: Making): Promise<MediaOutcome> {
  const { client, values, output, signal } = making;
  const notMade = readNotMade(operation);
  const videos = arrayAt(objectAt(operation, "response"), "videos");
  const count = videos.length + notMade.length;
  const paths = videos.map((_, index) => numbered(output, index, count));
  checkOutput(paths, values.force);
  const files: MediaOutcome["files"] = [];
  for (const [index, made] of videos.entries()) {
    const url = stringAt(made, "gcsUri");
    const path = paths[index] ?? output;
    if (url === undefined) {
      notMade.push({ reason: "The video was generated but has expired.", moderated: false });
      continue;
    }
    const content = client.download(url, { signal, timeoutMs: DOWNLOAD_TIMEOUT_MS });
    const bytes = await writeOutput({ path, content, force: values.force });
    files.push({ path, mime_type: stringAt(made, "mimeType") ?? "video/mp4", bytes });
  }
  return { files, notMade };
}

/** One entry for each missing video. */
function readNotMade(operation: JsonObject): MediaOutcome["notMade"] {
  const response = objectAt(operation, "response");
  const reasons = arrayAt(response, "raiMediaFilteredReasons");
  const heldBack = Array.from({ length: numberAt(response, "raiMediaFilteredCount") ?? 0 }, (_, index) => ({
    reason: String(reasons[index] ?? "no reason given"),
    moderated: true,
  }));
  const error = objectAt(operation, "error");
  const failures = [...(error ? [error] : []), ...arrayAt(objectAt(operation, "metadata"), "failures")];
  const reasonOf = (failure: unknown) =>
    stringAt(failure, "message") ?? "The video was not generated. The provider gave no reason.";
  return [...heldBack, ...failures.map((failure) => ({ reason: reasonOf(failure), moderated: false }))];
}

/** The key is not part of the line: it would stay in the shell's history. */
function resumeLine(name: string, output: string, { url, config, force }: Values): string {
  const words = ["trivium", "video", "--operation", name, "-o", output];
  if (url !== undefined) words.push("--url", url);
  if (config !== undefined) words.push("--config", config);
  if (force) words.push("--force");
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}
