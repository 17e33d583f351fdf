import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const miniflare = {
  compatibilityDate: "2026-11-01",
  durableObjects: { FRAZIL: { className: "FrazilLeases", useSQLite: true } },
};

export default defineConfig({ plugins: [cloudflareTest({ main: "./src/index.ts", miniflare })] });
