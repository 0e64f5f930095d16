import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { hasMoved } from "../state/router.ts";
import { Icon } from "./icon.tsx";

/** The title and tools of a page. */
export function PageHead({ title, children }: { title: string; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // After a link is followed, keyboard and screen reader users start at the heading.
    if (hasMoved()) heading.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    document.title = `${title} · Trivium`;
  }, [title]);
  return (
    <header class="page-head">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <div class="page-tools">{children}</div>
    </header>
  );
}

/** A status shown by text and shape, not only by colour. */
export const State = ({ kind, children }: { kind: "good" | "bad" | "warn" | "idle"; children: ComponentChildren }) => (
  <span class={`state ${kind}`}>{children}</span>
);

const outcomeKind = (outcome: string): "good" | "bad" | "warn" =>
  outcome === "ok" ? "good" : outcome === "client_gone" ? "warn" : "bad";

/** Turns `rate_limited` into "rate limited". */
export const words = (name: string): string => (name === "ok" ? "OK" : name.replaceAll("_", " "));

export const Outcome = ({ outcome }: { outcome: string }) => (
  <State kind={outcomeKind(outcome)}>{words(outcome)}</State>
);

export function Problem({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{error.message}</p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** An empty state: what will appear here and how to get it. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <h2>{title}</h2>
    {children}
  </div>
);

export const Waiting = ({ rows = 6 }: { rows?: number }) => (
  <div class="waiting" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, row) => (
      <span key={row} />
    ))}
  </div>
);

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text).catch(() => undefined);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      <Icon name="copy" size={15} />
      <span aria-live="polite">{copied ? "Copied" : label}</span>
    </button>
  );
}

/** A choice between a few options. */
export function Choice<Value extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly { value: Value; name: string }[];
  value: Value | undefined;
  onChange: (value: Value) => void;
}) {
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.name}
        </button>
      ))}
    </fieldset>
  );
}

export const Code = ({ text }: { text: string }) => (
  <div class="code">
    <CopyButton text={text} />
    <pre tabIndex={0}>{text}</pre>
  </div>
);
