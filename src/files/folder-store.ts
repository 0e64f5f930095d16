import {
  access,
  constants,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { errorCode, unlessMissing } from "../base/error-code.ts";
import type { Sources } from "../base/sources.ts";
import { withTimeout } from "../base/with-timeout.ts";
import { GatewayError } from "../canon/error.ts";
import { boundedContent } from "./bounded-content.ts";
import {
  type ByteRange,
  checkedFileName,
  FILE_NAME,
  type FileContent,
  type FileStore,
  type ListedFile,
  type OpenFile,
} from "./file-store.ts";

/** No writer is silent for this long, so an older temporary file has no writer any more. */
const UNFINISHED_MS = 10 * 60_000;

/** The file in the folder that names it. */
const IDENTITY = ".trivium-store";

/** A network disk may hang; no step on a working disk takes this long (H29). */
const DISK_MS = 60_000;

/** Files in one folder of this machine, or of a disk that several instances share. */
export class FolderStore implements FileStore {
  readonly #folder: string;
  readonly #sources: Sources;
  readonly #diskMs: number;
  readonly #names: RegExp;
  readonly #temporary: RegExp;

  private constructor(folder: string, sources: Sources, diskMs: number, names: string) {
    this.#folder = folder;
    this.#sources = sources;
    this.#diskMs = diskMs;
    this.#names = new RegExp(`^${names}$`);
    this.#temporary = new RegExp(`^${names}\\.[\\w-]{22,36}\\.part$`);
  }

  /** `names` is the form of the names, as the source of a pattern. */
  static async open(folder: string, sources: Sources, diskMs = DISK_MS, names = FILE_NAME): Promise<FolderStore> {
    const { clock } = sources;
    try {
      await withTimeout(mkdir(folder, { recursive: true, mode: 0o700 }), DISK_MS, clock, hangs);
      // A folder without write access fails now, not with the first paid video.
      await withTimeout(access(folder, constants.R_OK | constants.W_OK | constants.X_OK), DISK_MS, clock, hangs);
    } catch (cause) {
      // The operator reads this and needs the path.
      const code = errorCode(cause) ?? "unknown reason";
      const message = `The folder ${folder} of the file store cannot be used: ${code}.`;
      throw new GatewayError("internal", message, { cause });
    }
    return new FolderStore(folder, sources, diskMs, names);
  }

  async put(name: string, content: FileContent, maxBytes: number): Promise<{ size: number }> {
    const path = this.#path(name);
    const temporary = `${path}.${this.#sources.random.id()}.part`;
    try {
      const size = await this.#write(temporary, content, maxBytes);
      await this.#onDisk(async () => {
        await rename(temporary, path);
        await this.#settleNames();
      });
      return { size };
    } catch (thrown) {
      // A file that cannot be removed now is swept later, with those of killed writers.
      await this.#onDisk(() => rm(temporary, { force: true })).catch(() => undefined);
      throw thrown;
    }
  }

  async open(name: string, range?: ByteRange): Promise<OpenFile | undefined> {
    const path = this.#path(name);
    const found = await this.#onDisk(() => unlessMissing(stat(path), "ENOENT"));
    if (found === undefined) return undefined;
    const { start, end } = range ?? { start: 0, end: found.size };
    // The runtime opens the file when the stream is first read, and closes it when it is done or cancelled.
    return { stream: Bun.file(path).slice(start, end).stream(), size: found.size };
  }

  async remove(name: string): Promise<void> {
    const path = this.#path(name);
    await this.#onDisk(() => rm(path, { force: true }));
  }

  async *list(): AsyncGenerator<ListedFile> {
    for (const name of await this.#namesIn((one) => this.#names.test(one))) {
      const found = await this.#onDisk(() => unlessMissing(stat(join(this.#folder, name)), "ENOENT"));
      if (found?.isFile()) yield { name, writtenAtMs: found.mtimeMs };
    }
  }

  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await this.#onDisk(() => statfs(this.#folder));
    return bavail * bsize;
  }

  identity(): Promise<string> {
    const path = join(this.#folder, IDENTITY);
    const read = () => unlessMissing(readFile(path, "utf8"), "ENOENT");
    return this.#onDisk(async () => {
      const found = await read();
      if (found !== undefined) return found.trim();
      // Whole from the first moment, and of those who start at once only one gives the name.
      const [made, own] = [`folder ${this.#sources.random.id()}`, `${path}.${this.#sources.random.id()}`];
      await writeFile(own, `${made}\n`, { mode: 0o600 });
      await link(own, path).catch((thrown: unknown) => {
        // A disk without links: the last of several names counts.
        if (errorCode(thrown) !== "EEXIST") return rename(own, path);
      });
      await rm(own, { force: true });
      return (await read())?.trim() ?? made;
    });
  }

  async removeUnfinished(nowMs: number): Promise<void> {
    for (const name of await this.#namesIn((one) => this.#temporary.test(one))) {
      const path = join(this.#folder, name);
      await this.#onDisk(async () => {
        const found = await unlessMissing(stat(path), "ENOENT");
        if (found && found.mtimeMs < nowMs - UNFINISHED_MS) await rm(path, { force: true });
      });
    }
  }

  async #write(path: string, content: FileContent, maxBytes: number): Promise<number> {
    const handle = await this.#onDisk(() => open(path, "wx", 0o600));
    try {
      let size = 0;
      for await (const chunk of boundedContent(content, { maxBytes }, this.#sources.clock)) {
        await this.#onDisk(() => writeWhole(handle, chunk));
        size += chunk.length;
      }
      // Before it gets its name: after a power cut, no name may refer to bytes that never reached the disk.
      await this.#onDisk(() => handle.sync());
      return size;
    } finally {
      await this.#onDisk(() => handle.close());
    }
  }

  /** The row of a file is written next, and must not outlive its name. */
  async #settleNames(): Promise<void> {
    const folder = await open(this.#folder, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async #namesIn(wanted: (name: string) => boolean): Promise<string[]> {
    return (await this.#onDisk(() => readdir(this.#folder))).filter(wanted);
  }

  #path(name: string): string {
    return join(this.#folder, checkedFileName(name, this.#names));
  }

  /** A full or missing disk is reported with its reason, but without the path, which clients must not see. */
  async #onDisk<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await withTimeout(work(), this.#diskMs, this.#sources.clock, hangs);
    } catch (cause) {
      const code = errorCode(cause) ?? "unknown reason";
      if (code === "ENOSPC" || code === "EDQUOT") {
        throw new GatewayError("overloaded", "The file store has no space left on its disk.", { cause });
      }
      throw new GatewayError("internal", `The folder of the file store cannot be used: ${code}.`, { cause });
    }
  }
}

const hangs = () => Object.assign(new Error("the disk does not respond"), { code: "ETIMEDOUT" });

async function writeWhole(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await handle.write(chunk, written, chunk.length - written)).bytesWritten;
  }
}
