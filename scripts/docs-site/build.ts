/** Builds docs/ and the API reference into a static site. */
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build as bundle } from 'esbuild'
import { entryPage, publicEntries } from './api-reference.ts'
import { brokenLinks, targetOf } from './links.ts'
import { type Rendered, render } from './markdown.ts'
import { addressOf, type Section, sectionsOf } from './navigation.ts'
import { type NavigationGroup, page } from './page.ts'
import { searchIndex } from './search-index.ts'

export const root = join(import.meta.dirname, '../..')
const docs = join(root, 'docs')

/** A page of the site before it has its frame. */
export interface SitePage {
  /** The Markdown file, relative to docs/; of a page made of code, where it would lie. */
  readonly file: string
  /** Where it lies in the site. */
  readonly address: string
  readonly rendered: Rendered
}

/**
 * @param to a folder; what is in it goes
 * @param code the package's public names
 * @returns every page
 * @throws Error that names each link which leads nowhere
 */
export async function buildSite(to: string, code = publicEntries()): Promise<readonly SitePage[]> {
  const sections = sectionsOf(globSync('**/*.md', { cwd: docs }).sort())
  const written = sections.flatMap(({ pages }) => pages)
  const entries = code.map((entry) => ({
    file: `api/${entry.specifier.replaceAll('/', '-')}.md`,
    markdown: entryPage(entry),
  }))
  const copied = new Set<string>()
  const pages = [
    ...written.map((file) => ({ file, markdown: readFileSync(join(docs, file), 'utf8') })),
    ...entries,
  ].map(({ file, markdown }): SitePage => {
    const rendered = render(markdown, (href) => {
      if (/^[a-z]+:/.test(href) || href.startsWith('#')) return href
      const [path = '', anchor] = href.split('#')
      const target = targetOf(file, path)
      const isPage = written.includes(target) || target.startsWith('api/')
      // A file that is no page is copied, so that its link holds.
      if (!isPage) copied.add(target)
      const address = isPage ? addressOf(target) : fileAddress(target)
      return relative(dirname(addressOf(file)), address) + (anchor === undefined ? '' : `#${anchor}`)
    })
    return { file, address: addressOf(file), rendered }
  })
  const broken = brokenLinks(pages, docs)
  if (broken.length > 0) throw new Error(`Links that lead nowhere:\n${broken.join('\n')}`)

  rmSync(to, { recursive: true, force: true })
  const navigation = navigationOf(sections, pages)
  for (const { address, rendered } of pages) {
    mkdirSync(dirname(join(to, address)), { recursive: true })
    writeFileSync(join(to, address), page({ address, navigation, ...rendered }))
  }
  for (const file of copied) {
    mkdirSync(dirname(join(to, fileAddress(file))), { recursive: true })
    copyFileSync(join(docs, file), join(to, fileAddress(file)))
  }
  copyFileSync(join(root, 'console/icon.svg'), join(to, 'icon.svg'))
  copyFileSync(join(root, 'node_modules/@fontsource/ibm-plex-sans/LICENSE'), join(to, 'font-license.txt'))
  writeFileSync(join(to, 'search-index.js'), searchIndex(pages))
  await bundle({
    entryPoints: [join(import.meta.dirname, 'search.ts'), join(import.meta.dirname, 'style.css')],
    outdir: to,
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['es2022', 'chrome123', 'firefox121', 'safari17.5'],
    loader: { '.woff2': 'file' },
    assetNames: 'fonts/[name]',
    logLevel: 'warning',
  })
  return pages
}

function navigationOf(sections: readonly Section[], pages: readonly SitePage[]): NavigationGroup[] {
  const titled = (files: readonly string[]) =>
    files.map((file) => {
      const { address, rendered } = pages.find((candidate) => candidate.file === file)!
      return { address, title: file === 'README.md' ? 'Contents' : rendered.title }
    })
  const code = pages.filter(({ file }) => file.startsWith('api/')).map(({ file }) => file)
  const groups = sections.map(({ title, pages: files }) => ({ title, pages: titled(files) }))
  groups.splice(-1, 0, { title: 'Names in code', pages: titled(code) })
  return groups
}

/** `x.svg` stays where it is; `../packages/…/alerts.yml` → `files/packages/…/alerts.yml`. */
function fileAddress(file: string): string {
  return file.startsWith('../') ? join('files', file.slice('../'.length)) : file
}
