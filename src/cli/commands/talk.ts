import { statSync } from "node:fs";
import { loadVoice } from "../../app/load-simulator.ts";
import { AudioConverter } from "../../audio/audio-converter.ts";
import { wavHead } from "../../wire/wav-head.ts";
import { type Paint, paintFor } from "../colour.ts";
import { defineCommand, EXIT, printJson, UsageError } from "../command.ts";
import { CONNECTION_FLAGS, connect, type GatewayClient } from "../gateway-client.ts";
import { checkOutput, writeOutput } from "../output-file.ts";
import { printable } from "../printable.ts";
import { liveTalk } from "../talk/live-talk.ts";
import { type Recording, readWav } from "../talk/read-wav.ts";
import { realtimeTalk } from "../talk/realtime-talk.ts";
import { convertAll, OUTPUT_RATE, type TalkAnswer, type TalkProtocol, type TalkRequest } from "../talk/talk.ts";
import { TalkSocket } from "../talk/talk-socket.ts";

const PROTOCOLS: Readonly<Record<string, TalkProtocol>> = { realtime: realtimeTalk, live: liveTalk };
const GREETING = "Hello! Can you hear me?";
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const MAX_PACE = 1_000;
/** Rates with a common divisor need a shorter filter. The pitch changes by less than one in three hundred. */
const RATE_STEP = 25;

export const talk = defineCommand({
  flags: {
    text: { type: "string", value: "TEXT", about: "write this instead of speaking" },
    output: { type: "string", short: "o", value: "FILE", about: "write the answer to this WAV file" },
    force: { type: "boolean", default: false, about: "overwrite an existing file" },
    model: { type: "string", value: "M", about: "PROVIDER/MODEL (default: sim/realtime, or sim/live)" },
    protocol: { type: "string", default: "realtime", value: "NAME", about: "realtime or live" },
    instructions: { type: "string", value: "TEXT", about: "system instructions" },
    voice: { type: "string", value: "NAME", about: "voice of the answer" },
    pace: { type: "string", default: "1", value: "N", about: "send the recording N times faster; 0 for no pauses" },
    ...CONNECTION_FLAGS,
  },
  takes: 1,
  run: async ({ values, positionals: [file] }) => {
    const { output, force, instructions, voice, text, json } = values;
    if (file !== undefined && text !== undefined) throw new UsageError("Pass either a WAV file or --text, not both.");
    if (text?.trim() === "") throw new UsageError("--text is empty.");
    const protocol = Object.hasOwn(PROTOCOLS, values.protocol) ? PROTOCOLS[values.protocol] : undefined;
    if (protocol === undefined)
      throw new UsageError(`--protocol: "${values.protocol}" is not one of ${Object.keys(PROTOCOLS).join(", ")}.`);
    const pace = readPace(values.pace);
    if (output !== undefined) checkOutput([output], force);
    const input = text === undefined ? { sound: soundFor(await recordingOf(file), protocol) } : { text };

    const client = await connect(values);
    const model = await client.chooseModel(values.model, `sim/${values.protocol}`, "audio");
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    const shown = new Shown(json, model, text ?? (file === undefined ? GREETING : undefined));
    const request: TalkRequest = {
      ...{ model, input, instructions, voice, pace, signal: stop.signal },
      onHeard: (words) => shown.heard(words),
      onSaid: (words) => shown.said(words),
    };
    const answer = await talkOnce(client, protocol, request);
    if (answer === undefined) return EXIT.interrupted;
    const seconds = answer.sound.length / 2 / OUTPUT_RATE;
    if (output !== undefined) await writeOutput({ path: output, content: wavOf(answer.sound), force });
    const cost = answer.receipt === undefined ? undefined : await client.costOf(answer.receipt);
    if (json) printJson(tellPrograms(answer, { model, seconds, cost, output }));
    else shown.end(answer, { seconds, cost, output });
    return answer.status.startsWith("completed") ? EXIT.ok : EXIT.failed;
  },
});

function readPace(text: string): number {
  const pace = Number(text);
  if (text.trim() !== "" && pace >= 0 && pace <= MAX_PACE) return pace;
  throw new UsageError(`--pace: "${text}" is not a number from 0 to ${MAX_PACE}.`);
}

/** The file's, or a greeting in the voice of the simulator. */
async function recordingOf(file: string | undefined): Promise<Recording> {
  if (file === undefined) return (await loadVoice()).sayAloud(GREETING);
  let size: number;
  try {
    size = statSync(file).size;
  } catch (cause) {
    throw new UsageError(`Cannot read "${file}": ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (size > MAX_FILE_BYTES) throw new UsageError(`"${file}" is larger than ${MAX_FILE_BYTES / 1024 ** 2} MB.`);
  return readWav(await Bun.file(file).bytes(), file);
}

function soundFor({ samples, rate }: Recording, { input }: TalkProtocol): Uint8Array {
  const from = Math.round(rate / RATE_STEP) * RATE_STEP;
  return convertAll(new AudioConverter({ type: "pcm", rate: from }, input), samples);
}

const wavOf = (sound: Uint8Array): Uint8Array[] => [wavHead(sound.length, OUTPUT_RATE), sound];

/** Undefined if the user interrupts it. */
async function talkOnce(
  client: GatewayClient,
  protocol: TalkProtocol,
  request: TalkRequest,
): Promise<TalkAnswer | undefined> {
  const { signal } = request;
  const socket = await TalkSocket.open(client.url + protocol.path(request.model), protocol.headers(client.key));
  const interrupted = new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
  try {
    return await Promise.race([protocol.talk(socket, request), interrupted]);
  } finally {
    socket.close();
  }
}

interface End {
  seconds: number;
  cost: number | undefined;
  output: string | undefined;
}

/** What a person sees while the answer arrives. */
class Shown {
  readonly #silent: boolean;
  readonly #model: string;
  readonly #paint: Paint = paintFor(process.stdout);
  #hasHeard = false;
  #isSaying = false;

  constructor(silent: boolean, model: string, own: string | undefined) {
    this.#silent = silent;
    this.#model = model;
    if (own !== undefined) this.heard(own);
  }

  /** Words that are known from the beginning are not shown again. */
  heard(words: string): void {
    if (this.#silent || this.#hasHeard) return;
    this.#hasHeard = true;
    if (this.#isSaying) process.stdout.write("\n");
    this.#isSaying = false;
    console.log(`${this.#paint.green("you")}  ${printable(words)}`);
  }

  said(words: string): void {
    if (this.#silent) return;
    if (!this.#isSaying) process.stdout.write(`${this.#paint.bold(this.#model)}  `);
    this.#isSaying = true;
    process.stdout.write(printable(words));
  }

  end({ firstSoundMs, usage, session, receipt, status }: TalkAnswer, { seconds, cost, output }: End): void {
    if (this.#isSaying) process.stdout.write("\n");
    const first = firstSoundMs === undefined ? "" : `, the first after ${Math.round(firstSoundMs)} ms`;
    const tokens = `${usage.input ?? "?"} tokens in, ${usage.output ?? "?"} out`;
    const lines = [`${seconds.toFixed(1)} s of sound${first}; ${tokens}`];
    if (!status.startsWith("completed")) lines.push(`ended as ${status}`);
    if (receipt !== undefined) lines.push(`receipt ${receipt}${cost === undefined ? "" : `, $${cost.toFixed(6)}`}`);
    else if (session !== undefined) lines.push(`session ${session}`);
    if (output !== undefined) lines.push(`written to ${output}`);
    for (const line of lines) process.stderr.write(`${this.#paint.dim(line)}\n`);
  }
}

const tellPrograms = (
  { heard, said, firstSoundMs, usage, session, receipt, status }: TalkAnswer,
  end: End & { model: string },
) => ({
  model: end.model,
  heard: heard ?? null,
  said,
  status,
  seconds: end.seconds,
  first_sound_ms: firstSoundMs === undefined ? null : Math.round(firstSoundMs),
  usage: { input_tokens: usage.input ?? null, output_tokens: usage.output ?? null },
  session: session ?? null,
  receipt: receipt ?? null,
  cost_usd: end.cost ?? null,
  output: end.output ?? null,
});
