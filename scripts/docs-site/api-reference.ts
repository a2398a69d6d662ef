/** The public names of the package with their docstrings, read from the declarations that the compiler emits. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse } from '@babel/parser'
import * as catalogue from '../../packages/counterfoil/src/recipients/catalogue/index.ts'

const root = join(import.meta.dirname, '../..')
const packageFolder = join(root, 'packages/counterfoil')

export interface PublicName {
  readonly name: string
  /** What stands in the declarations, comments of members included. */
  readonly declaration: string
  /** The docstring without its stars; empty when there is none. */
  readonly docstring: string
  /** Where it is declared, from `src/`. */
  readonly file: string
}

export interface Entry {
  /** As one imports it: `counterfoil/postgres`. */
  readonly specifier: string
  readonly names: readonly PublicName[]
}

/** @throws Error when the package's sources do not compile, or an entry names what is not there */
export function publicEntries(): Entry[] {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-api-'))
  try {
    const { status, stdout } = spawnSync(
      process.execPath,
      [
        join(root, 'node_modules/typescript/bin/tsc'),
        ...['-p', join(packageFolder, 'tsconfig.build.json')],
        ...['--emitDeclarationOnly', '--declarationMap', 'false', '--outDir', folder],
      ],
      { encoding: 'utf8' },
    )
    if (status !== 0) throw new Error(`The declarations cannot be made:\n${stdout}`)
    const { exports } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
      exports: Record<string, string | { types?: string }>
    }
    const modules = new Modules(folder)
    return Object.entries(exports).flatMap(([path, target]) => {
      if (typeof target === 'string' || target.types === undefined) return []
      const file = target.types.replace('./dist/', '')
      const names = modules.exportsOf(file).sort((a, b) => a.name.localeCompare(b.name))
      return [
        { specifier: path.replace('.', 'counterfoil'), names: names.map((name) => described(name, names)) },
      ]
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What goes without a docstring: a ready contract, which tells of itself, and the options of one function. */
function described(name: PublicName, names: readonly PublicName[]): PublicName {
  if (name.docstring !== '') return name
  const ready = (catalogue as Readonly<Record<string, unknown>>)[name.name]
  if (name.file.startsWith('recipients/catalogue/') && isReady(ready))
    return { ...name, docstring: `The contract of ${ready.vendor}. Covers ${ready.about.covers}.` }
  const taker = names.find((other) => `${other.name.toLowerCase()}options` === name.name.toLowerCase())
  return taker === undefined ? name : { ...name, docstring: `What \`${taker.name}\` takes.` }
}

function isReady(value: unknown): value is catalogue.CatalogueEntry {
  return typeof value === 'object' && value !== null && 'vendor' in value
}

/** Declaration files, each parsed once. */
class Modules {
  readonly #folder: string
  readonly #parsed = new Map<string, { text: string; body: any[] }>()

  constructor(folder: string) {
    this.#folder = folder
  }

  exportsOf(file: string): PublicName[] {
    return this.#read(file).body.flatMap((statement) => {
      if (statement.type === 'ExportAllDeclaration')
        return this.exportsOf(this.#resolve(file, statement.source.value))
      if (statement.type !== 'ExportNamedDeclaration') return []
      if (statement.declaration !== null && statement.declaration !== undefined)
        return namesOf(statement.declaration).map((name) => this.#declared(file, name, name))
      return statement.specifiers.map((specifier: any) => {
        const exported: string = specifier.exported.name ?? specifier.exported.value
        const local: string = specifier.local?.name ?? exported
        const from = statement.source?.value
        return from === undefined
          ? this.#declared(file, local, exported)
          : this.#find(this.#resolve(file, from), local, exported)
      })
    })
  }

  /** What `file` exports as `name`. */
  #find(file: string, name: string, as: string): PublicName {
    const found = this.exportsOf(file).find((candidate) => candidate.name === name)
    if (found === undefined) throw new Error(`${file} exports no '${name}'.`)
    return { ...found, name: as }
  }

  /** What `file` declares or imports as `name`. */
  #declared(file: string, name: string, as: string): PublicName {
    const { text, body } = this.#read(file)
    // Of overloads all count, and the docstring is the first one's.
    const statements = body.filter((statement) => namesOf(statement.declaration ?? statement).includes(name))
    if (statements.length > 0) {
      const declaration = statements
        .map(({ start, end }) => text.slice(start, end))
        .join('\n')
        .replaceAll(/^(export )?(declare )?/gm, (prefix, _export, _declare, at) =>
          at === 0 || prefix !== '' ? '' : prefix,
        )
      const comment = statements
        .flatMap(({ leadingComments }) => leadingComments?.slice(-1) ?? [])
        .find(({ value }: any) => value.startsWith('*'))
      return {
        name: as,
        declaration,
        docstring: comment === undefined ? '' : unstarred(comment.value),
        file: file.replace(/\.d\.ts$/, '.ts'),
      }
    }
    for (const statement of body.filter(({ type }) => type === 'ImportDeclaration')) {
      const specifier = statement.specifiers.find((candidate: any) => candidate.local.name === name)
      if (specifier !== undefined)
        return this.#find(this.#resolve(file, statement.source.value), specifier.imported.name, as)
    }
    throw new Error(`${file} declares no '${name}'.`)
  }

  #read(file: string): { text: string; body: any[] } {
    const known = this.#parsed.get(file)
    if (known !== undefined) return known
    const text = readFileSync(join(this.#folder, file), 'utf8')
    const { program } = parse(text, { sourceType: 'module', plugins: [['typescript', { dts: true }]] })
    const module = { text, body: program.body }
    this.#parsed.set(file, module)
    return module
  }

  #resolve(from: string, specifier: string): string {
    const file = join(dirname(from), specifier).replace(/(\.d)?\.(ts|js)$/, '.d.ts')
    if (!existsSync(join(this.#folder, file))) throw new Error(`${from} names '${specifier}'.`)
    return file
  }
}

function namesOf(declaration: any): string[] {
  if (declaration?.type === 'VariableDeclaration')
    return declaration.declarations.map(({ id }: any) => id.name)
  return declaration?.id?.name === undefined ? [] : [declaration.id.name]
}

function unstarred(comment: string): string {
  return comment
    .slice(1)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim()
}

/** A page of Markdown for one entry. */
export function entryPage({ specifier, names }: Entry): string {
  return [
    `# ${specifier}`,
    '',
    `What \`${specifier}\` exports, from the docstrings of the code.`,
    '',
    ...names.flatMap(({ name, declaration, docstring, file }) => [
      `## ${name}`,
      '',
      docstringAsMarkdown(docstring),
      '',
      '```ts',
      declaration,
      '```',
      '',
      `Declared in \`src/${file}\`.`,
      '',
    ]),
  ].join('\n')
}

function docstringAsMarkdown(docstring: string): string {
  return docstring
    .replaceAll(/\{@link ([^}]+)\}/g, '`$1`')
    .split(/^(?=@\w+)/m)
    .map((part) => {
      const [, tag, rest = ''] = /^@(\w+)\s*([\s\S]*)$/.exec(part) ?? []
      if (tag === undefined) return part.trim()
      if (tag === 'example')
        return `Example:\n\n\`\`\`ts\n${rest.replaceAll(/```\w*\n?/g, '').trim()}\n\`\`\``
      if (tag === 'param') return `- ${rest.trim().replace(/^(\S+)/, '`$1`:')}`
      return `- ${tag}: ${rest.trim()}`
    })
    .join('\n\n')
}
