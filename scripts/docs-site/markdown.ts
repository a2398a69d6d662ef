/** One page of Markdown as HTML, with what it links to and what can be linked to in it. */
import { createRequire } from 'node:module'
import { Marked, type Tokens } from 'marked'

// Its types bring those of a browser into the whole workspace.
const require = createRequire(import.meta.url)
const highlight = require('highlight.js/lib/core')
for (const name of ['bash', 'json', 'sql', 'typescript', 'yaml'])
  highlight.registerLanguage(name, require(`highlight.js/lib/languages/${name}`))
const languages: Readonly<Record<string, string>> = { ts: 'typescript', sh: 'bash', yml: 'yaml' }

export interface Heading {
  readonly level: number
  readonly text: string
  readonly id: string
}

/** A part of a page between two headings, as search finds it. */
export interface Passage {
  readonly heading: Heading
  readonly text: string
}

export interface Rendered {
  readonly title: string
  readonly html: string
  readonly headings: readonly Heading[]
  readonly passages: readonly Passage[]
  /** Everything that a link can name in this page. */
  readonly ids: ReadonlySet<string>
  readonly links: readonly string[]
}

/**
 * @param relink what a link of the Markdown becomes in the site
 */
export function render(markdown: string, relink: (href: string) => string): Rendered {
  const headings: Heading[] = []
  const ids = new Set<string>()
  const links: string[] = []
  const idOf = (text: string) => {
    const base = slug(text)
    let id = base
    for (let n = 1; ids.has(id); n++) id = `${base}-${n}`
    ids.add(id)
    return id
  }
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading): string {
        const heading = { level: depth, text: plain(text), id: idOf(plain(text)) }
        headings.push(heading)
        const inner = this.parser.parseInline(tokens)
        const link =
          depth === 1
            ? ''
            : ` <a class="anchor" href="#${heading.id}" aria-label="Link to “${escaped(heading.text)}”">#</a>`
        return `<h${depth} id="${heading.id}">${inner}${link}</h${depth}>\n`
      },
      code({ text, lang }: Tokens.Code): string {
        const language = languages[lang ?? ''] ?? lang ?? ''
        const inner = highlight.getLanguage(language)
          ? highlight.highlight(text, { language }).value
          : escaped(text)
        return `<pre tabindex="0"><code>${inner}</code></pre>\n`
      },
      table(table: Tokens.Table): string {
        const cells = (row: Tokens.TableCell[], tag: 'th' | 'td') =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')
        // A row that begins with a code alone can be linked to by it: errors.html#signature_invalid.
        const rows = table.rows.map((row) => {
          const code = /^`([a-z][a-z_]+)`$/.exec(row[0]?.text ?? '')?.[1]
          const id = code === undefined || ids.has(code) ? '' : ` id="${code}"`
          if (id !== '') ids.add(code!)
          return `<tr${id}>${cells(row, 'td')}</tr>`
        })
        const label = escaped(headings.at(-1)?.text ?? 'Table')
        return (
          `<div class="scroll" role="group" tabindex="0" aria-label="${label}, table"><table>` +
          `<thead><tr>${cells(table.header, 'th').replaceAll('<th></th>', '<td></td>')}</tr></thead>` +
          `<tbody>${rows.join('\n')}</tbody></table></div>\n`
        )
      },
      link({ href, tokens }: Tokens.Link): string {
        links.push(href)
        return `<a href="${escaped(relink(href))}">${this.parser.parseInline(tokens)}</a>`
      },
      image({ href, text }: Tokens.Image): string {
        links.push(href)
        return `<span class="scroll figure" role="group" tabindex="0" aria-label="Drawing"><img src="${escaped(relink(href))}" alt="${escaped(text)}"></span>`
      },
    },
  })
  const html = marked.parse(markdown, { async: false })
  const title = headings[0]?.text ?? ''
  return { title, html, headings, passages: passagesOf(markdown, headings), ids, links }
}

function passagesOf(markdown: string, headings: readonly Heading[]): Passage[] {
  const passages: { heading: Heading; text: string }[] = []
  let next = 0
  for (const token of new Marked({ gfm: true }).lexer(markdown)) {
    if (token.type === 'heading') passages.push({ heading: headings[next++]!, text: '' })
    else if (passages.length > 0) passages.at(-1)!.text += `${plain(token.raw)} `
  }
  return passages
}

/** An id as GitHub makes one of a heading, so that links hold in both places. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-')
}

function plain(markdown: string): string {
  return markdown
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*|]|^-{3,}|-{3,}/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
