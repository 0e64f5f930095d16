import { accessSync, constants, existsSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { GatewayError } from "../canon/error.ts";
import { UsageError } from "./command.ts";

/** `fox.png` with the suffix `-2` is `fox-2.png`. */
export function withSuffix(path: string, suffix: string): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}${suffix}${ext}`);
}

/** A single file has the given name; several are numbered from 1. */
export const numbered = (path: string, index: number, count: number): string =>
  count === 1 ? path : withSuffix(path, `-${index + 1}`);

/** Checks that these files can be written before anything is paid for. */
export function checkOutput(paths: readonly string[], force: boolean): void {
  for (const path of paths) {
    const folder = dirname(path);
    try {
      accessSync(folder, constants.W_OK);
    } catch (cause) {
      throw new UsageError(`-o: cannot write to the folder "${folder}".`, { cause });
    }
    if (!existsSync(path)) continue;
    if (statSync(path).isDirectory()) throw new UsageError(`-o: "${path}" is a folder.`);
    if (!force) throw new UsageError(`"${path}" already exists. Pass --force to overwrite it.`);
  }
}

interface FileToWrite {
  path: string;
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  force: boolean;
}

/** Writes to a temporary file first, so that the output file is always complete. Returns its size in bytes. */
export async function writeOutput({ path, content, force }: FileToWrite): Promise<number> {
  const temporary = `${path}.${process.pid}.part`;
  let kept = false;
  try {
    const file = await open(temporary, "w");
    let bytes = 0;
    try {
      for await (const chunk of content) {
        await file.writeFile(chunk);
        bytes += chunk.length;
      }
    } finally {
      await file.close();
    }
    if (!force && existsSync(path)) {
      kept = true;
      throw new GatewayError(
        "invalid_request",
        `"${path}" was created by another program in the meantime. The output is in "${temporary}".`,
      );
    }
    await rename(temporary, path);
    return bytes;
  } catch (cause) {
    if (!(cause instanceof Error && "syscall" in cause)) throw cause;
    throw new GatewayError("internal", `Cannot write "${path}": ${cause.message}`, { cause });
  } finally {
    if (!kept) await rm(temporary, { force: true });
  }
}
