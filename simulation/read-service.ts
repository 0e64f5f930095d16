import type { ServicePlan } from "./scenario.ts";
import { scoreOf, textOf, vectorOf } from "./service-wires.ts";

/** What a client makes of the bytes it has read. */
export interface ReadService {
  /** Number of proper ends, and errors in the client's protocol. */
  terminals: number;
  errors: number;
  /** It had content before it ended. */
  content: string;
  wrong: string[];
}

/** Reads a complete response or, if `isEnded` is false, as much of it as arrived. */
export function readService(plan: ServicePlan, status: number, bytes: Buffer, isEnded: boolean): ReadService {
  const read: ReadService = { terminals: 0, errors: 0, content: "", wrong: [] };
  try {
    if (status !== 200) readError(JSON.parse(bytes.toString()), read);
    else if (plan.service === "speech") readSound(plan, bytes, isEnded, read);
    else if (plan.stream) readEvents(plan, bytes.toString(), isEnded, read);
    else if (isEnded) readBody(plan, JSON.parse(bytes.toString()), read);
  } catch (error) {
    read.wrong.push(`not readable (${String(error)}): ${bytes.toString().slice(0, 200)}`);
  }
  return read;
}

/** JSON, as far as a reader needs it. */
// biome-ignore lint/suspicious/noExplicitAny: a reader of answers looks into what may be anything, and throws where it is not what it should be
type Json = any;

function readError(value: Json, read: ReadService): void {
  if (typeof value.error.message === "string") read.errors++;
  else read.wrong.push(`no error: ${JSON.stringify(value).slice(0, 200)}`);
}

function readSound(plan: ServicePlan, bytes: Buffer, isEnded: boolean, read: ReadService): void {
  read.content = bytes.toString();
  const whole = textOf(plan);
  if (isEnded ? read.content !== whole : !whole.startsWith(read.content))
    read.wrong.push(`other sound: ${read.content.slice(0, 200)}`);
  if (isEnded) read.terminals++;
}

function readEvents(plan: ServicePlan, text: string, isEnded: boolean, read: ReadService): void {
  const frames = text.split("\n\n");
  const rest = frames.pop();
  if (isEnded && rest !== "") read.wrong.push(`it ends in the middle of an event: ${rest?.slice(0, 100)}`);
  let finished = false;
  for (const frame of frames) {
    if (!frame.startsWith("data: ")) continue;
    const data = frame.slice("data: ".length);
    if (read.terminals + read.errors > 0) read.wrong.push(`an event after the end: ${data.slice(0, 100)}`);
    const event: Json = data === "[DONE]" ? { done: true } : JSON.parse(data);
    if (event.error !== undefined) read.errors++;
    else if (event.done) read.terminals += finished ? 1 : 0;
    else if (event.type === "transcript.text.delta") read.content += event.delta;
    else if (event.type === "transcript.text.done") {
      read.terminals++;
      if (event.text !== textOf(plan)) read.wrong.push(`another text: ${event.text}`);
    } else {
      for (const choice of event.choices) read.content += choice.text;
      finished ||= event.choices.some((choice: Json) => choice.finish_reason === "stop");
    }
  }
  const whole = textOf(plan);
  if (read.terminals > 0 ? read.content !== whole : !whole.startsWith(read.content))
    read.wrong.push(`text is lost or repeated: ${read.content.slice(0, 200)}`);
}

function readBody(plan: ServicePlan, body: Json, read: ReadService): void {
  const expect = (holds: boolean, what: string) => void (holds || read.wrong.push(what));
  read.terminals++;
  const { id, size, service } = plan;
  switch (service) {
    case "embeddings":
      expect(body.data.length === size, `${body.data.length} vectors for ${size} inputs`);
      for (const [index, { embedding, index: place }] of body.data.entries()) {
        const bytes = Buffer.from(typeof embedding === "string" ? embedding : "", "base64");
        const vector = typeof embedding === "string" ? [0, 4, 8].map((at) => bytes.readFloatLE(at)) : embedding;
        const right = place === index && JSON.stringify(vector) === JSON.stringify(vectorOf(id, index));
        expect(right, `the vector ${JSON.stringify(vector)} at ${index}`);
      }
      return;
    case "rerank": {
      const results: Json[] = body.results;
      const places = new Set(results.map(({ index }) => index));
      expect(places.size === size && results.length === size, `${results.length} results of ${size} documents`);
      for (const [at, { index, relevance_score }] of results.entries()) {
        expect(relevance_score === scoreOf(id, index), `the document ${index} has the score ${relevance_score}`);
        expect(at === 0 || results[at - 1].relevance_score >= relevance_score, "results out of order");
      }
      return;
    }
    case "transcriptions":
      expect(body.text === textOf(plan), `another text: ${body.text}`);
      return;
    case "completions":
      expect(body.choices[0].text === textOf(plan), `another text: ${body.choices[0].text}`);
      return;
    case "moderations":
      expect(body.results[0].flagged === (id % 2 === 0), "another judgement");
      return;
  }
}
