/** What is searched: every part of every page, in an index that is built with the site. */
import MiniSearch, { type Options } from 'minisearch'
import type { Rendered } from './markdown.ts'

export interface Found {
  readonly id: string
  readonly page: string
  readonly heading: string
  readonly says: string
}

/** The same for the build, which fills the index, and for the browser, which reads it. */
export const indexOptions: Options = {
  fields: ['heading', 'page', 'text'],
  storeFields: ['page', 'heading', 'says'],
  searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
}

/** @returns a script that hands the index on; a page that lies on a disk may not fetch JSON */
export function searchIndex(pages: readonly { address: string; rendered: Rendered }[]): string {
  const index = new MiniSearch(indexOptions)
  for (const { address, rendered } of pages) {
    for (const { heading, text } of rendered.passages)
      index.add({
        id: heading.level === 1 ? address : `${address}#${heading.id}`,
        page: rendered.title,
        heading: heading.text,
        text,
        says: text.slice(0, 110),
      })
  }
  return `globalThis.counterfoilSearch=${JSON.stringify(JSON.stringify(index))}`
}
