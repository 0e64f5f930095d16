import { UsageError } from "../command.ts";

/** The user pressed Ctrl-C, or closed the input, at a question. */
export class AskingEnded extends Error {}

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const CTRL_U = "\u0015";
const BACKSPACES = ["\u007f", "\b"];
const ENDS = ["\r", "\n"];
/** Escape sequences that terminals send around pasted text and for special keys. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const SEQUENCE = /\u001b\[[0-9;]*[A-Za-z~]/g;
/** More than any key has. */
const MAX_CHARACTERS = 10_000;

/** Asks a person at a terminal. `hidden`: what is typed is not shown. */
export async function ask(question: string, { hidden = false } = {}): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) throw new UsageError("Standard input is not a terminal, so this command cannot prompt for input.");
  // Set before the prompt, so that early typing is not echoed.
  stdin.setRawMode(true);
  stderr.write(question);
  try {
    return await readLine(hidden);
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write("\n");
  }
}

/** Input after the end of a line, for the next prompt: several lines may be pasted at once. */
let ahead = "";

async function readLine(hidden: boolean): Promise<string> {
  let line = "";
  /** Returns whether the line is complete. */
  const take = (character: string): boolean => {
    if (character === CTRL_C || (character === CTRL_D && line === "")) throw new AskingEnded();
    if (ENDS.includes(character)) return true;
    if (character === CTRL_U) line = "";
    else if (BACKSPACES.includes(character)) {
      if (line !== "" && !hidden) process.stderr.write("\b \b");
      line = line.slice(0, -1);
    } else if (character >= " " && line.length < MAX_CHARACTERS) {
      line += character;
      if (!hidden) process.stderr.write(character);
    }
    return false;
  };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const read = (chunk: Buffer | string): void => {
    const text = ahead + chunk.toString().replaceAll("\r\n", "\n").replaceAll(SEQUENCE, "");
    ahead = "";
    try {
      for (let at = 0; at < text.length; at++) {
        if (!take(text.charAt(at))) continue;
        ahead = text.slice(at + 1);
        resolve(line);
        return;
      }
    } catch (thrown) {
      reject(thrown);
    }
  };
  const end = () => reject(new AskingEnded());
  process.stdin.on("data", read).on("end", end).resume();
  if (ahead !== "") read("");
  try {
    return await promise;
  } finally {
    process.stdin.off("data", read).off("end", end);
  }
}

export async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());
}
