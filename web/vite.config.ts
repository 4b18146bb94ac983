import { defineConfig } from "vite";

// Three files of fixed names, which src/dash/dash_page.cpp takes into the program.
export default defineConfig({
  base: "/",
  build: {
    outDir: "dist",
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: "dash.js",
        assetFileNames: "dash.[ext]",
        inlineDynamicImports: true,
      },
    },
  },
});
