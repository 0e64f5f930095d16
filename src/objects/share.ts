import { GatewayError } from "../canon/error.ts";
import type { Storage } from "../storage/storage.ts";
import { type FullShare, shareRoom } from "../storage/tables/objects.ts";

interface Room {
  /** What may still be written, and how much of the rest has no row yet. */
  left: number;
  arriving: number;
  writers: number;
}

/** The content that a project adds. */
export interface Addition {
  project: string;
  /** Its share, unless it has its own. */
  usualBytes: number;
  /** What is known of the size before the content arrives. */
  atLeast?: number;
}

/** Counts content against the share of its project before it is written, for all writers of this process together. */
export class Shares {
  readonly #storage: Storage;
  readonly #rooms = new Map<string, Room>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** `write` calls `take` with the bytes that it is about to write; it throws if the share is used. */
  async within<Result>(
    { project, usualBytes, atLeast = 0 }: Addition,
    write: (take: (bytes: number) => void) => Promise<Result>,
  ): Promise<Result> {
    const { maxBytes, left } = await shareRoom(this.#storage, project, usualBytes);
    const room = this.#rooms.get(project) ?? { left, arriving: 0, writers: 0 };
    room.left = left - room.arriving;
    if (room.left < atLeast) throw shareUsed(project, { maxBytes });
    this.#rooms.set(project, room);
    room.writers += 1;
    let taken = 0;
    const add = (bytes: number) => {
      taken += bytes;
      room.arriving += bytes;
      room.left -= bytes;
    };
    try {
      const result = await write((bytes) => {
        if (room.left < bytes) throw shareUsed(project, { maxBytes });
        add(bytes);
      });
      // A row takes this room from now on.
      room.arriving -= taken;
      return result;
    } catch (thrown) {
      add(-taken);
      throw thrown;
    } finally {
      room.writers -= 1;
      if (room.writers === 0) this.#rooms.delete(project);
    }
  }
}

export const shareUsed = (project: string, { maxBytes }: FullShare): GatewayError =>
  new GatewayError(
    "forbidden",
    `The objects of the project "${project}" take all of its ${Math.round(maxBytes / 1024 ** 2)} MB. Delete some, or ask the operator of this gateway to raise \`objects.project_mb\`, or the \`project_mb\` of the project.`,
    { code: "storage_limit_exceeded" },
  );
