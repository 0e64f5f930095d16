import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { retryWords, useRetry } from "../connection/retry.ts";
import { hasMoved } from "../state/router.ts";
import { Icon, type IconName } from "./icon.tsx";

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
  const seconds = useRetry(error, retry);
  return (
    <div class="problem">
      <p role="alert">{error.message}</p>
      {seconds !== undefined && <p class="small">{retryWords(seconds)}</p>}
      {retry && (
        <button type="button" onClick={retry}>
          {seconds === undefined ? "Try again" : "Try now"}
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

/** Grey rows. The style shows them after 150 ms, so that fast answers do not flicker. */
export const Waiting = ({ rows = 6 }: { rows?: number }) => (
  <div class="waiting" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, row) => (
      <span key={row} />
    ))}
  </div>
);

interface CopyButtonProps {
  /** A function is called when the button is pressed. */
  text: string | (() => string);
  label?: string;
  icon?: IconName;
}

export function CopyButton({ text, label = "Copy", icon = "copy" }: CopyButtonProps) {
  const [copied, setCopied] = useState<boolean | undefined>(undefined);
  const copy = async () => {
    const isCopied = await navigator.clipboard.writeText(typeof text === "string" ? text : text()).then(
      () => true,
      () => false,
    );
    setCopied(isCopied);
    setTimeout(() => setCopied(undefined), 1_500);
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      <Icon name={icon} size={15} />
      <span aria-live="polite">{copied === undefined ? label : copied ? "Copied" : "Not allowed by the browser"}</span>
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
