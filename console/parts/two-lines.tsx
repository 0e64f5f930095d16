import type { ComponentChildren } from "preact";

/** A name, and below it what it belongs to. Both are cut at the end; the title has them in full. */
export const TwoLines = ({ of, below, title }: { of: ComponentChildren; below: ComponentChildren; title: string }) => (
  <div class="two-lines" title={title}>
    {of}
    <small>{below}</small>
  </div>
);
