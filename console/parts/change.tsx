import { percent } from "../format/numbers.ts";
import { Icon } from "./icon.tsx";

interface ChangeProps {
  now: number | null;
  before: number | null;
  /** Whether more is worse, as for failures; absent if it is neither. */
  more?: "worse" | "better";
}

/** Large changes as a factor. Beyond a hundred, the exact factor says only that there was little before. */
const sizeOf = (share: number, words: () => string): string =>
  share >= 99 ? "> 100 ×" : share >= 10 ? `${Math.round(share + 1)} ×` : words();

/** The change of a figure against the period before, by direction and size. A dash if there is nothing to compare with. */
export function Change({ now, before, more }: ChangeProps) {
  if (now === null || before === null || before === 0) return <span class="change muted">–</span>;
  const share = (now - before) / before;
  if (Math.abs(share) < 0.005) return <span class="change muted">no change</span>;
  const isWorse = more !== undefined && (more === "worse") === share > 0;
  // Small changes of a busy gateway are noise, and are not coloured.
  const tone = more === undefined || Math.abs(share) < 0.1 ? "muted" : isWorse ? "worse" : "better";
  return (
    <span class={`change ${tone}`}>
      <Icon name={share > 0 ? "up" : "down"} size={12} />
      <span class="unseen">{share > 0 ? "up" : "down"}</span>
      {sizeOf(share, () => percent(Math.abs(now - before), before))}
    </span>
  );
}
