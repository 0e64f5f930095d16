import { createInterface } from "node:readline";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import { askModel, type ChatAnswer, type PromptMessage } from "../chat-answer.ts";
import { paintFor } from "../colour.ts";
import { defineCommand, EXIT, type Given, printJson, UsageError } from "../command.ts";
import { CONNECTION_FLAGS, connect, type GatewayClient } from "../gateway-client.ts";
import { printable } from "../printable.ts";

const FLAGS = {
  system: { type: "string", value: "TEXT", about: "system message" },
  ...CONNECTION_FLAGS,
} as const;

const HELP = "Type /model NAME to change the model, /exit or Ctrl-D to quit, Ctrl-C to stop a response.";

export const chat = defineCommand({
  flags: FLAGS,
  takes: 1,
  run: async ({ values, positionals: [named] }) => {
    const interactive = process.stdin.isTTY === true;
    if (interactive && values.json)
      throw new UsageError("--json requires piped input, such as: echo hi | trivium chat --json");
    const client = await connect(values);
    const model = named ?? (await client.chooseModel(undefined, "sim/standard", "text"));
    const session = new Session(client, model, values);
    return interactive ? converse(session) : askOnce(session, values.json);
  },
});

/** One conversation: its model and its messages so far. */
class Session {
  model: string;
  readonly #client: GatewayClient;
  readonly #messages: PromptMessage[] = [];
  #stop: AbortController | undefined;

  constructor(client: GatewayClient, model: string, { system }: Given<typeof FLAGS>["values"]) {
    this.#client = client;
    this.model = model;
    if (system !== undefined) this.#messages.push({ role: "system", content: system });
  }

  /** Whether a request is in flight. */
  get asking(): boolean {
    return this.#stop !== undefined;
  }

  stop(): void {
    this.#stop?.abort();
  }

  /** A failed prompt does not become part of the conversation. */
  async ask(question: string, onText: (text: string) => void): Promise<ChatAnswer> {
    const asked: PromptMessage = { role: "user", content: question };
    this.#stop = new AbortController();
    try {
      const { signal } = this.#stop;
      const messages = [...this.#messages, asked];
      const answer = await askModel({ client: this.#client, model: this.model, messages, signal, onText });
      if (answer.content !== "") this.#messages.push(asked, { role: "assistant", content: answer.content });
      return answer;
    } finally {
      this.#stop = undefined;
    }
  }
}

/** Reads the prompt from standard input and writes the response to standard output. */
async function askOnce(session: Session, json: boolean): Promise<number> {
  const question = (await Bun.stdin.text()).trim();
  if (question === "")
    throw new UsageError("Standard input is empty. Pipe a prompt, such as: echo hi | trivium chat sim/standard");
  const stop = () => session.stop();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  const shown = process.stdout.isTTY === true;
  const answer = await session.ask(question, (text) => {
    if (!json) process.stdout.write(shown ? printable(text) : text);
  });
  if (json) printJson(tellPrograms(answer));
  else {
    process.stdout.write("\n");
    process.stderr.write(`${paintFor(process.stderr).dim(summary(answer))}\n`);
  }
  return answer.stopped ? EXIT.interrupted : EXIT.ok;
}

/** An interactive chat on a terminal. */
async function converse(session: Session): Promise<number> {
  const paint = paintFor(process.stdout);
  console.log(`${paint.bold(session.model)}  ${paint.dim(HELP)}`);
  const prompt = paint.green("> ");
  const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: true, prompt });
  // The terminal sends no signal while its keys are read one by one: the reader reports Ctrl-C.
  lines.on("SIGINT", () => {
    if (session.asking) session.stop();
    else {
      process.stdout.write(`\n${paint.dim("(type /exit or press Ctrl-D to quit)")}\n`);
      lines.prompt();
    }
  });
  process.on("SIGTERM", () => lines.close());
  lines.prompt();
  for await (const line of lines) {
    const question = line.trim();
    if (question === "/exit" || question === "/quit") break;
    if (question.startsWith("/")) console.log(paint.dim(obey(question, session)));
    else if (question !== "") await answerTo(question, session, paint);
    lines.prompt();
  }
  lines.close();
  return EXIT.ok;
}

function obey(order: string, session: Session): string {
  const [word, name] = order.split(/\s+/);
  if (word !== "/model") return word === "/help" ? HELP : `Unknown command ${word}. ${HELP}`;
  if (name) session.model = name;
  return `model: ${session.model}`;
}

async function answerTo(question: string, session: Session, paint: ReturnType<typeof paintFor>): Promise<void> {
  try {
    const answer = await session.ask(question, (text) => process.stdout.write(printable(text)));
    process.stdout.write(`\n${paint.dim(summary(answer))}\n`);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    process.stdout.write(`\n${paint.red(printable(asGatewayError(thrown).message))}\n`);
  }
}

function summary({ inputTokens, outputTokens, costUsd, stopped }: ChatAnswer): string {
  if (stopped) return "stopped";
  const tokens = `${inputTokens ?? "?"} in, ${outputTokens ?? "?"} out`;
  return `${tokens}, ${costUsd === undefined ? "cost unknown" : `$${costUsd.toFixed(6)}`}`;
}

const tellPrograms = ({ model, content, inputTokens, outputTokens, costUsd, receipt, stopped }: ChatAnswer) => ({
  model,
  content,
  usage: { input_tokens: inputTokens ?? null, output_tokens: outputTokens ?? null },
  cost_usd: costUsd ?? null,
  receipt,
  stopped,
});
