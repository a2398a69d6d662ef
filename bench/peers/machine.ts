import { readFileSync, statfsSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'

const ours = ['pg', 'pg-boss', 'graphile-worker', '@dbos-inc/dbos-sdk'] as const

/** What the figures were taken on, a fact a line. */
export function describeMachine(): string[] {
  const processors = cpus()
  const disk = statfsSync(process.env.BENCH_DIR ?? process.cwd())
  const kinds: Record<number, string> = {
    61267: 'ext4',
    1481003842: 'xfs',
    2435016766: 'btrfs',
    16914836: 'tmpfs',
  }
  return [
    `${processors.length} x ${processors[0]?.model.trim()}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, ${kinds[disk.type] ?? 'another file system'}, ${process.platform} ${release()}`,
    `client, sink and PostgreSQL on the same machine; Node ${process.versions.node}`,
    ours.map((name) => `${name} ${versionOf(name)}`).join(', '),
  ]
}

function versionOf(name: string): string {
  const file = new URL(`node_modules/${name}/package.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
