// Builds the console into packages/counterfoil/dist/console, or where it is told: `npm ci` does it, and so does the
// package's build.
// Plain JavaScript, as it runs on whatever Node installs the checkout.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const from = join(root, 'console')
const [, , to = join(root, 'packages/counterfoil/dist/console')] = process.argv

const esbuild = await import('esbuild').catch(() => null)
if (esbuild === null) {
  console.error('The console is not built: esbuild is not installed. The server works without it.')
} else {
  rmSync(to, { recursive: true, force: true })
  const { outputs } = (
    await esbuild.build({
      entryPoints: [join(from, 'src/main.tsx'), join(from, 'style/main.css')],
      outdir: to,
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      assetNames: '[name]-[hash]',
      publicPath: '/console/assets',
      bundle: true,
      splitting: true,
      format: 'esm',
      target: ['es2023', 'chrome123', 'firefox121', 'safari17.5'],
      minify: true,
      metafile: true,
      jsx: 'automatic',
      jsxImportSource: 'preact',
      loader: { '.woff2': 'file' },
      legalComments: 'none',
      logLevel: 'warning',
    })
  ).metafile
  const built = (pattern) =>
    `/console/assets/${Object.keys(outputs)
      .map((path) => basename(path))
      .find((name) => pattern.test(name))}`
  const page = readFileSync(join(from, 'index.html'), 'utf8')
    .replace('%SCRIPT%', built(/^main-.*\.js$/))
    .replace('%STYLE%', built(/^main-.*\.css$/))
    .replace('%ICON%', '/console/assets/icon.svg')
  mkdirSync(to, { recursive: true })
  writeFileSync(join(to, 'index.html'), page)
  copyFileSync(join(from, 'icon.svg'), join(to, 'icon.svg'))
  copyFileSync(join(root, 'node_modules/@fontsource/ibm-plex-sans/LICENSE'), join(to, 'font-license.txt'))
}
