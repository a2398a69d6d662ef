import { debianProgram } from '../../../packages/counterfoil/src/testing/debian-program.ts'
import { Disk, missingMounts } from '../disk.ts'
import { endAll, freeze } from '../freeze.ts'
import type { Kind, Setting, Stage } from '../kind.ts'
import { postgresPlace, sqlitePlace, startServer } from '../places.ts'
import { processesOf, runAgain } from '../postgres.ts'
import { plainStage } from './plain-stage.ts'

export const power: Kind = {
  name: 'power',
  about:
    'power cuts of the machine with the records: what has not reached the device of a loop image is lost',
  unit: 'power cuts',
  stores: ['sqlite', 'postgres'],
  full: 100,
  episode: 25,
  everyMs: [100, 800],
  servers: 2,
  control: 'commits-are-not-synced',
  missing: () =>
    missingMounts() ??
    (debianProgram('mkfs.ext4', 'e2fsprogs') === undefined ? 'it has no mkfs.ext4' : undefined),
  stage: async (setting) =>
    setting.store === 'sqlite' ? await onSqlite(setting) : await onPostgres(setting),
}

/** The servers are on the machine: they die with it. */
async function onSqlite(setting: Setting): Promise<Stage> {
  const disk = new Disk(setting, 96)
  const place = await sqlitePlace(disk.mount)
  disk.sync()
  return await plainStage(
    setting,
    async ({ fleet }) => {
      await Promise.all(fleet.servers.map((server) => server.start()))
      const pids = fleet.servers.flatMap(({ pid }) => pid ?? [])
      await freeze(pids)
      disk.keep()
      await Promise.all(fleet.servers.map((server) => server.stop('SIGKILL')))
      disk.restore()
      for (const server of fleet.servers) void server.start()
      await Promise.any(fleet.servers.map((server) => server.start()))
    },
    { place },
  )
}

/** The database has a machine of its own, and only that goes down. */
async function onPostgres(setting: Setting): Promise<Stage> {
  const disk = new Disk(setting, 400)
  const unsynced = setting.plant === 'commits-are-not-synced'
  const settings: Record<string, string> = unsynced ? { fsync: 'off' } : {}
  const server = await startServer(setting, settings, { under: disk.mount })
  const place = await postgresPlace(() => server)
  disk.sync()
  return await plainStage(
    setting,
    async () => {
      const pids = processesOf(server)
      await freeze(pids)
      disk.keep()
      await endAll(pids)
      disk.restore()
      await runAgain(server)
    },
    { place },
  )
}
