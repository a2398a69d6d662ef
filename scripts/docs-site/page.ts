/** The frame around a page: navigation, search and what is on it. */
import type { Heading } from './markdown.ts'
import { escaped } from './markdown.ts'

export interface NavigationGroup {
  readonly title: string
  readonly pages: readonly { readonly title: string; readonly address: string }[]
}

export interface Frame {
  readonly address: string
  readonly title: string
  readonly html: string
  readonly headings: readonly Heading[]
  readonly navigation: readonly NavigationGroup[]
}

/** A whole page. Every address in it is relative, so the site works in any folder and from a disk. */
export function page({ address, title, html, headings, navigation }: Frame): string {
  const up = '../'.repeat(address.split('/').length - 1)
  const flat = navigation.flatMap(({ pages }) => pages)
  const here = flat.findIndex((entry) => entry.address === address)
  const neighbour = (at: number, rel: string, word: string) => {
    const entry = flat[at]
    if (entry === undefined || here < 0) return '<span></span>'
    return `<a rel="${rel}" href="${up}${entry.address}"><small>${word}</small>${escaped(entry.title)}</a>`
  }
  const groups = navigation
    .map(
      (group) =>
        `<section><h2>${group.title}</h2><ul>${group.pages
          .map(
            (entry) =>
              `<li><a href="${up}${entry.address}"${entry.address === address ? ' aria-current="page"' : ''}>${escaped(entry.title)}</a></li>`,
          )
          .join('')}</ul></section>`,
    )
    .join('\n')
  const parts = headings.filter(({ level }) => level === 2)
  const onThisPage =
    parts.length < 3
      ? ''
      : `<nav class="parts" aria-label="On this page"><h2>On this page</h2><ul>${parts
          .map(({ id, text }) => `<li><a href="#${id}">${escaped(text)}</a></li>`)
          .join('')}</ul></nav>`
  return `<!doctype html>
<html lang="en" data-root="${up}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Counterfoil</title>
<link rel="icon" href="${up}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up}style.css">
<script defer src="${up}search.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header class="bar">
<a class="name" href="${up}index.html"><img src="${up}icon.svg" alt="" width="24" height="24">Counterfoil</a>
<form role="search" class="search"><input type="search" id="search" placeholder="Search" aria-label="Search the docs" autocomplete="off" aria-controls="found" aria-describedby="found-count"><p id="found-count" class="hidden" role="status"></p><ul id="found" hidden></ul></form>
</header>
<div class="frame">
<details class="menu"><summary>Pages</summary><nav aria-label="Pages, folded">${groups}</nav></details>
<nav class="side" aria-label="Pages">${groups}</nav>
<main id="content" tabindex="-1">
<article>
${html}</article>
<nav class="next" aria-label="Next and previous">${neighbour(here - 1, 'prev', 'Before')}${neighbour(here + 1, 'next', 'Next')}</nav>
</main>
${onThisPage}
</div>
</body>
</html>
`
}
