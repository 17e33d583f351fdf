// The theme of VitePress without its web font, and with the decoder, which only a browser has.
import DefaultTheme from "vitepress/theme-without-fonts";
import "./style.css";

/** The weight of a page: of two with the same content, the one for newcomers comes first. */
const WEIGHTS = [
  [/\/start\.html/, 1.5],
  [/\/reference\/api\//, 0.7],
  [/\/internals\//, 0.3],
];
const boostDocument = (id) => WEIGHTS.find(([pages]) => pages.test(id))?.[1] ?? 1;

export default {
  extends: DefaultTheme,
  enhanceApp({ siteData }) {
    // In the configuration, VitePress would convert it to text and evaluate that, which `default-src 'self'` forbids.
    const { themeConfig } = siteData.value;
    const { miniSearch } = themeConfig.search.options;
    const searchOptions = { ...miniSearch.searchOptions, boostDocument };
    const options = { ...themeConfig.search.options, miniSearch: { ...miniSearch, searchOptions } };
    siteData.value = { ...siteData.value, themeConfig: { ...themeConfig, search: { ...themeConfig.search, options } } };
    if (!import.meta.env.SSR) import("../../decoder/index.ts");
  },
};
