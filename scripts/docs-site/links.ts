/** Links between pages, checked against what is there. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Rendered } from './markdown.ts'

interface Linked {
  readonly file: string
  readonly rendered: Pick<Rendered, 'links' | 'ids'>
}

/** What a link in `file` names, by its place from docs/: `../docs/x.md` in a page beside docs/ is `x.md`. */
export function targetOf(file: string, path: string): string {
  const docs = resolve('/root/docs')
  return relative(docs, resolve(docs, dirname(file), path))
}

/**
 * @param folder where `file` is relative to
 * @returns `page: link`, for each link whose file or anchor is not there
 */
export function brokenLinks(pages: readonly Linked[], folder: string): string[] {
  const byFile = new Map(pages.map((page) => [page.file, page.rendered]))
  return pages.flatMap(({ file, rendered }) =>
    rendered.links
      .filter((href) => {
        if (/^[a-z]+:/.test(href)) return false
        const [path = '', anchor] = href.split('#')
        const target = path === '' ? file : targetOf(file, path)
        const page = byFile.get(target)
        if (page === undefined)
          return !(existsSync(join(folder, target)) && statSync(join(folder, target)).isFile())
        return anchor !== undefined && !page.ids.has(anchor)
      })
      .map((href) => `${file}: ${href}`),
  )
}
