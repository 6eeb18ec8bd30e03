import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vitest/config";

// The server that `npm run dev` passes requests to; `windlass dev` listens here by default.
const server = process.env.WINDLASS_URL ?? "http://127.0.0.1:8787";

export default defineConfig({
  // Relative addresses: the bundle works under any path prefix.
  base: "./",
  plugins: [
    tailwindcss(),
    // The product's server writes this tag itself, with its path prefix.
    {
      name: "base-of-development",
      apply: "serve",
      transformIndexHtml: () => [{ tag: "base", attrs: { href: "/" }, injectTo: "head-prepend" }],
    },
  ],
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
  server: { proxy: { "/api": server, "/docs": server, "/login": server } },
  test: {
    environment: "jsdom",
    setupFiles: ["src/testing/setup.ts"],
    // One worker for each of two cores; jsdom is the slow part of a start.
    maxWorkers: 2,
    testTimeout: 120_000,
  },
});
