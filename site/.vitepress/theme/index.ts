import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import "./contrast.css";

/** The usual theme with the fonts of the reader's machine. */
export default { extends: DefaultTheme } satisfies Theme;
