/** Search in the browser. The index is loaded when somebody wants to search, and nothing is sent anywhere. */
import MiniSearch from 'minisearch'
import { type Found, indexOptions } from './search-index.ts'

// The types of a browser are not among those of the workspace.
const { document, location } = globalThis as any
const root: string = document.documentElement.dataset.root
const input = document.getElementById('search')
const list = document.getElementById('found')
const count = document.getElementById('found-count')

let loading: Promise<MiniSearch> | undefined
const load = () => {
  loading ??= new Promise<MiniSearch>((resolve, reject) => {
    const script = document.createElement('script')
    script.src = `${root}search-index.js`
    script.onload = () => resolve(MiniSearch.loadJSON((globalThis as any).counterfoilSearch, indexOptions))
    script.onerror = () => reject(new Error('The search index cannot be read.'))
    document.head.append(script)
  })
  return loading
}

function show(found: readonly Found[], asked: string): void {
  list.replaceChildren(
    ...found.map(({ id, page, heading, says }) => {
      const [link, title, where, text] = ['a', 'b', 'small', 'span'].map((tag) => document.createElement(tag))
      link.href = root + id
      title.textContent = heading
      where.textContent = heading === page ? '' : page
      text.textContent = says
      link.append(title, where, text)
      const entry = document.createElement('li')
      entry.append(link)
      return entry
    }),
  )
  list.hidden = found.length === 0
  count.textContent =
    asked === '' ? '' : found.length === 0 ? 'Nothing was found.' : `${found.length} were found.`
  count.classList.toggle('hidden', asked === '' || found.length > 0)
}

input.addEventListener('focus', load)
input.addEventListener('input', async () => {
  const asked = input.value.trim()
  const index = await load()
  if (input.value.trim() === asked) show(asked === '' ? [] : (index.search(asked).slice(0, 12) as any), asked)
})
input.form.addEventListener('submit', (event: any) => {
  event.preventDefault()
  const first = list.querySelector('a')
  if (first !== null) location.href = first.href
})
document.addEventListener('keydown', (event: any) => {
  const typing = /^(input|textarea)$/i.test(document.activeElement?.tagName ?? '')
  if (event.key === '/' && !typing) {
    event.preventDefault()
    input.focus()
  }
  if (event.key === 'Escape' && typing) {
    input.value = ''
    show([], '')
  }
})
document.addEventListener('click', (event: any) => {
  if (!input.form.contains(event.target)) list.hidden = true
})
