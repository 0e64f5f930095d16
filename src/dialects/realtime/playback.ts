const MS_PER_SECOND = 1000;

/** The sound that the user hears at the moment, as far as one can know without being there. */
export class Playback {
  #playing: { itemId: string; contentIndex: number; startedMs: number; endsMs: number } | undefined;

  /** Sound of an item, which is played after what came before. */
  add({ itemId, contentIndex }: { itemId: string; contentIndex: number }, seconds: number, nowMs: number): void {
    const lengthMs = seconds * MS_PER_SECOND;
    const playing = this.#playing;
    if (playing === undefined || playing.endsMs < nowMs || playing.itemId !== itemId) {
      const startedMs = Math.max(nowMs, playing?.endsMs ?? nowMs);
      this.#playing = { itemId, contentIndex, startedMs, endsMs: startedMs + lengthMs };
    } else playing.endsMs += lengthMs;
  }

  /** Stops. Returns the item that was being played and how much of it was heard; undefined if none was. */
  stop(nowMs: number): { itemId: string; contentIndex: number; heardMs: number } | undefined {
    const playing = this.#playing;
    this.#playing = undefined;
    if (playing === undefined || playing.endsMs <= nowMs) return undefined;
    const { itemId, contentIndex, startedMs } = playing;
    return { itemId, contentIndex, heardMs: Math.max(0, Math.floor(nowMs - startedMs)) };
  }
}
