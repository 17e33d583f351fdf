// The theme of VitePress without its web font, and with the decoder, which only a browser has.
import DefaultTheme from "vitepress/theme-without-fonts";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp() {
    if (!import.meta.env.SSR) import("../../decoder/index.ts");
  },
};
