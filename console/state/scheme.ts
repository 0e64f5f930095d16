import { signal } from "@preact/signals";

export const SCHEMES = ["system", "light", "dark"] as const;
export type Scheme = (typeof SCHEMES)[number];

const KEY = "trivium.scheme";

const stored = (): Scheme => {
  const found = typeof localStorage === "undefined" ? null : localStorage.getItem(KEY);
  return SCHEMES.find((known) => known === found) ?? "system";
};

/** The chosen colour scheme; `system` follows the operating system. */
export const scheme = signal<Scheme>(stored());

/** Changes whenever the colours change, so that charts redraw. */
export const drawnScheme = signal(0);

export function applyScheme(): void {
  scheme.subscribe((chosen) => {
    document.documentElement.dataset["scheme"] = chosen;
    if (chosen === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, chosen);
    drawnScheme.value += 1;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    drawnScheme.value += 1;
  });
}
