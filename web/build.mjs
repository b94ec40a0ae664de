// Bundles the page into dist: one script and one style sheet, and the hash of what they were made of, which a Go test compares.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

function files(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((e) => (e.isDirectory() ? files(join(folder, e.name)) : [join(folder, e.name)]));
}

const hash = createHash("sha256");
for (const file of ["package-lock.json", ...files("src"), ...files("gen/autoshard"), ...files("gen/buf")]) {
  hash.update(file + "\n");
  hash.update(readFileSync(file));
}

await build({
  entryPoints: { app: "src/main.tsx" },
  outdir: "dist",
  bundle: true,
  minify: true,
  charset: "utf8",
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  loader: { ".css": "css" },
});
copyFileSync("src/index.html", "dist/index.html");
writeFileSync("dist/sources.sha256", hash.digest("hex") + "\n");
