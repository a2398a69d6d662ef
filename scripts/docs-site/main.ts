/** `npm run docs:site`: builds the docs into dist/docs. */
import { join } from 'node:path'
import { buildSite, root } from './build.ts'

const to = join(root, 'dist/docs')
const pages = await buildSite(to)
console.log(`${pages.length} pages in ${to}: open index.html`)
