import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import "./contrast.css";

/** The default theme with system fonts. */
export default { extends: DefaultTheme } satisfies Theme;
