import { wantsColour } from "../observe/format.ts";

export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  green(text: string): string;
  red(text: string): string;
}

/** Colours on a terminal that supports them; plain text elsewhere. */
export function paintFor({ isTTY = false }: { isTTY?: boolean }): Paint {
  const on = isTTY && wantsColour(process.env);
  const paint = (code: number) => (text: string) => (on ? `\x1b[${code}m${text}\x1b[0m` : text);
  return { bold: paint(1), dim: paint(2), green: paint(32), red: paint(31) };
}
